package cost

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// What is done with each row that is looked at, in comparisons with a text: 0.3 µs to
// 1 µs of a processor each.
const (
	textWork    = 1.0  // a comparison with a text or its pattern
	valueWork   = 0.1  // with a number or a date
	listedWork  = 0.1  // with each value of a list
	countWork   = 0.02 // to count it, of which an index knows enough
	figuresWork = 0.5  // to add it to figures
	groupWork   = 1.0  // to put it into a group, or into an order without an index
	facetWork   = 0.4  // to put it into a group of a facet, which has one field
	wordWork    = 0.4  // for each word of a search, between one that is found and one that is corrected
	rankWork    = 0.1  // to put it into the order of a search
	skipWork    = 0.02 // to pass over it, before an offset: one request at a time does
)

const (
	// workUnit is how much of that makes a unit of cost. Five conditions on texts, a
	// search, an order, the number, the figures and five facets over 1,000,000 books
	// are 20,000 units so, below the 50,000 that are allowed by default; 190
	// conditions of which one must hold, counted and read, over 100,000 are 76,000.
	workUnit = 500
	// laterPart is how much counts of the conditions that must hold beside another:
	// they are looked at only where that does, which is taken to be one row in ten.
	laterPart = 0.1
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
	Offset int64
}

// work is what a list takes to read.
type work struct {
	rows   float64 // that are looked at
	filter float64 // comparisons, for all of them
}

// units returns the cost of so much work with each row, and of a pass of the conditions.
func (w work) units(each float64, pass bool) int64 {
	all := w.rows * each
	if pass {
		all += w.filter
	}
	return int64(min(all/workUnit, math.MaxInt64/2))
}

// Estimate returns what it costs to find a page of the list, and counted, to count it
// too.
func (l List) Estimate(sizes model.Sizes, counted bool) Estimate {
	w := l.work(sizes)
	looked := l.page(sizes, w)
	if counted {
		looked = sum(looked, w.units(countWork, true))
	}
	return Estimate{Total: looked, Looked: looked}
}

// Rows returns how many rows of the list may be answered.
func (l List) Rows(sizes model.Sizes) int64 { return int64(l.work(sizes).rows) }

func (l List) work(sizes model.Sizes) work {
	rows, conditions, once := filterWork{sizes}.filter(l.Type, l.Filter)
	conditions.add(float64(len(strings.Fields(l.Search))) * wordWork)
	if of := float64(sizes.Of(l.Of)); of > 1 {
		rows = min(rows, float64(sizes.Of(l.Type))/of)
	}
	return work{rows, rows*conditions.each() + once}
}

// page returns what it costs to find a page.
func (l List) page(sizes model.Sizes, w work) int64 {
	sort := 0.0
	switch {
	case l.Sorted:
		sort = groupWork
	case l.Search != "":
		sort = rankWork
	}
	skip := work{filter: float64(min(l.Offset, sizes.Of(l.Type))) * skipWork}
	return sum(w.units(sort, true), skip.units(0, true))
}

// Sorted reports whether rows of a type are put in an order without an index: by
// several fields, or by one of other rows.
func Sorted(typename string, fields ...string) bool {
	entity := model.Entities[typename]
	return len(fields) > 1 || len(fields) == 1 && entity != nil &&
		slices.ContainsFunc(entity.Orders, func(o model.ComputedOrder) bool { return o.Name == fields[0] })
}

// conditions is the work on conditions on one row that must all hold.
type conditions struct{ most, all float64 }

func (c *conditions) add(work float64) {
	c.most = max(c.most, work)
	c.all += work
}

func (c conditions) each() float64 { return c.most + laterPart*(c.all-c.most) }

// filterWork estimates filters.
type filterWork struct{ sizes model.Sizes }

// filter returns how many rows of a type an index leaves to be looked at, how much work
// there is on each of them, and how much there is once: on the rows at the ends of
// relations. Engines look at these no more than once each.
func (f filterWork) filter(typename string, value any) (rows float64, each conditions, once float64) {
	rows = float64(f.sizes.Of(typename))
	fields, _ := value.(map[string]any)
	entity := model.Entities[typename]
	if entity == nil {
		return rows, each, 0
	}
	for name, value := range fields {
		relation, field := entity.Relation(name), entity.Field(name)
		switch {
		case name == "not":
			_, part, partOnce := f.filter(typename, value)
			each.add(part.each())
			once += partOnce
		case name == "and":
			forEach(value, func(value any) {
				partRows, part, partOnce := f.filter(typename, value)
				rows, once = min(rows, partRows), once+partOnce
				each.add(part.each())
			})
		case name == "or":
			anyRows, anyEach := 0.0, 0.0
			forEach(value, func(value any) {
				partRows, part, partOnce := f.filter(typename, value)
				anyRows, anyEach, once = anyRows+partRows, anyEach+part.each(), once+partOnce
			})
			rows = min(rows, anyRows)
			each.add(anyEach)
		case relation != nil && relation.Many():
			quantifiers, _ := value.(map[string]any)
			for _, value := range quantifiers {
				each.add(valueWork)
				once += f.all(relation.Type, value)
			}
		case relation != nil:
			each.add(valueWork)
			once += f.all(relation.Type, value)
		case field != nil:
			operators, _ := value.(map[string]any)
			if text, ok := operators["gte"].(string); ok && operators["lte"] == text { // as /api asks for an author
				rows = min(rows, f.found(typename, field))
			}
			for name, operand := range operators {
				work, found := f.operator(typename, field, name, operand)
				rows = min(rows, found)
				each.add(work)
			}
		}
	}
	return rows, each, once
}

// all returns the work on all rows of a type at the end of a relation.
func (f filterWork) all(typename string, value any) float64 {
	rows, each, once := f.filter(typename, value)
	return rows*(valueWork+each.each()) + once
}

// operator returns the work on a condition on one row, and how many rows an index finds
// by it.
func (f filterWork) operator(typename string, field *model.FieldInfo, name string, operand any) (work, found float64) {
	work, found = valueWork, float64(f.sizes.Of(typename))
	if field.Kind == model.KindText {
		work = textWork
	}
	switch name {
	case "gt", "gte", "lt", "lte":
		if field.Name == "id" { // where an index begins or ends
			work = 0
		}
	case "eq":
		found = f.found(typename, field)
	case "in":
		found = min(found, float64(lengthOf(operand))*f.found(typename, field))
	case "notIn":
		work += float64(lengthOf(operand)) * listedWork
	}
	return work, found
}

// found returns how many rows an index finds for one value of a field.
func (f filterWork) found(typename string, field *model.FieldInfo) float64 {
	rows := float64(f.sizes.Of(typename))
	switch field.Name {
	case "id":
		return 1
	case "genreId":
		return rows / float64(max(f.sizes.Genres, 1))
	case "categoryId":
		return rows / float64(max(f.sizes.Categories, 1))
	case "name", "author":
		return rowsOfText
	}
	return rows
}

// forEach calls fn with each element of a list, of which a single value may stand.
func forEach(value any, fn func(any)) {
	switch v := value.(type) {
	case nil:
	case []any:
		for _, part := range v {
			fn(part)
		}
	default:
		fn(v)
	}
}

// lengthOf is the length of a list that is given. A single value stands for a list of
// it.
func lengthOf(value any) int64 {
	if value == nil {
		return 0
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Slice {
		return int64(v.Len())
	}
	return 1
}
