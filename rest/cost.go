package rest

import (
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

const (
	// writeCost is what a write costs beside its row, as a mutation does in graph/cost.
	writeCost = 10
	// wholeListPart is the part of its cost that counts of a row of a whole list, which
	// is read once for all who ask for it, without its parents: 100,000 books cost
	// 10,000, and take half a second of a processor.
	wholeListPart = 30
)

// listing is what can be asked of the list of a type.
type listing struct {
	typename   string
	rowCost    int64 // of an object, with what is nested in it
	conditions []condition
	sorts      []string // the fields that sort may name: GraphQL's, in lower case
	inFiles    bool     // beside JSON, there is CSV
}

var listings = map[string]*listing{
	"books": {"Book", 3, []condition{
		{"genre_id", []string{"genreId", "in"}, ids},
		{"category_id", []string{"genre", "categoryId", "in"}, ids},
		{"author", []string{"author"}, equalFoldFilter},
		{"price_min", []string{"price", "gte"}, amount},
		{"price_max", []string{"price", "lte"}, amount},
		{"published_from", []string{"publishedAt", "gte"}, day},
		{"published_to", []string{"publishedAt", "lte"}, day},
	}, sortsOf("Book"), true},
	"genres":     {"Genre", 2, []condition{{"category_id", []string{"categoryId", "in"}, ids}}, sortsOf("Genre"), false},
	"categories": {"Category", 1, nil, sortsOf("Category"), false},
}

// cost returns what a list may cost before it is looked at, in the units of GraphQL's cost:
// about one for each row. long reports whether it is the whole of a long one.
func (l *listing) cost(args model.PageArgs, page *paging, sizes model.Sizes) (estimate cost.Estimate, long bool) {
	var order []string
	for _, by := range args.OrderBy {
		order = append(order, by.Field)
	}
	list := cost.List{Type: l.typename, Filter: args.Filter, Sorted: cost.Sorted(l.typename, order...)}
	if args.Search != nil {
		list.Search = *args.Search
	}
	estimate = list.Estimate(sizes)
	if page != nil {
		estimate.Total += l.rowCost * int64(page.size)
		return estimate, false
	}
	rows := list.Rows(sizes)
	estimate.Total += max(1, rows*l.rowCost/wholeListPart)
	return estimate, rows > maxShort
}
