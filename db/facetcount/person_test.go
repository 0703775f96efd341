package facetcount

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

// authorsOf returns the facet of authors with their forms.
func authorsOf(c *Counts, limit int) (found []string) {
	for _, g := range c.Groups(&model.Grouping{By: []model.GroupKey{model.ByPerson}, Order: []model.GroupOrder{{Field: "count", Descending: true}}, Limit: limit}, nil) {
		found = append(found, fmt.Sprint(g.Aggregate.Count, " ", *g.Author, " ", g.Forms[1:]))
	}
	return found
}

// TestPersons counts the forms of a name as one, shows the form of most rows, and follows rows that come and go.
func TestPersons(t *testing.T) {
	t.Parallel()
	counts := New([]string{Person})
	add := func(sign int, authors ...string) {
		delta := &Delta{Columns: []string{Person}}
		for _, text := range authors {
			delta.Add(1, []any{text})
		}
		counts.apply(delta, sign)
	}
	want := func(limit int, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, authorsOf(counts, limit)); diff != "" {
			t.Errorf("facet (-want +got):\n%s", diff)
		}
	}
	add(1, "Doe, Jane", "Jane Doe", "Plato", "J.R.R. Tolkien", "Tolkien, J. R. R.", "JRR Tolkien", "Tolkien, J. R. R.")
	want(9, "4 Tolkien, J. R. R. [J.R.R. Tolkien JRR Tolkien]", "2 Doe, Jane [Jane Doe]", "1 Plato []")
	add(1, "Jane Doe", "Jane Doe", "Plato", "Ann One")
	want(9, "4 Jane Doe [Doe, Jane]", "4 Tolkien, J. R. R. [J.R.R. Tolkien JRR Tolkien]", "2 Plato []", "1 Ann One []")
	want(3, "4 Jane Doe [Doe, Jane]", "4 Tolkien, J. R. R. [J.R.R. Tolkien JRR Tolkien]", "2 Plato []")
	want(1, "4 Jane Doe [Doe, Jane]")
	want(0)
	add(-1, "Jane Doe", "Jane Doe", "Jane Doe", "Plato", "Plato", "JRR Tolkien")
	want(9, "3 Tolkien, J. R. R. [J.R.R. Tolkien]", "1 Ann One []", "1 Doe, Jane []")
	add(-1, "Doe, Jane", "Ann One", "J.R.R. Tolkien", "Tolkien, J. R. R.", "Tolkien, J. R. R.")
	want(9)
	if counts.Rows() != 0 || len(counts.byName[Person].persons) != 0 {
		t.Errorf("%d rows, %d persons left", counts.Rows(), len(counts.byName[Person].persons))
	}
}

// TestFewest compares the least of the greatest counts with that of all, sorted.
func TestFewest(t *testing.T) {
	t.Parallel()
	v := &values{numbers: map[int64]int{}}
	var all []int
	for i := range 40 {
		v.numbers[int64(i)] = i * 7 % 13
		all = append(all, i*7%13)
	}
	slices.Sort(all)
	for limit := 1; limit <= 40; limit++ {
		if got := v.fewest(limit); got != all[40-limit] {
			t.Errorf("the %d greatest begin at %d, want %d", limit, got, all[40-limit])
		}
	}
	if got := v.fewest(41); got != 0 {
		t.Errorf("41 of 40 begin at %d", got)
	}
}
