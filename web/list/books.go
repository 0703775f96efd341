// Package list draws the lists of books and of genres.
package list

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// Pages draws the lists.
type Pages struct{ view.Source }

// booksResponse is the response to books.graphql.
type booksResponse struct {
	view.Live
	Books struct {
		TotalCount int
		Correction string
		Nodes      []*row
		PageInfo   pageInfo
		Aggregate  struct{ Price struct{ Avg *string } }
		Facets     facets
	}
	Categories, Genres struct{ Nodes []view.Named } // the selected ones
}

type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       string
}

// booksView has the data of the list of books.
type booksView struct {
	listing
	Notes          []string
	Correction     string // corrected search; empty: none
	Total          int
	Order          string
	Average        string // price; empty: no books
	Books          []*row
	Shelf          []spine
	Sorts          []sortLink
	Chips          []chip
	Ways           []wayOut
	Facets         []facetView
	Years, Prices  chart
	Previous, Next string // URLs of pages; empty: none
	Range          string // positions of the books of this page; empty: all books, or unknown
	Empty          bool   // the catalogue has no books
	Query          string // playground's URL for the query
}

// sortLink is a caption of the list that sorts it.
type sortLink struct {
	Name, Label, URL     string
	Selected, Descending bool
}

// chip is an active filter.
type chip struct {
	Label, Value string
	without      listing
}

// URL returns the URL of the list without the filter.
func (c chip) URL() string { return c.without.URL() }

// Books returns the list of books.
func (p Pages) Books(r *http.Request) (*view.Page, error) {
	in := language.Of(r)
	l, notes := readListing(in, r.URL.Query())
	if to := l.URL(); len(notes) == 0 && to != r.URL.RequestURI() {
		return nil, view.RedirectError(to)
	}
	l.values.Del(language.Parameter)
	if err := p.readForms(r, &l); isBusy(err) {
		notes = append(notes, in.Text("The other forms of the authors could not be searched. Try again in a moment."))
	} else if err != nil {
		return nil, err
	}
	var response booksResponse
	playground, err := p.Execute(r, "books", l.variables(), &response)
	if l.Get("after")+l.Get("before") != "" && model.IsCode(err, model.BadUserInput) {
		l = l.with()
		notes = append(notes, in.Text("This address has an invalid position. These are the first books."))
		playground, err = p.Execute(r, "books", l.variables(), &response)
	}
	if err != nil {
		return nil, err
	}
	if err := p.findAuthors(r, l, &response); isBusy(err) {
		notes = append(notes, in.Text("The authors could not be searched. Try again in a moment."))
	} else if err != nil {
		return nil, err
	}
	notes = append(notes, missing(in, "There is no category %s.", l.values["category"], response.Categories.Nodes)...)
	notes = append(notes, missing(in, "There is no genre %s.", l.values["genre"], response.Genres.Nodes)...)
	books := response.Books
	if _, ok := isbn.Parse(l.Search()); ok && books.TotalCount == 1 { // a scanner has typed it
		return nil, view.RedirectError("/books/" + books.Nodes[0].ID)
	}
	data := &booksView{
		listing: l, Notes: notes, Correction: shortCorrection(in, books.Correction, books.Nodes),
		Total: books.TotalCount,
		Books: books.Nodes, Query: playground,
		Order: in.Text(l.inWords()),
		Years: yearChart(in, l, books.Facets.Years), Prices: priceChart(in, l, books.Facets.Prices),
	}
	showMarks(books.Nodes)
	if average := books.Aggregate.Price.Avg; average != nil {
		data.Average = in.Price(*average)
	}
	for _, b := range data.Books {
		b.Price = in.Price(b.Price)
		b.search = strings.ReplaceAll(cmp.Or(books.Correction, l.Search()), "/", " ")
		data.Shelf = append(data.Shelf, spineOf(b))
	}
	data.Sorts = l.sortLinks(in)
	data.Facets = facetViews(in, l, &response)
	data.Chips = l.chips(in, data.Facets)
	data.Empty = data.Total == 0 && len(data.Chips) == 0 && l.Search() == ""
	data.setPages(in, response.Books.PageInfo)
	shown := &view.Page{Name: "books.html", Title: cmp.Or(l.Search(), in.Text("Books")), Section: "books",
		Search: l.Search(),
		Script: "list.js", State: response.State, Covers: true, Path: l.URL(),
		Main: data}
	if data.Empty {
		shown.Query = playground // the list has the link elsewhere
	}
	if data.Total == 0 && !data.Empty {
		if data.Ways, err = p.waysOut(r, l, data.Chips); err != nil && !isBusy(err) {
			return nil, err
		}
	}
	return shown, nil
}

// setPages sets the range of the page and the URLs of its neighbours. A keyset page does not know its position: the
// first and the last page do, and others take it from the URL.
func (v *booksView) setPages(in *language.Language, info pageInfo) {
	at, _ := strconv.Atoi(v.Get("at"))
	switch {
	case !info.HasPreviousPage:
		at = 1
	case !info.HasNextPage:
		at = v.Total - len(v.Books) + 1
	}
	last := at + len(v.Books) - 1
	var before, after string // positions of the neighbours; empty: unknown
	if at > 0 && last <= v.Total && last >= at && len(v.Books) < v.Total {
		v.Range = in.Text("%s–%s of %s", in.Number(at), in.Number(last), in.Number(v.Total))
		before, after = strconv.Itoa(max(1, at-pageSize)), strconv.Itoa(last+1)
	}
	if info.HasPreviousPage {
		v.Previous = v.with("before", info.StartCursor, "at", before).URL()
	}
	if info.HasNextPage {
		v.Next = v.with("after", info.EndCursor, "at", after).URL()
	}
}

// missing returns notes about selected ids that do not exist.
func missing(in *language.Language, note language.Key, selected []string, found []view.Named) (notes []string) {
	for _, id := range selected {
		if !slices.ContainsFunc(found, func(n view.Named) bool { return n.ID == id }) {
			notes = append(notes, in.Text(note, id))
		}
	}
	return notes
}

// isBusy reports whether an error leaves a page readable without the part that failed.
func isBusy(err error) bool {
	return model.IsCode(err, model.RateLimited) || model.IsCode(err, model.Unavailable) ||
		model.IsCode(err, model.CostLimitExceeded)
}

// maxAlternatives is the maximum number of corrections shown for a word.
const maxAlternatives = 2

// shortCorrection returns a correction as text. For a word with several corrections it names the most frequent ones in
// rows, separated by "or".
func shortCorrection(in *language.Language, correction string, rows []*row) string {
	found := map[string]int{}
	for _, row := range rows {
		words, joined := collate.Entries(row.Name + " " + row.Author)
		for _, word := range slices.Concat(words, joined) {
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
		if typed[i] = alternatives[0]; shown > 1 {
			typed[i] = in.Text("%s or %s", alternatives[0], alternatives[1])
		}
	}
	return strings.Join(typed, " ")
}

func (l listing) sortLinks(in *language.Language) []sortLink {
	var links []sortLink
	for _, s := range sorts {
		if s.Name == "match" && l.Search() == "" ||
			(s.Name == "mark" || s.Name == "series") && l.Get("sort") != s.Name {
			continue
		}
		link := sortLink{Name: s.Name, Label: in.Text(s.Label), Selected: s.Name == l.order().Name,
			Descending: l.Descends()}
		sorted := l.with()
		sorted.setOrder(s, link.Selected && s.Name != "match" && !l.values.Has("dir"))
		link.URL = sorted.URL()
		links = append(links, link)
	}
	return links
}

// chips returns the active filters. Facets have the names of the selected values.
func (l listing) chips(in *language.Language, facets []facetView) []chip {
	var chips []chip
	for _, facet := range facets {
		for _, v := range facet.Values {
			if v.Selected {
				chips = append(chips, chip{facet.Label, v.Label, v.toggled})
			}
		}
	}
	if text := span(in, l.Get("from"), l.Get("to")); text != "" {
		chips = append(chips, chip{in.Text("Published"), text, l.with("from", "", "to", "")})
	}
	if text := span(in, in.Price(l.Get("price_min")), in.Price(l.Get("price_max"))); text != "" {
		chips = append(chips, chip{in.Text("Price"), text, l.with("price_min", "", "price_max", "")})
	}
	if since := l.Get("since"); since != "" {
		chips = append(chips, chip{in.Text("Changed since"), view.Minute(since), l.with("since", "")})
	}
	return chips
}

// span returns a range as text. An empty bound is open, and a range without bounds is empty.
func span(in *language.Language, low, high string) string {
	switch {
	case low == high:
		return low
	case low == "":
		return in.Text("up to %s", high)
	case high == "":
		return in.Text("from %s", low)
	}
	return in.Text("%s to %s", low, high)
}

// Found returns the variables, as JSON, that select all books of the list.
func (l listing) Found() (string, error) {
	text, err := json.Marshal(l.selection())
	return string(text), err
}

// First returns the URL of the first page.
func (l listing) First() string { return l.with().URL() }

// Cleared returns the URL of the list without filters.
func (l listing) Cleared() string {
	l.values = maps.Clone(l.values)
	maps.DeleteFunc(l.values, func(name string, _ []string) bool {
		return name != "q" && name != "sort" && name != "dir"
	})
	return l.URL()
}

// inWords returns the order of the list in words.
func (l listing) inWords() language.Key {
	if l.Descends() {
		return l.order().downward
	}
	return l.order().upward
}
