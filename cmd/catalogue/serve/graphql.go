package serve

import (
	"errors"
	"fmt"
	"os"

	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
)

// graphQLFlags configure the GraphQL endpoint.
type graphQLFlags struct {
	Introspection    string     `env:"CATALOGUE_INTROSPECTION" enum:",true,false,token" default:"" placeholder:"WHO" help:"Allow introspection, and suggest names in errors: for every caller (true), for none (false), or for callers with a valid token (token) (default: true for catalogue.db, else false)."`
	TrustedDocuments string     `env:"CATALOGUE_TRUSTED_DOCUMENTS" placeholder:"FILE" help:"Run only the GraphQL documents of this manifest of Relay, GraphQL Code Generator or Apollo."`
	Limits           limitFlags `embed:"" prefix:"max-"`
}

// limitFlags are graphqlhttp.Limits.
type limitFlags struct {
	Body          int `env:"CATALOGUE_MAX_BODY" default:"1048576" placeholder:"BYTES" help:"Maximum bytes of a GraphQL request (default: ${default})."`
	Tokens        int `env:"CATALOGUE_MAX_TOKENS" default:"2000" placeholder:"N" help:"Maximum tokens of a GraphQL document (default: ${default})."`
	Depth         int `env:"CATALOGUE_MAX_DEPTH" default:"12" placeholder:"N" help:"Maximum levels of fields in an operation (default: ${default})."`
	Fields        int `env:"CATALOGUE_MAX_FIELDS" default:"500" placeholder:"N" help:"Maximum fields of an operation, with fragments expanded (default: ${default})."`
	RootFields    int `env:"CATALOGUE_MAX_ROOT_FIELDS" default:"20" placeholder:"N" help:"Maximum root fields of an operation (default: ${default})."`
	Aliases       int `env:"CATALOGUE_MAX_ALIASES" default:"15" placeholder:"N" help:"Maximum aliases of one field in one selection (default: ${default})."`
	Directives    int `env:"CATALOGUE_MAX_DIRECTIVES" default:"20" placeholder:"N" help:"Maximum directives in a document (default: ${default})."`
	VariableDepth int `env:"CATALOGUE_MAX_VARIABLE_DEPTH" default:"20" placeholder:"N" help:"Maximum levels of lists and objects in a variable (default: ${default})."`
	Values        int `env:"CATALOGUE_MAX_VALUES" default:"100000" placeholder:"N" help:"Maximum values in the variables of a request (default: ${default})."`
	Cost          int `env:"CATALOGUE_MAX_COST" default:"50000" placeholder:"N" help:"Maximum price of an operation, about one unit for each row that it reads (default: ${default})."`
	Errors        int `env:"CATALOGUE_MAX_ERRORS" default:"10" placeholder:"N" help:"Maximum errors in a response (default: ${default})."`
}

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
