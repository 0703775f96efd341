package graphqlhttp

import (
	"strings"
	"testing"

	"library-catalogue/edge/admission"
	"library-catalogue/graph"
)

// TestLongDocumentsAreNotKept reads documents around the largest size that is cached.
func TestLongDocumentsAreNotKept(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	d := newDocuments(schema, DefaultLimits, IntrospectionOn, admission.New(10))
	const shortest = `{ books(filter: {name: {eq: ""}}) { nodes { id } } }`
	for length, cached := range map[int]bool{len(shortest): true, maxCachedDocument: true, maxCachedDocument + 1: false, 900_000: false} {
		text := strings.Replace(shortest, `""`, `"`+strings.Repeat("x", length-len(shortest))+`"`, 1)
		if _, refused := d.get(t.Context(), text); refused != nil || d.has(text) != cached {
			t.Errorf("%d bytes: %v, cached: %t, want %t", length, refused, d.has(text), cached)
		}
	}
}
