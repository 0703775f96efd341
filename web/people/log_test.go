package people

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEntries groups changes of one write, and ends a page between writes where it can.
func TestEntries(t *testing.T) {
	t.Parallel()
	const anna, bela = "anna", "bela"
	book := func(at, operation, actor string) *logged {
		return &logged{At: at, Type: "BOOK", Operation: operation, ActorName: &actor}
	}
	many := func(n int, at func(i int) string) (all []*logged) {
		for i := range n {
			all = append(all, book(at(i), "UPDATE", anna))
		}
		return all
	}
	each, same := strconv.Itoa, func(int) string { return "1" }
	for name, tt := range map[string]struct {
		changes []*logged
		hasMore bool
		want    []int // changes of each entry
		left    bool
	}{
		"none":                       {nil, false, nil, false},
		"one write":                  {many(30, same), false, []int{30}, false},
		"another time":               {append(many(2, same), book("0", "UPDATE", anna)), false, []int{2, 1}, false},
		"another operation":          {append(many(2, same), book("1", "DELETE", anna)), false, []int{2, 1}, false},
		"another actor":              {append(many(2, same), book("1", "UPDATE", bela)), false, []int{2, 1}, false},
		"another type":               {append(many(2, same), &logged{At: "1", Type: "GENRE", Operation: "UPDATE"}), false, []int{2, 1}, false},
		"the last may go on":         {append([]*logged{book("2", "UPDATE", anna)}, many(4, same)...), true, []int{1}, true},
		"the only one may go on":     {many(4, same), true, []int{4}, false},
		"as many entries as fit":     {many(50, each), false, slices.Repeat([]int{1}, 50), false},
		"more entries than fit":      {many(51, each), false, slices.Repeat([]int{1}, 50), true},
		"as many, and more is there": {many(51, each), true, slices.Repeat([]int{1}, 50), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, left := entries(tt.changes, tt.hasMore)
			var got []int
			for _, e := range all {
				got = append(got, len(e.Changes))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || left != tt.left {
				t.Errorf("left %v, want %v; -want +got:\n%s", left, tt.left, diff)
			}
		})
	}
}
