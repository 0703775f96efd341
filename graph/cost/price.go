package cost

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// price says what a field costs each time it is answered: a fixed sum, and a sum
// for each of its items.
type price struct {
	fixed int64
	each  int64
	kind  kind
	size  func(arguments) int64 // how many items it has; nil: what holds it knows, or it has none
}

// kind says how many times that which is selected of a field is answered.
type kind int

const (
	object kind = iota // once
	list               // for each item
	holder             // once, and below it lists without a size have its items
)

// Sums that stand for work other than the reading of rows.
const (
	countCost     = 10  // to count a list
	aggregateCost = 100 // to compute figures over a list
	groupCost     = 500 // to put a list in groups, as each facet does
	mutationCost  = 10  // to write, beside the rows
)

var (
	free  = price{}
	count = price{fixed: countCost}
	// items is the price of a list whose items its holder has paid.
	items = price{kind: list}
)

// connection is the price of a page of a list, of which each row costs 1.
func connection(size func(arguments) int64) price {
	return price{fixed: 1, each: 1, kind: holder, size: size}
}

// rows is the price of a list of rows.
func rows(size func(arguments) int64) price { return price{each: 1, kind: list, size: size} }

// groups is the price of a list of groups of rows.
func groups(size func(arguments) int64) price {
	return price{fixed: groupCost, each: 1, kind: list, size: size}
}

// bulk is the price of a write of many rows.
func bulk(size func(arguments) int64) price {
	return price{fixed: mutationCost, each: 1, kind: holder, size: size}
}

// prices has the price of each field, by its coordinate, that is a list or a
// connection, takes a list of rows, or costs something else than priceOf says.
var prices = map[string]price{
	"Query.nodes":      rows(length("nodeIds")),
	"Query.bookGroups": groups(page),
	"Query.books":      connection(page),
	"Query.genres":     connection(page),
	"Query.categories": connection(page),
	"Genre.books":      connection(page),
	"Category.genres":  connection(page),
	"Category.books":   connection(page),

	"BookConnection.nodes":          items,
	"BookConnection.edges":          items,
	"BookConnection.totalCount":     count,
	"BookConnection.aggregate":      {fixed: aggregateCost},
	"BookConnection.facets":         free,
	"BookEdge.node":                 free,
	"GenreConnection.nodes":         items,
	"GenreConnection.edges":         items,
	"GenreConnection.totalCount":    count,
	"GenreConnection.aggregate":     count,
	"GenreEdge.node":                free,
	"CategoryConnection.nodes":      items,
	"CategoryConnection.edges":      items,
	"CategoryConnection.totalCount": count,
	"CategoryConnection.aggregate":  count,
	"CategoryEdge.node":             free,

	"BookFacets.genres":         groups(page),
	"BookFacets.categories":     groups(page),
	"BookFacets.authors":        groups(page),
	"BookFacets.years":          groups(page),
	"BookFacets.prices":         groups(length("bounds")),
	"BookGroup.aggregate":       free,
	"BookAggregate.price":       free,
	"BookAggregate.pages":       free,
	"BookAggregate.publishedAt": free,

	"Mutation.createBooks":            bulk(length("input", "books")),
	"Mutation.updateBooks":            bulk(atMost),
	"Mutation.deleteBooks":            bulk(atMost),
	"CreateBooksPayload.results":      items,
	"UpdateBooksPayload.results":      items,
	"DeleteBooksPayload.results":      items,
	"Mutation.createGenres":           bulk(length("input", "genres")),
	"Mutation.updateGenres":           bulk(atMost),
	"Mutation.deleteGenres":           bulk(atMost),
	"CreateGenresPayload.results":     items,
	"UpdateGenresPayload.results":     items,
	"DeleteGenresPayload.results":     items,
	"Mutation.createCategories":       bulk(length("input", "categories")),
	"Mutation.updateCategories":       bulk(atMost),
	"Mutation.deleteCategories":       bulk(atMost),
	"CreateCategoriesPayload.results": items,
	"UpdateCategoriesPayload.results": items,
	"DeleteCategoriesPayload.results": items,
	"RowError.fields":                 free,
}

// priceOf returns the price of a type's field.
func priceOf(schema *ast.Schema, typename string, f *ast.FieldDefinition) price {
	if p, ok := prices[typename+"."+f.Name]; ok {
		return p
	}
	switch {
	case schema.Mutation != nil && typename == schema.Mutation.Name:
		return price{fixed: mutationCost}
	case schema.Types[f.Type.Name()].IsCompositeType():
		return price{fixed: 1}
	}
	return free
}

// arguments are those of a field, in an operation with variables.
type arguments struct {
	field     *ast.Field
	variables map[string]any
	variable  *bool // is set where a variable is read; nil: not wanted
}

// find returns the value of an argument, or of a field below it: as it is written in
// the document, or else as the variables have it. Both are nil where there is none.
func (a arguments) find(names ...string) (written *ast.Value, value any) {
	argument := a.field.Arguments.ForName(names[0])
	if argument == nil {
		return nil, nil
	}
	written, names = argument.Value, names[1:]
	for written != nil && written.Kind != ast.Variable && len(names) > 0 {
		written, names = written.Children.ForName(names[0]), names[1:]
	}
	if written == nil || written.Kind != ast.Variable {
		return written, nil
	}
	if a.variable != nil {
		*a.variable = true
	}
	value = a.variables[written.Raw]
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return nil, value
}

// number returns an integer. One that the resolver will refuse for its size is cut to
// the bounds, so that the client gets that error. ok is false where there is none.
func (a arguments) number(most int64, names ...string) (n int64, ok bool) {
	written, value := a.find(names...)
	if written != nil {
		parsed, err := strconv.ParseInt(written.Raw, 10, 64)
		n, ok = parsed, err == nil
	}
	switch v := value.(type) {
	case json.Number:
		parsed, err := v.Int64()
		n, ok = parsed, err == nil
	case int64:
		n, ok = v, true
	case int:
		n, ok = int64(v), true
	case float64:
		n, ok = int64(v), true
	}
	return min(max(n, 0), most), ok
}

// page is the size of a page.
func page(a arguments) int64 {
	first, firstGiven := a.number(model.MaxPageSize, "first")
	last, lastGiven := a.number(model.MaxPageSize, "last")
	if !firstGiven && !lastGiven {
		return model.DefaultPageSize
	}
	return max(first, last)
}

// atMost is how many rows may match the filter of a write.
func atMost(a arguments) int64 {
	if most, given := a.number(model.MaxRows, "input", "atMost"); given {
		return most
	}
	return 1
}

// length is the length of a list that is given. A single value stands for a list
// of it.
func length(names ...string) func(arguments) int64 {
	return func(a arguments) int64 {
		written, value := a.find(names...)
		switch {
		case written != nil && written.Kind == ast.ListValue:
			return int64(len(written.Children))
		case written != nil && written.Kind != ast.NullValue:
			return 1
		case value == nil:
			return 0
		}
		if v := reflect.ValueOf(value); v.Kind() == reflect.Slice {
			return int64(v.Len())
		}
		return 1
	}
}
