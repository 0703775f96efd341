package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
)

// booksResponse is the response to books.graphql.
type booksResponse struct {
	Books struct {
		TotalCount int
		Correction string
		Nodes      []*book
		PageInfo   struct {
			HasNextPage, HasPreviousPage bool
			StartCursor, EndCursor       string
		}
		Aggregate struct{ Price struct{ Avg *string } }
		Facets    facets
	}
	Categories, Genres struct{ Nodes []named } // the selected ones
}

type named struct{ ID, Name string }

// booksView has the data of the list of books.
type booksView struct {
	listing
	Notes          []string
	Correction     string // corrected search; empty: none
	Total          int
	Average        string
	Books          []*book
	Shelf          []spine
	Sorts          []sortLink
	Chips          []chip
	Facets         []facetView
	Years, Prices  chart
	Previous, Next string // URLs of pages; empty: none
	Empty          bool   // the catalogue has no books
}

// sortLink is a caption of the list that sorts it.
type sortLink struct {
	Name, Label, URL     string
	Selected, Descending bool
}

// chip is an active filter. URL is the list without it.
type chip struct{ Label, Value, URL string }

// books returns the list of books.
func (p *Pages) books(r *http.Request) (*page, error) {
	l, notes := readListing(r.URL.Query())
	if to := l.URL(); len(notes) == 0 && to != r.URL.RequestURI() {
		return nil, redirect(to)
	}
	var response booksResponse
	playground, err := p.execute(r, "books", l.variables(), &response)
	if err != nil {
		return nil, err
	}
	books := response.Books
	view := &booksView{
		listing: l, Notes: notes, Correction: shortCorrection(books.Correction, books.Nodes), Total: books.TotalCount, Books: books.Nodes,
		Years: yearChart(l, books.Facets.Years), Prices: priceChart(l, books.Facets.Prices),
	}
	if avg := books.Aggregate.Price.Avg; avg != nil {
		view.Average = *avg
	}
	for _, b := range view.Books {
		b.Search = strings.ReplaceAll(cmp.Or(books.Correction, l.Search), "/", " ")
		view.Shelf = append(view.Shelf, spineOf(b))
	}
	view.Sorts = l.sortLinks()
	view.Facets = facetViews(l, &response)
	view.Chips = l.chips(view.Facets)
	view.Empty = view.Total == 0 && len(view.Chips) == 0 && l.Search == ""
	if books.PageInfo.HasPreviousPage {
		view.Previous = with(l, func(l *listing) { l.Before = books.PageInfo.StartCursor }).URL()
	}
	if books.PageInfo.HasNextPage {
		view.Next = with(l, func(l *listing) { l.After = books.PageInfo.EndCursor }).URL()
	}
	script := ""
	if view.Empty {
		script = "dialogs.js" // for the button that loads the sample
	}
	return &page{name: "books.html", Title: cmp.Or(l.Search, "Books"), Section: "books", Search: l.Search, Query: playground, Script: script, Main: view}, nil
}

// maxAlternatives is the maximum number of corrections shown for a word.
const maxAlternatives = 2

// shortCorrection returns a correction as text. For a word with several corrections it names the most frequent ones in
// rows, separated by "or".
func shortCorrection(correction string, rows []*book) string {
	found := map[string]int{}
	for _, row := range rows {
		for _, word := range collate.Words(row.Name + " " + row.Author) {
			found[word]++
		}
	}
	typed := strings.Fields(correction)
	for i, words := range typed {
		alternatives := strings.Split(words, "/")
		slices.SortStableFunc(alternatives, func(a, b string) int { return found[b] - found[a] })
		shown := min(maxAlternatives, len(alternatives))
		for shown > 1 && found[alternatives[shown-1]] == 0 {
			shown--
		}
		typed[i] = strings.Join(alternatives[:shown], " or ")
	}
	return strings.Join(typed, " ")
}

func (l listing) sortLinks() []sortLink {
	var links []sortLink
	for _, s := range sorts {
		if s.name == "match" && l.Search == "" {
			continue
		}
		link := sortLink{Name: s.name, Label: s.label, Selected: s.name == l.order().name, Descending: l.descends()}
		descending := s.descending
		if link.Selected && s.name != "match" {
			descending = !l.descends()
		}
		link.URL = l.sorted(s, descending).URL()
		links = append(links, link)
	}
	return links
}

// chips returns the active filters. Facets have the names of the selected values.
func (l listing) chips(facets []facetView) []chip {
	var chips []chip
	for _, facet := range facets {
		for _, v := range facet.Values {
			if v.Selected {
				chips = append(chips, chip{facet.Label, v.Label, v.toggled.URL()})
			}
		}
	}
	if l.From != "" || l.To != "" {
		chips = append(chips, chip{"Published", span(l.From, l.To), with(l, func(l *listing) { l.From, l.To = "", "" }).URL()})
	}
	if l.PriceMin != "" || l.PriceMax != "" {
		chips = append(chips, chip{"Price", span(l.PriceMin, l.PriceMax), with(l, func(l *listing) { l.PriceMin, l.PriceMax = "", "" }).URL()})
	}
	return chips
}

// span returns a range as text. An empty bound is open.
func span(low, high string) string {
	switch {
	case low == high:
		return low
	case low == "":
		return "up to " + high
	case high == "":
		return "from " + low
	}
	return low + " to " + high
}

// Cleared returns the URL of the list without filters.
func (l listing) Cleared() string {
	return listing{Search: l.Search, Sort: l.Sort, Descending: l.Descending}.URL()
}

// WithoutSearch returns the URL of the list with filters and no search.
func (l listing) WithoutSearch() string {
	return with(l, func(l *listing) { l.Search, l.Sort, l.Descending = "", "", false }).URL()
}

// Order returns the order of the list as text.
func (l listing) Order() string {
	s := l.order()
	switch s.name {
	case "match":
		return "Best match first"
	case "added":
		if l.descends() {
			return "Newest first"
		}
		return "Oldest first"
	}
	if l.descends() {
		return "By " + strings.ToLower(s.label) + ", descending"
	}
	return "By " + strings.ToLower(s.label)
}
