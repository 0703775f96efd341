package serve

import (
	"context"
	"strings"
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
		configured := func(database ...string) (flags graphQLFlags, cfg server.Config) {
			var c Command
			parser, err := kong.New(&c, kong.BindTo(context.Background(), (*context.Context)(nil)))
			must(t, err)
			_, err = parser.Parse(append(strings.Fields(args), database...))
			must(t, err)
			c.setDefaults()
			must(t, c.graphQLFlags.configure(&cfg))
			return c.graphQLFlags, cfg
		}
		flags, embedded := configured()
		_, elsewhere := configured("--database-url=sqlite:other.db")
		if embedded.GraphQL.Introspection != want.embedded || elsewhere.GraphQL.Introspection != want.elsewhere {
			t.Errorf("%q: %+v and %+v", args, embedded.GraphQL, elsewhere.GraphQL)
		}
		if embedded.GraphQL.Limits != graphqlhttp.DefaultLimits {
			t.Errorf("%+v, want %+v", embedded.GraphQL.Limits, graphqlhttp.DefaultLimits)
		}
		flags.Limits.Depth = 0
		if flags.configure(&embedded) == nil {
			t.Error("no depth at all is taken")
		}
	}
}
