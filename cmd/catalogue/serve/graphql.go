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
	Body  int `env:"CATALOGUE_MAX_BODY" default:"1048576" placeholder:"BYTES" help:"Maximum bytes of a GraphQL request (default: ${default})."`
	Depth int `env:"CATALOGUE_MAX_DEPTH" default:"12" placeholder:"N" help:"Maximum levels of fields in an operation (default: ${default})."`
	Cost  int `env:"CATALOGUE_MAX_COST" default:"50000" placeholder:"N" help:"Maximum price of an operation, about one unit for each row that it reads (default: ${default})."`
}

func (f graphQLFlags) configure(cfg *server.Config) error {
	l := f.Limits
	if min(l.Body, l.Depth, l.Cost) < 1 {
		return errors.New("each of the --max- flags must be at least 1")
	}
	cfg.GraphQL.Limits = graphqlhttp.Limits(l)
	cfg.GraphQL.Introspection = map[string]graphqlhttp.Introspection{
		"true": graphqlhttp.IntrospectionOn, "token": graphqlhttp.IntrospectionTokens,
		"false": graphqlhttp.IntrospectionOff,
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
