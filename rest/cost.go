package rest

import (
	"net/http"
	"strings"

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

// Cost returns what a request under /api may cost before it is looked at, in the
// units of GraphQL's cost: about one for each row. streamed says that it is for a
// whole list, which takes as little memory as a page.
func Cost(r *http.Request, sizes model.Sizes) (estimate cost.Estimate, streamed bool) {
	_, rest, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	name, id, _ := strings.Cut(rest, "/")
	l := listings[name]
	if l == nil {
		return cost.Estimate{Total: 1}, false
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return cost.Estimate{Total: writeCost + l.rowCost}, false
	case id != "":
		return cost.Estimate{Total: l.rowCost}, false
	}
	q := &query{values: parseQuery(r.URL.RawQuery)}
	args, page := q.args(l), q.paging()
	switch {
	case q.problems.Err() != nil: // it will be refused
		return cost.Estimate{Total: 1}, false
	case page == nil:
		return l.wholeCost(args, sizes), true
	}
	estimate = l.list(page.of(args)).Estimate(sizes, true)
	estimate.Total += l.rowCost * int64(page.size)
	return estimate, false
}

// wholeCost returns what a whole list costs.
func (l *listing) wholeCost(args model.PageArgs, sizes model.Sizes) cost.Estimate {
	list := l.list(args)
	estimate := list.Estimate(sizes, false)
	estimate.Total += max(1, list.Rows(sizes)*l.rowCost/wholeListPart)
	return estimate
}

func (l *listing) list(args model.PageArgs) cost.List {
	var order []string
	for _, by := range args.OrderBy {
		order = append(order, by.Field)
	}
	list := cost.List{Type: l.typename, Filter: args.Filter, Sorted: cost.Sorted(l.typename, order...)}
	if args.Search != nil {
		list.Search = *args.Search
	}
	if args.Offset != nil {
		list.Offset = int64(*args.Offset)
	}
	return list
}
