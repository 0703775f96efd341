package serve

import (
	"errors"
	"fmt"
	"os"

	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
)

// graphQLFlags say what GraphQL answers, and to how much at once.
type graphQLFlags struct {
	Introspection    string     `env:"CATALOGUE_INTROSPECTION" enum:",true,false,token" default:"" placeholder:"WHO" help:"Tell the GraphQL schema, and suggest its names in errors, to every client (true), to none (false), or to clients with a valid token (token) (default: true for catalogue.db, else false)."`
	TrustedDocuments string     `env:"CATALOGUE_TRUSTED_DOCUMENTS" placeholder:"FILE" help:"Answer only the GraphQL documents of this file: a manifest of Relay, GraphQL Code Generator or Apollo."`
	Limits           limitFlags `embed:"" prefix:"max-"`
}

// limitFlags are graphqlhttp.Limits.
type limitFlags struct {
	Body          int `env:"CATALOGUE_MAX_BODY" default:"1048576" placeholder:"BYTES" help:"Bytes of a GraphQL request (default: ${default})."`
	Tokens        int `env:"CATALOGUE_MAX_TOKENS" default:"2000" placeholder:"N" help:"Tokens of a GraphQL document (default: ${default})."`
	Depth         int `env:"CATALOGUE_MAX_DEPTH" default:"12" placeholder:"N" help:"Levels of fields in an operation (default: ${default})."`
	Fields        int `env:"CATALOGUE_MAX_FIELDS" default:"500" placeholder:"N" help:"Fields of an operation, its fragments spread (default: ${default})."`
	RootFields    int `env:"CATALOGUE_MAX_ROOT_FIELDS" default:"20" placeholder:"N" help:"Fields on the first level of an operation (default: ${default})."`
	Aliases       int `env:"CATALOGUE_MAX_ALIASES" default:"15" placeholder:"N" help:"Aliases of one field in one selection (default: ${default})."`
	Directives    int `env:"CATALOGUE_MAX_DIRECTIVES" default:"20" placeholder:"N" help:"Directives in a document (default: ${default})."`
	VariableDepth int `env:"CATALOGUE_MAX_VARIABLE_DEPTH" default:"20" placeholder:"N" help:"Levels of lists and objects in a variable (default: ${default})."`
	Values        int `env:"CATALOGUE_MAX_VALUES" default:"100000" placeholder:"N" help:"Values in the variables of a request (default: ${default})."`
	Cost          int `env:"CATALOGUE_MAX_COST" default:"50000" placeholder:"N" help:"Cost of an operation, about one for each row that it reads (default: ${default})."`
	Errors        int `env:"CATALOGUE_MAX_ERRORS" default:"10" placeholder:"N" help:"Errors that an answer tells (default: ${default})."`
}

// configure puts the settings into cfg.
func (f graphQLFlags) configure(cfg *server.Config) error {
	l := f.Limits
	if min(l.Body, l.Tokens, l.Depth, l.Fields, l.RootFields, l.Aliases, l.Directives, l.VariableDepth, l.Values, l.Cost, l.Errors) < 1 {
		return errors.New("each of the --max- flags must be at least 1")
	}
	cfg.GraphQL.Limits = graphqlhttp.Limits(l)
	cfg.GraphQL.Introspection = map[string]graphqlhttp.Introspection{
		"true": graphqlhttp.IntrospectionOn, "token": graphqlhttp.IntrospectionTokens, "false": graphqlhttp.IntrospectionOff,
	}[f.Introspection]
	if f.TrustedDocuments == "" {
		return nil
	}
	manifest, err := os.ReadFile(f.TrustedDocuments)
	if err == nil {
		cfg.GraphQL.Trusted, err = graphqlhttp.ParseTrustedDocuments(manifest)
	}
	if err != nil {
		return fmt.Errorf("trusted documents %s: %w", f.TrustedDocuments, err)
	}
	return nil
}
