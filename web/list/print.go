package list

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// maxPrinted is the number of books that print.graphql asks for.
const maxPrinted = 1000

// printView has the data of a list to print and of labels.
type printView struct {
	listing
	Notes  []string
	IDs    string // the books to print, separated by commas; empty: all of the list
	Books  []*row
	Total  int
	Sorts  []sortOrder
	Sheet  sheet
	Used   int // labels of the first sheet that are used up
	Sheets []sheet
}

// sheet is a sheet of labels in A4. print.css has its sizes by its name.
type sheet struct {
	Name, Label   string
	Columns, Rows int
}

// sheets are common ones, the default first.
var sheets = []sheet{
	{"s24", "3 × 8, 70 × 37 mm (Avery 3474, Herma 4453)", 3, 8},
	{"s21", "3 × 7, 63.5 × 38.1 mm (Avery L7160)", 3, 7},
	{"s14", "2 × 7, 99.1 × 38.1 mm (Avery L7163)", 2, 7},
	{"s40", "4 × 10, 52.5 × 29.7 mm (Avery 3651)", 4, 10},
	{"s65", "5 × 13, 38.1 × 21.2 mm (Avery L7651)", 5, 13},
}

// Print returns the list to print.
func (p Pages) Print(r *http.Request) (*view.Page, error) {
	return p.printed(r, "print.html", "List to print")
}

// Labels returns the labels of the books of a list, for the spines of books.
func (p Pages) Labels(r *http.Request) (*view.Page, error) {
	return p.printed(r, "labels.html", "Labels to print")
}

// printed returns a page of the books of a list, or of those that the parameter ids names.
func (p Pages) printed(r *http.Request, template string, title language.Key) (*view.Page, error) {
	query := r.URL.Query()
	asIDs, sheetName := query.Get("ids"), query.Get("sheet")
	used, _ := strconv.Atoi(query.Get("used")) // 0 if it is no number
	for _, name := range []string{"ids", "sheet", "used", language.Parameter} {
		query.Del(name)
	}
	l, notes := readListing(language.Of(r), query)
	if err := p.readForms(r, &l); err != nil {
		return nil, err
	}
	chosenSheet := sheets[max(0, slices.IndexFunc(sheets, func(s sheet) bool { return s.Name == sheetName }))]
	data := &printView{
		listing: l.with(), Notes: notes, Sorts: sorts, Sheets: sheets, Sheet: chosenSheet,
		Used: min(max(used, 0), chosenSheet.Columns*chosenSheet.Rows-1),
	}
	v := data.variables()
	chosen := []string{}
	for text := range strings.SplitSeq(asIDs, ",") {
		if id := model.ParseID(text); id > 0 && len(chosen) < maxPrinted {
			chosen = append(chosen, id.String())
		}
	}
	if asIDs != "" {
		v["filter"], data.IDs = filter{"id": filter{"in": chosen}}, strings.Join(chosen, ",")
	}
	asked := view.Variables{"filter": v["filter"], "orderBy": v["orderBy"]}
	if text := l.Search(); text != "" && asIDs == "" {
		asked["search"] = text
	}
	var response struct {
		Books struct {
			TotalCount int
			Nodes      []*row
		}
	}
	if _, err := p.Execute(r, "print", asked, &response); err != nil {
		return nil, err
	}
	data.Books, data.Total = response.Books.Nodes, response.Books.TotalCount
	return &view.Page{Name: template, Title: language.Of(r).Text(title), Section: "books",
		Search: l.Search(), Script: "print.js",
		Main: data}, nil
}

// Kept returns the parameters of the list that the form of the page does not have.
func (v *printView) Kept() url.Values {
	kept := maps.Clone(v.values)
	for _, name := range []string{"sort", "dir", "more"} {
		kept.Del(name)
	}
	if v.IDs != "" {
		kept.Set("ids", v.IDs)
	}
	return kept
}

// HasMark, HasSeries and HasISBN report whether a book has a shelf mark, a series, an ISBN.
func (v *printView) HasMark() bool {
	return slices.ContainsFunc(v.Books, func(b *row) bool { return b.ShelfMark != "" })
}
func (v *printView) HasSeries() bool {
	return slices.ContainsFunc(v.Books, func(b *row) bool { return b.Series != "" })
}
func (v *printView) HasISBN() bool {
	return slices.ContainsFunc(v.Books, func(b *row) bool { return b.ISBN != "" })
}

// maxCounted is the number of characters of a text that count for the width of its column; longer texts wrap.
const maxCounted = 60

// Widths returns the widths of the columns of names, authors and genres in percent, as their texts are long on
// average. The rest is for columns of fixed width.
func (v *printView) Widths() (widths [3]int) {
	sums := [3]int{1, 1, 1}
	for _, b := range v.Books {
		for i, text := range []string{b.Name + b.Subtitle, b.Author, b.Genre.Name} {
			sums[i] += min(utf8.RuneCountInString(text), maxCounted)
		}
	}
	share := 92
	if v.HasMark() {
		share -= 12
	}
	if v.HasSeries() {
		share -= 14
	}
	if v.HasISBN() {
		share -= 14
	}
	for i, sum := range sums {
		widths[i] = sum * share / (sums[0] + sums[1] + sums[2])
	}
	return widths
}

// Order returns the name of the order.
func (v *printView) Order() string { return v.order().Name }

// Pages returns the labels sheet by sheet; nil is an empty place.
func (v *printView) Pages() [][]*row {
	places := append(make([]*row, v.Used), v.Books...)
	return slices.Collect(slices.Chunk(places, v.Sheet.Columns*v.Sheet.Rows))
}

// PrintURL returns the address of the list to print.
func (l listing) PrintURL() string { return "/print" + strings.TrimPrefix(l.with().URL(), "/") }

// LabelsURL returns the address of the labels of the list.
func (l listing) LabelsURL() string { return "/labels" + strings.TrimPrefix(l.with().URL(), "/") }
