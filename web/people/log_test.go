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
	change := func(set string) *logged {
		c := &logged{At: "1", Type: "BOOK"}
		c.ChangeSet.ID = set
		return c
	}
	many := func(n int, set func(i int) string) (all []*logged) {
		for i := range n {
			all = append(all, change(set(i)))
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
		"another write":              {append(many(2, same), change("0")), false, []int{2, 1}, false},
		"the last may go on":         {append([]*logged{change("2")}, many(4, same)...), true, []int{1}, true},
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
