package model

import (
	"math"

	"github.com/99designs/gqlgen/graphql"
)

// Filters of the three types.
type (
	BookFilter     = Filter
	GenreFilter    = Filter
	CategoryFilter = Filter
)

// Filter says which rows of a list to take.
type Filter struct {
	ID *IDFilter
}

// IDFilter takes a range of ids. An operand that is null is refused: a filter
// that was made of a missing value must not match everything.
type IDFilter struct {
	Eq, Gt, Gte, Lt, Lte graphql.Omittable[*ID]
}

// Range is a range of ids: those above Above and below Below. 0 is no bound.
type Range struct {
	Above, Below ID
}

// ids gives the range of ids that the filter takes. The error is BadUserInput.
func (f *Filter) ids() (r Range, err error) {
	if f == nil || f.ID == nil {
		return r, nil
	}
	for _, c := range []struct {
		name    string
		operand graphql.Omittable[*ID]
		narrow  func(ID)
	}{
		{"eq", f.ID.Eq, func(id ID) { r.from(id); r.to(id) }},
		{"gt", f.ID.Gt, func(id ID) { r.Above = max(r.Above, id) }},
		{"gte", f.ID.Gte, r.from},
		{"lt", f.ID.Lt, func(id ID) { r.to(id - 1) }},
		{"lte", f.ID.Lte, r.to},
	} {
		operand, given := c.operand.ValueOK()
		if !given {
			continue
		}
		if operand == nil || *operand < 0 {
			return r, badArgument("filter", "The operand "+c.name+" of the id filter must be an id.")
		}
		c.narrow(*operand)
	}
	return r, nil
}

func (r *Range) from(id ID) { r.Above = max(r.Above, id-1) }

func (r *Range) to(id ID) {
	if id == math.MaxInt64 {
		return
	}
	if below := max(id+1, 1); r.Below == 0 || below < r.Below {
		r.Below = below
	}
}
