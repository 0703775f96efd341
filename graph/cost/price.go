package cost

import (
	"encoding/json"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// price is the price of a field each time it is resolved: fixed, and each for every item.
type price struct {
	fixed int64
	each  int64
	kind  kind
	size  func(arguments) int64 // number of items; nil: the number of the connection above, or none

	list  func(arguments) List // its list; nil: the list of the connection above
	looks int64                // weight of each row of the list, in addition to finding it
}

// kind decides how often the selection of a field is resolved.
type kind int

const (
	object kind = iota // once
	list               // for each item
	holder             // once; lists without a size below it have its items
)

// Prices of work other than reading rows, in units. Scanned rows are counted in addition (see
// List).
const (
	countCost     = 10  // count a list
	aggregateCost = 100 // aggregate a list
	groupCost     = 500 // group a list, as each facet does
	mutationCost  = 10  // write, without the rows
	sampleCost    = 300 // rows of the sample
	setCost       = 5   // read a change set, or its first change
	undoCost      = 500 // rows of a change set, whose number is not known before

	// Lookup is the price of a look-up in other libraries, which do the work.
	Lookup = 100
)

var (
	free  = price{}
	count = price{fixed: countCost}
	// items is the price of a list. Its connection counts the items.
	items = price{kind: list}

	bookGroups = price{fixed: groupCost, each: 1, kind: holder, size: page, looks: 1, list: func(a arguments) List {
		return List{Type: "Book", Filter: a.value("filter"), Search: a.text("search")}
	}}
)

// connection is the price of a page of all rows of a type, or of the children of a row of another
// type.
func connection(typename, of string) price {
	return price{fixed: 1, each: 1, kind: holder, size: page, list: func(a arguments) List {
		var order []string
		for _, by := range listOf(a.value("orderBy")) {
			key, _ := by.(map[string]any)
			field, _ := key["field"].(string)
			order = append(order, field)
		}
		return List{
			Type: typename, Of: of, Filter: a.value("filter"), Search: a.text("search"),
			Sorted: Sorted(typename, order...),
		}
	}}
}

// rows is the price of a list of rows.
func rows(size func(arguments) int64) price { return price{each: 1, kind: list, size: size} }

// groups is the price of a list of groups of rows.
func groups(size func(arguments) int64) price {
	return price{fixed: groupCost, each: 1, kind: list, size: size, looks: 1}
}

// changes is the price of a page of the log of changes. A change costs 1, and 1 for its row.
func changes(size func(arguments) int64) price {
	return price{fixed: 1, each: 2, kind: holder, size: size}
}

// recent is the price of a page of the newest changes. Its filters scan some thousand others.
var recent = price{fixed: 1 + 5, each: 2, kind: holder, size: page}

// troubles is the price of all troubles. Each kind is found as a facet is.
var troubles = price{each: groupCost, kind: list, size: func(a arguments) int64 {
	if kinds := a.value("kinds"); kinds != nil {
		return int64(len(listOf(kinds)))
	}
	return int64(len(model.TroubleKinds))
}, looks: 1, list: func(arguments) List { return List{Type: "Book"} }}

// bulk is the price of a write of many rows.
func bulk(size func(arguments) int64) price {
	return price{fixed: mutationCost, each: 1, kind: holder, size: size}
}

// matching is the price of a write of all rows of a type that match a filter.
func matching(typename string) price {
	p := bulk(atMost)
	p.list = func(a arguments) List { return List{Type: typename, Filter: a.value("input", "filter")} }
	return p
}

// prices holds the prices of lists, connections, bulk writes and exceptions from priceOf, by
// coordinate.
var prices = map[string]price{
	"Query.nodes":       rows(length("nodeIds")),
	"Query.booksByIsbn": rows(copies),
	"Query.bookGroups":  bookGroups,
	"Genre.books":       connection("Book", "Genre"),
	"Category.genres":   connection("Genre", "Category"),
	"Category.books":    connection("Book", "Category"),

	"BookGroupPage.nodes":      items,
	"BookGroupPage.totalCount": {fixed: groupCost, looks: 1},

	"BookConnection.aggregate":  {fixed: aggregateCost, looks: 1},
	"BookConnection.facets":     free,
	"BookFacets.genres":         groups(page),
	"BookFacets.categories":     groups(page),
	"BookFacets.authors":        groups(page),
	"BookFacets.years":          groups(page),
	"BookFacets.publishers":     groups(page),
	"BookFacets.languages":      groups(page),
	"BookFacets.prices":         groups(length("bounds")),
	"BookGroup.aggregate":       free,
	"BookAggregate.price":       free,
	"BookAggregate.pages":       free,
	"BookAggregate.publishedAt": free,

	"GenreConnection.aggregate":    count,
	"CategoryConnection.aggregate": count,

	"Query.changes":        changes(feedPage),
	"Subscription.changes": {fixed: 2}, // for each change
	"Query.recentChanges":  recent,
	"Query.history":        changes(page),
	"ChangePage.nodes":     items,

	"Query.changeSet":           {fixed: setCost},
	"ChangeSet.at":              {fixed: setCost},
	"ChangeSet.actor":           {fixed: setCost},
	"ChangeSet.counts":          free,
	"ChangeSet.changes":         changes(page),
	"Mutation.undoChangeSet":    {fixed: mutationCost + undoCost},
	"UndoChangeSetPayload.rows": free,

	"Query.troubles":    troubles,
	"Trouble.pairs":     rows(listed),
	"Trouble.different": rows(listed),
	"Trouble.books":     rows(func(arguments) int64 { return 4 * model.MaxTroubles }),

	"Query.lookup":    {fixed: Lookup},
	"Lookup.books":    free,
	"Lookup.sources":  free,
	"Lookup.existing": {kind: list, size: copies},

	"Change.actorName":    free,
	"Viewer.account":      free,
	"Mutation.loadSample": {fixed: mutationCost + sampleCost},
	"RowError.fields":     free,
}

func init() {
	for typename, plural := range map[string]string{"Book": "Books", "Genre": "Genres", "Category": "Categories"} {
		list := strings.ToLower(plural)
		prices["Query."+list] = connection(typename, "")
		prices[typename+"Connection.nodes"] = items
		prices[typename+"Connection.edges"] = items
		prices[typename+"Edge.node"] = free
		prices[typename+"Connection.totalCount"] = count
		prices[typename+"Connection.correction"] = count
		prices[typename+".history"] = changes(page)
		prices["Mutation.create"+plural] = bulk(length("input", list))
		prices["Mutation.update"+plural] = matching(typename)
		prices["Mutation.delete"+plural] = matching(typename)
		for _, verb := range []string{"Create", "Update", "Delete"} {
			prices[verb+plural+"Payload.results"] = items
		}
	}
}

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

// arguments are the arguments of a field with the variables of the operation.
type arguments struct {
	field     *ast.Field
	variables map[string]any
}

// value returns the value of an argument, or of a field within it, from the document or the
// variables. It returns nil if there is none.
func (a arguments) value(names ...string) any {
	argument := a.field.Arguments.ForName(names[0])
	if argument == nil {
		return nil
	}
	written := argument.Value
	for written != nil && written.Kind != ast.Variable && len(names) > 1 {
		written, names = written.Children.ForName(names[1]), names[1:]
	}
	if written == nil {
		return nil
	}
	value, _ := written.Value(a.variables) // the executor refuses invalid values
	for _, name := range names[1:] {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// text returns a string, or "" if there is none.
func (a arguments) text(names ...string) string {
	text, _ := a.value(names...).(string)
	return text
}

// number returns an integer, clamped to 0 and most, so that the resolver can refuse others. ok is
// false if there is none.
func (a arguments) number(most int64, names ...string) (n int64, ok bool) {
	switch v := a.value(names...).(type) {
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

// copies returns the usual number of books with an ISBN.
func copies(arguments) int64 { return 2 }

// listed returns the number of listed troubles of a kind.
func listed(arguments) int64 { return model.MaxTroubles }

func page(a arguments) int64 {
	first, firstGiven := a.number(model.MaxPageSize, "first")
	last, lastGiven := a.number(model.MaxPageSize, "last")
	if !firstGiven && !lastGiven {
		return model.DefaultPageSize
	}
	return max(first, last)
}

// feedPage returns the size of a page of changes.
func feedPage(a arguments) int64 {
	if first, given := a.number(model.MaxPageSize, "first"); given {
		return first
	}
	return model.DefaultFeedPage
}

// atMost returns the maximum number of rows that a bulk write changes.
func atMost(a arguments) int64 {
	if most, given := a.number(model.MaxRows, "input", "atMost"); given {
		return most
	}
	return 1
}

// length returns the length of a given list.
func length(names ...string) func(arguments) int64 {
	return func(a arguments) int64 { return int64(len(listOf(a.value(names...)))) }
}
