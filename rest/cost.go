package rest

import (
	"net/http"
	"strings"
)

// What requests cost beside the rows that they read.
const (
	wholeListCost = 5_000 // of which nobody knows the length
	writeCost     = 10
)

// rowCosts is what an object of each list costs, with what is nested in it.
var rowCosts = map[string]int64{"books": 3, "genres": 2, "categories": 1}

// Cost returns what a request under /api may cost before it is looked at, in the
// units of GraphQL's cost: about one for each row. streamed says that it is for a
// whole list, which takes as little memory as a page.
func Cost(r *http.Request) (cost int64, streamed bool) {
	_, rest, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	name, id, _ := strings.Cut(rest, "/")
	each := max(1, rowCosts[name])
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return writeCost + each, false
	case id != "" || rowCosts[name] == 0:
		return each, false
	}
	q := &query{values: parseQuery(r.URL.RawQuery)}
	page := q.paging()
	switch {
	case q.problems.Err() != nil: // it will be refused
		return 1, false
	case page == nil:
		return wholeListCost, true
	}
	return each * int64(page.size), false
}
