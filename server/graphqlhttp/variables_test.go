package graphqlhttp

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph"
)

// TestScalarsAreKnown: a scalar of the schema that is not among ours would be
// taken for one of the specification.
func TestScalarsAreKnown(t *testing.T) {
	t.Parallel()
	types := graph.NewExecutableSchema(graph.Config{}).Schema().Types
	for name, definition := range types {
		if ofOurs := definition.Kind == ast.Scalar && !definition.BuiltIn; ofOurs != (scalars[name] != nil) {
			t.Errorf("%s: a scalar of our own: %t, known: %t", name, ofOurs, scalars[name] != nil)
		}
	}
	for name := range scalars {
		if types[name] == nil {
			t.Errorf("%s is no type of the schema", name)
		}
	}
}
