package cost

import (
	"math"
	"reflect"
	"slices"

	"library-catalogue/graph/model"
)

const (
	// lookUnit is the number of scanned rows per unit. A row takes about 1 µs of CPU time. The
	// default limit allows 50 scans of 1,000,000 books.
	lookUnit = 1_000
	// patternLooks is the weight of a row if its text is matched with a pattern.
	patternLooks = 10
	// partly is the divisor for conditions that are skipped if another one fails, and for each
	// value of notIn.
	partly = 10
	// keptDivisor is the divisor for figures and facets of all rows, because their counts are kept.
	keptDivisor = 10
	// rowsOfText is the assumed number of rows with the same name or author.
	rowsOfText = 10
)

// List is a request for a list of rows, without its page.
type List struct {
	Type   string // "Book"
	Of     string // type of the parent row: "Genre"; empty for all rows
	Filter any    // GraphQL's value, unchecked
	Search string
	Sorted bool // sorted without an index
}

// all reports whether the list has all rows of the type.
func (l List) all() bool {
	conditions, _ := l.Filter.(map[string]any)
	return l.Of == "" && l.Search == "" && len(conditions) == 0
}

// Estimate returns the price of finding the rows of the list.
func (l List) Estimate(sizes model.Sizes) Estimate {
	_, looks := l.rows(sizes)
	return Estimate{Total: looks / lookUnit, Looked: looks / lookUnit}
}

// Rows returns the maximum number of rows of the list.
func (l List) Rows(sizes model.Sizes) int64 {
	rows, _ := l.rows(sizes)
	return rows
}

// rows returns the number of rows that an index leaves, and the weight of scanning them for
// conditions, search and order.
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

// Sorted reports whether no index has the order: it has several fields, or one of related rows.
func Sorted(typename string, fields ...string) bool {
	entity := model.Entities[typename]
	return len(fields) > 1 || len(fields) == 1 && entity != nil &&
		slices.ContainsFunc(entity.Orders, func(o model.ComputedOrder) bool { return o.Name == fields[0] })
}

// conjunction weighs conditions that must all hold. The most expensive one counts fully. The
// others count partly, because they are skipped after a failed one. Negations count fully, because most rows meet them.
type conjunction struct{ most, all, negated int64 }

// addPart adds a filter.
func (c *conjunction) addPart(filter any, looks int64) {
	fields, _ := filter.(map[string]any)
	if _, isNegation := fields["not"]; isNegation {
		c.negated = sum(c.negated, looks)
		return
	}
	c.add(looks)
}

func (c *conjunction) add(looks int64) {
	c.most = max(c.most, looks)
	c.all = sum(c.all, looks)
}

func (c conjunction) looks() int64 {
	return sum(sum(c.most, (c.all-c.most+partly-1)/partly), c.negated)
}

// filterLooks weighs filters.
type filterLooks struct{ sizes model.Sizes }

// filter returns the number of rows that an index leaves, the weight of each, and the weight of
// related rows, which are scanned once.
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
			all.negated = sum(all.negated, looks)
			once = sum(once, partOnce)
		case name == "and":
			for _, part := range listOf(value) {
				partRows, looks, partOnce := f.filter(typename, part)
				rows, once = min(rows, partRows), sum(once, partOnce)
				all.addPart(part, looks)
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
			if text, ok := operators["gte"].(string); ok && operators["lte"] == text { // how /api filters by author
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

// related returns the weight of scanning related rows.
func (f filterLooks) related(typename string, value any) int64 {
	rows, each, once := f.filter(typename, value)
	return sum(product(rows, sum(each, 1)), once)
}

// patterns are the operators that match a text with a pattern.
var patterns = []string{"contains", "icontains", "startsWith", "istartsWith", "endsWith", "iendsWith"}

// operator returns the weight of a condition on a row, and the number of rows that an index finds
// by it.
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
	case field.Name == "id" && name != "neq": // a range of the index
		return 0, found
	}
	return 1, found
}

// found returns the number of rows that an index finds for a value of a field.
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

// listOf returns the elements of a list. A single value is a list of one.
func listOf(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice {
		return make([]any, v.Len()) // only the length matters
	}
	return []any{value}
}

// sum and product take non-negative numbers and saturate at math.MaxInt64.

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
