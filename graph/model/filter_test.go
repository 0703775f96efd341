package model

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsWithoutGaps makes ranges of lists of numbers without a gap, and of no
// others.
func TestListsWithoutGaps(t *testing.T) {
	in := func(values any) *Condition { return &Condition{Op: In, Field: "pages", Operand: values} }
	between := func(first, last int64) *Condition {
		return &Condition{Op: And, Field: "pages", Of: []*Condition{{Op: Gte, Field: "pages", Operand: first}, {Op: Lte, Field: "pages", Operand: last}}}
	}
	for _, tt := range []struct {
		values any
		want   *Condition
	}{
		{[]int64{}, in([]int64{})},
		{[]int64{3}, in([]int64{3})},
		{[]int64{3, 4}, between(3, 4)},
		{[]int64{-1, 0, 1, 2}, between(-1, 2)},
		{[]int64{1, 2, 4}, in([]int64{1, 2, 4})},
		{[]int64{math.MinInt64, math.MaxInt64}, in([]int64{math.MinInt64, math.MaxInt64})},
		{[]int64{math.MaxInt64 - 1, math.MaxInt64}, between(math.MaxInt64-1, math.MaxInt64)},
		{[]string{"3", "4"}, in([]string{"3", "4"})},
	} {
		if diff := cmp.Diff(tt.want, oneOf("pages", tt.values)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.values, diff)
		}
	}
}
