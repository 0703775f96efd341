package cost

import (
	"math"
	"reflect"
	"slices"

	"library-catalogue/graph/model"
)

const (
	// lookUnit is how many looks at a row make a unit of cost: each takes about 1 µs of a
	// processor. The default limit allows 50 of them for each of 1,000,000 books.
	lookUnit = 1_000
	// patternLooks is how many looks it is to compare a text with a pattern.
	patternLooks = 10
	// partly is the part that counts, one in so many, of conditions that are spared where
	// another fails, and of each value of notIn.
	partly = 10
	// rowsOfText is how many rows are taken to have the same name or author: few, since an
	// author writes few books.
	rowsOfText = 10
)

// List is what is asked of a list of rows beside its page.
type List struct {
	Type   string // "Book"
	Of     string // the type of the row that it belongs to: "Genre"; empty for all rows
	Filter any    // as GraphQL has it, not yet checked
	Search string
	Sorted bool // in an order without an index
}

// Estimate returns what it costs to find the rows of the list.
func (l List) Estimate(sizes model.Sizes) Estimate {
	_, looks := l.rows(sizes)
	return Estimate{Total: looks / lookUnit, Looked: looks / lookUnit}
}

// Rows returns how many rows of the list may be answered.
func (l List) Rows(sizes model.Sizes) int64 {
	rows, _ := l.rows(sizes)
	return rows
}

// rows returns how many rows an index leaves to be looked at, and how many looks it takes
// to find those of the list: by its conditions, by its search and for its order.
func (l List) rows(sizes model.Sizes) (rows, looks int64) {
	rows, each, once := filterLooks{sizes}.filter(l.Type, l.Filter)
	if of := sizes.Of(l.Of); of > 1 {
		rows = min(rows, sizes.Of(l.Type)/of+1)
	}
	if l.Search != "" {
		each = sum(each, 1)
	}
	if l.Sorted {
		each = sum(each, 1)
	}
	return rows, sum(product(rows, each), once)
}

// Sorted reports whether rows of a type are put in an order without an index: by
// several fields, or by one of other rows.
func Sorted(typename string, fields ...string) bool {
	entity := model.Entities[typename]
	return len(fields) > 1 || len(fields) == 1 && entity != nil &&
		slices.ContainsFunc(entity.Orders, func(o model.ComputedOrder) bool { return o.Name == fields[0] })
}

// conjunction counts the looks at a row for conditions that must all hold. One that fails
// spares the others, so that these count partly.
type conjunction struct{ most, all int64 }

func (c *conjunction) add(looks int64) {
	c.most = max(c.most, looks)
	c.all = sum(c.all, looks)
}

func (c conjunction) looks() int64 {
	return sum(c.most, (c.all-c.most+partly-1)/partly)
}

// filterLooks counts the looks that filters take.
type filterLooks struct{ sizes model.Sizes }

// filter returns how many rows of a type an index leaves to be looked at, how many looks
// each of them takes, and how many are taken once: at the rows at the ends of relations.
func (f filterLooks) filter(typename string, value any) (rows, each, once int64) {
	rows = f.sizes.Of(typename)
	fields, _ := value.(map[string]any)
	entity := model.Entities[typename]
	if entity == nil {
		return rows, 0, 0
	}
	var all conjunction
	for name, value := range fields {
		relation, field := entity.Relation(name), entity.Field(name)
		switch {
		case name == "not":
			_, looks, partOnce := f.filter(typename, value)
			all.add(looks)
			once = sum(once, partOnce)
		case name == "and":
			for _, part := range listOf(value) {
				partRows, looks, partOnce := f.filter(typename, part)
				rows, once = min(rows, partRows), sum(once, partOnce)
				all.add(looks)
			}
		case name == "or":
			var anyRows, anyLooks int64
			for _, part := range listOf(value) {
				partRows, looks, partOnce := f.filter(typename, part)
				anyRows, anyLooks, once = sum(anyRows, partRows), sum(anyLooks, looks), sum(once, partOnce)
			}
			rows = min(rows, anyRows)
			all.add(anyLooks)
		case relation != nil && relation.Many():
			quantifiers, _ := value.(map[string]any)
			for _, value := range quantifiers {
				all.add(1)
				once = sum(once, f.related(relation.Type, value))
			}
		case relation != nil:
			all.add(1)
			once = sum(once, f.related(relation.Type, value))
		case field != nil:
			operators, _ := value.(map[string]any)
			if text, ok := operators["gte"].(string); ok && operators["lte"] == text { // as /api asks for an author
				rows = min(rows, f.found(typename, field))
			}
			for name, operand := range operators {
				looks, found := f.operator(typename, field, name, operand)
				rows = min(rows, found)
				all.add(looks)
			}
		}
	}
	return rows, all.looks(), once
}

// related returns the looks at all rows of a type at the end of a relation.
func (f filterLooks) related(typename string, value any) int64 {
	rows, each, once := f.filter(typename, value)
	return sum(product(rows, sum(each, 1)), once)
}

// patterns are the operators that compare a text with a pattern.
var patterns = []string{"contains", "icontains", "startsWith", "istartsWith", "endsWith", "iendsWith"}

// operator returns how many looks at a row a condition takes, and how many rows an index
// finds by it.
func (f filterLooks) operator(typename string, field *model.FieldInfo, name string, operand any) (looks, found int64) {
	found = f.sizes.Of(typename)
	switch {
	case slices.Contains(patterns, name):
		return patternLooks, found
	case name == "eq":
		found = f.found(typename, field)
	case name == "in":
		found = min(found, product(int64(len(listOf(operand))), f.found(typename, field)))
	case name == "notIn":
		return 1 + int64(len(listOf(operand)))/partly, found
	case field.Name == "id" && name != "neq": // where an index begins or ends
		return 0, found
	}
	return 1, found
}

// found returns how many rows an index finds for one value of a field.
func (f filterLooks) found(typename string, field *model.FieldInfo) int64 {
	rows := f.sizes.Of(typename)
	switch field.Name {
	case "id":
		return 1
	case "genreId":
		return rows/max(f.sizes.Genres, 1) + 1
	case "categoryId":
		return rows/max(f.sizes.Categories, 1) + 1
	case "name", "author":
		return rowsOfText
	}
	return rows
}

// listOf returns the elements of a list, for which a single value may stand.
func listOf(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice {
		return make([]any, v.Len()) // of which only the number counts
	}
	return []any{value}
}

// sum and product are those of numbers that are not negative, and math.MaxInt64 at most.

func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func product(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
