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
	ms := time.Millisecond
	writeMatrix(&b, []cell{
		{"id.eq", "1", "ID ASC", false, ms}, {"id.eq", "2", "ID ASC", false, matrixGoal}, {"id.eq", "3", "ID ASC", false, 90 * ms},
		{"id.eq", "1", "ID ASC", true, 30 * ms}, {"id.lt", "1", "ID ASC", false, 2 * ms}, {"id.lt", "1", "ID DESC", false, 25 * ms},
	})
	for _, want := range []string{
		"in one order: 2 of 4 have a p50 within 20ms", "by itself: 3 of 6; of these medians the middle one is 20.00 ms",
		"| `id.eq` | ID ASC | after 90,000 | 30.00 |\n| `id.lt` | ID DESC | first | 25.00 |\n| `id.eq` | ID ASC | first | 20.00 |",
		"| `id.eq 3` | ID ASC | first | 90.00 |\n| `id.eq 1` | ID ASC | after 90,000 | 30.00 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}
