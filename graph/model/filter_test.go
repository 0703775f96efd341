package model

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsWithoutGaps makes ranges of lists of numbers without a gap, and of no
// others.
func TestListsWithoutGaps(t *testing.T) {
	t.Parallel()
	in := func(values any) *Condition { return &Condition{Op: In, Field: "pages", Operand: values} }
	between := func(first, last int64) *Condition {
		return &Condition{Op: And, Field: "pages", Of: []*Condition{{Op: Gte, Field: "pages", Operand: first}, {Op: Lte, Field: "pages", Operand: last}}}
	}
	none := &Condition{Op: Or, Field: "pages"}
	for _, tt := range []struct {
		kind   Kind
		values []any
		want   *Condition
	}{
		{KindBigInt, []any{}, none},
		{KindBigInt, []any{3}, in([]int64{3})},
		{KindBigInt, []any{4, 3, 4}, between(3, 4)},
		{KindBigInt, []any{-1, 0, 1, 2}, between(-1, 2)},
		{KindBigInt, []any{1, 2, 4}, in([]int64{1, 2, 4})},
		{KindBigInt, []any{math.MinInt64, math.MaxInt64}, in([]int64{math.MinInt64, math.MaxInt64})},
		{KindBigInt, []any{math.MaxInt64 - 1, math.MaxInt64}, between(math.MaxInt64-1, math.MaxInt64)},
		{KindText, []any{"4", "3", "4"}, in([]string{"3", "4"})},
		{KindText, []any{}, none},
	} {
		var p filterParser
		if diff := cmp.Diff(tt.want, p.oneOf(&FieldInfo{Name: "pages", Kind: tt.kind}, tt.values, "filter.pages.in")); diff != "" || p.problems != nil {
			t.Errorf("%v (-want +got):\n%s%v", tt.values, diff, p.problems)
		}
	}
}
