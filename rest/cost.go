package rest

import (
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

const (
	// writeCost is the fixed cost of a write, as of a mutation in graph/cost.
	writeCost = 10
	// wholeListDivisor reduces the row cost of a whole list, because concurrent requests share one read and parents are
	// cached: 100,000 books cost 10,000 units and half a second of CPU time.
	wholeListDivisor = 30
)

// listing describes the list of a type: its parameters, formats and cost.
type listing struct {
	typename   string // also in messages
	rowCost    int64  // units for an object with its nested objects
	conditions []condition
	sortFields []string  // values of sort: GraphQL's names in lower case
	formats    []*format // formats of the list; nil: only JSON
}

var (
	bookListing = &listing{"Book", 3, []condition{
		{"ids", []string{"id", "in"}, ids},
		{"genre_id", []string{"genreId", "in"}, ids},
		{"category_id", []string{"genre", "categoryId", "in"}, ids},
		{"author", []string{"author"}, equalFoldFilter},
		{"isbn", []string{"isbn", "eq"}, canonical},
		{"publisher", []string{"publisher"}, equalFoldFilter},
		{"language", []string{"language", "eq"}, canonical},
		{"shelf_mark", []string{"shelfMark"}, equalFoldFilter},
		{"series", []string{"series"}, equalFoldFilter},
		{"price_min", []string{"price", "gte"}, amount},
		{"price_max", []string{"price", "lte"}, amount},
		{"published_from", []string{"publishedAt", "gte"}, day},
		{"published_to", []string{"publishedAt", "lte"}, day},
	}, sortFields("Book"), listFormats}
	genreListing = &listing{"Genre", 2, []condition{{"category_id", []string{"categoryId", "in"}, ids}},
		sortFields("Genre"), nil}
	categoryListing = &listing{"Category", 1, nil, sortFields("Category"), nil}

	listings = []*listing{bookListing, genreListing, categoryListing}
)

// cost estimates the cost of a list in the units of GraphQL's cost, about one per row. long reports whether it is a
// whole list of more than maxShortRows rows.
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
	estimate.Total += max(1, rows*l.rowCost/wholeListDivisor)
	return estimate, rows > maxShortRows
}
