package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"library-catalogue/graph/model/collate"
)

// booksAnswer is the answer to books.graphql.
type booksAnswer struct {
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
	Categories, Genres struct{ Nodes []named } // those that are chosen
}

type named struct{ ID, Name string }

// booksView is what the page of a list is drawn with.
type booksView struct {
	listing
	Notes          []string
	Correction     string // what was searched for in place of the search
	Total          int
	Average        string
	Books          []*book
	Shelf          []spine
	Sorts          []sortLink
	Chips          []chip
	Facets         []facetView
	Years, Prices  chart
	Previous, Next string // addresses of pages; empty: none
	Empty          bool   // the catalogue has no book at all
}

// sortLink is a caption of the list that puts it in order.
type sortLink struct {
	Name, Label, URL     string
	Selected, Descending bool
}

// chip is a filter in use, and the address of the list without it.
type chip struct{ Label, Value, URL string }

// books draws the list of books.
func (p *Pages) books(r *http.Request) (*page, error) {
	l, notes := readListing(r.URL.Query())
	if to := l.URL(); len(notes) == 0 && to != r.URL.RequestURI() {
		return nil, redirect(to)
	}
	var answer booksAnswer
	playground, err := p.execute(r, "books", l.variables(), &answer)
	if err != nil {
		return nil, err
	}
	books := answer.Books
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
	view.Facets = facetViews(l, &answer)
	view.Chips = l.chips(view.Facets)
	view.Empty = view.Total == 0 && len(view.Chips) == 0 && l.Search == ""
	if books.PageInfo.HasPreviousPage {
		view.Previous = with(l, func(l *listing) { l.Before = books.PageInfo.StartCursor }).URL()
	}
	if books.PageInfo.HasNextPage {
		view.Next = with(l, func(l *listing) { l.After = books.PageInfo.EndCursor }).URL()
	}
	return &page{name: "books.html", Title: cmp.Or(l.Search, "Books"), Section: "books", Search: l.Search, Query: playground, Main: view}, nil
}

// shownAlternatives is how many words of a correction are named for one that was typed.
const shownAlternatives = 2

// shortCorrection says a correction in words: of many that one stands for, those that
// most of the rows have, and none that no row has if another is in one.
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
		shown := min(shownAlternatives, len(alternatives))
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

// chips returns the filters in use. The names of what is chosen are in the facets.
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

// span says a range whose ends may be open in words.
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

// Cleared returns the address of the list without its filters.
func (l listing) Cleared() string {
	return listing{Search: l.Search, Sort: l.Sort, Descending: l.Descending}.URL()
}

// WithoutSearch returns the address of the list with its filters and no search.
func (l listing) WithoutSearch() string {
	return with(l, func(l *listing) { l.Search, l.Sort, l.Descending = "", "", false }).URL()
}

// Order says the order of the list in words.
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
		return "By " + strings.ToLower(s.label) + ", from the end"
	}
	return "By " + strings.ToLower(s.label)
}
