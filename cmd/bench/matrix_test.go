package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// TestMatrixIsWhole holds the matrix to every operator of every field of a book,
// and to every order.
func TestMatrixIsWhole(t *testing.T) {
	types := graph.NewExecutableSchema(graph.Config{}).Schema().Types
	asked := map[string]bool{}
	for _, f := range filters() {
		asked[strings.Join(append(slices.Clone(f.at), f.field, f.operator), ".")] = true
	}
	for _, field := range types["BookFilter"].Fields {
		operators := types[field.Type.Name()].Fields
		if operators.ForName("eq") == nil {
			continue // and, or, not, and the genre
		}
		for _, operator := range operators {
			if path := field.Name + "." + operator.Name; !asked[path] {
				t.Errorf("nothing asks for %s", path)
			}
		}
	}
	for _, field := range types["BookOrderField"].EnumValues {
		ordered := slices.ContainsFunc(orders(), func(keys []map[string]string) bool { return keys[0]["field"] == field.Name })
		if !ordered && field.Name != model.Relevance {
			t.Errorf("nothing is in order of %s", field.Name)
		}
	}
}

func TestWriteMatrix(t *testing.T) {
	var b strings.Builder
	writeMatrix(&b, []cell{
		{filter: "a", order: "ID ASC", p50: time.Millisecond}, {filter: "c", p50: matrixGoal}, {filter: "b", order: "NAME DESC", deep: true, p50: 30 * time.Millisecond},
	})
	for _, want := range []string{"2 of 3 have a p50 within 20ms", "the middle one is 20.00 ms", "| `b` | NAME DESC | after 90,000 | 30.00 |\n| `c`"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}
