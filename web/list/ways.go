package list

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// wayOut is a list with fewer conditions than one without books.
type wayOut struct {
	Label, URL string
	Count      int
}

// maxWays is the maximum number of filters that waysOut counts books without.
const maxWays = 8

// waysOut returns lists with books that have one condition less, and the list of all books. It counts the books of all
// in one request.
func (p Pages) waysOut(r *http.Request, l listing, chips []chip) ([]wayOut, error) {
	var ways []wayOut
	var arguments, fields []string
	v := view.Variables{}
	in := language.Of(r)
	add := func(label string, l listing) {
		n := strconv.Itoa(len(ways))
		ways = append(ways, wayOut{Label: label, URL: l.URL()})
		arguments = append(arguments, "$filter"+n+": BookFilter, $search"+n+": String")
		fields = append(fields,
			"  way"+n+": books(first: 0, filter: $filter"+n+", search: $search"+n+") { totalCount }")
		v["filter"+n] = l.filter()
		if text := l.Search(); text != "" {
			v["search"+n] = text
		}
	}
	for _, c := range chips[:min(len(chips), maxWays)] {
		add(in.Text("Without %s: %s", c.Label, c.Value), c.without)
	}
	if text := l.Search(); text != "" {
		add(in.Text("Without the search “%s”", text), l.with("q", "", "sort", "", "dir", ""))
	}
	add(in.Text("All books"), listing{})
	var counts map[string]struct{ TotalCount int }
	if _, err := p.Run(r, "query Ways("+strings.Join(arguments, ", ")+") {\n"+strings.Join(fields, "\n")+"\n}", v,
		&counts); err != nil {
		return nil, err
	}
	var open []wayOut
	for i, way := range ways {
		way.Count = counts["way"+strconv.Itoa(i)].TotalCount
		if way.Count > 0 && !slices.ContainsFunc(open, func(other wayOut) bool { return other.URL == way.URL }) {
			open = append(open, way)
		}
	}
	return open, nil
}
