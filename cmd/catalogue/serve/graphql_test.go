package serve

import (
	"context"
	"testing"

	"github.com/alecthomas/kong"

	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
)

// TestGraphQLFlags holds the defaults of the flags to those of the server, and
// introspection to the database that nobody else sees.
func TestGraphQLFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct{ embedded, elsewhere graphqlhttp.Introspection }{
		"":                      {graphqlhttp.IntrospectionOn, graphqlhttp.IntrospectionOff},
		"--introspection=true":  {graphqlhttp.IntrospectionOn, graphqlhttp.IntrospectionOn},
		"--introspection=false": {graphqlhttp.IntrospectionOff, graphqlhttp.IntrospectionOff},
		"--introspection=token": {graphqlhttp.IntrospectionTokens, graphqlhttp.IntrospectionTokens},
	} {
		flags := &graphQLFlags{}
		parser, err := kong.New(flags, kong.BindTo(context.Background(), (*context.Context)(nil)))
		must(t, err)
		var list []string
		if args != "" {
			list = []string{args}
		}
		if _, err := parser.Parse(list); err != nil {
			t.Fatal(err)
		}
		var embedded, elsewhere server.Config
		must(t, flags.configure(&embedded, true))
		must(t, flags.configure(&elsewhere, false))
		if embedded.GraphQL.Introspection != want.embedded || elsewhere.GraphQL.Introspection != want.elsewhere {
			t.Errorf("%q: %+v and %+v", args, embedded.GraphQL, elsewhere.GraphQL)
		}
		if embedded.GraphQL.Limits != graphqlhttp.DefaultLimits {
			t.Errorf("%+v, want %+v", embedded.GraphQL.Limits, graphqlhttp.DefaultLimits)
		}
		flags.Limits.Depth = 0
		if flags.configure(&embedded, true) == nil {
			t.Error("no depth at all is taken")
		}
	}
}
