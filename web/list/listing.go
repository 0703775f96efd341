package list

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/citation"
	"library-catalogue/graph/model/lang"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// listing is a list of books by the parameters of its address. URL and readListing convert it.
type listing struct {
	values url.Values          // by parameter, in canonical form
	forms  map[string][]string // forms of the authors that were read
}

// Get returns the first value of a parameter, or "".
func (l listing) Get(name string) string { return l.values.Get(name) }

// Search returns the text of the search, or "".
func (l listing) Search() string { return l.Get("q") }

// More reports whether the filters by publisher and language are offered, which cost more.
func (l listing) More() bool { return l.values.Has("more") }

// impliesMore reports whether one of these filters is used.
func (l listing) impliesMore() bool { return l.values.Has("publisher") || l.values.Has("language") }

// sortOrder is an order of the list.
type sortOrder struct {
	Name             string
	Label            language.Key
	upward, downward language.Key // the order in words
	fields           string       // values of BookOrderField, separated by a space
	descending       bool         // default direction
}

var sorts = []sortOrder{
	{"match", "Best match", "Best match first", "Best match first", "RELEVANCE", false},
	{"added", "Added", "Oldest first", "Newest first", "ID", true},
	{"name", "Name", "By name", "By name, descending", "NAME", false},
	{"author", "Author", "By author", "By author, descending", "AUTHOR", false},
	{"genre", "Genre", "By genre", "By genre, descending", "GENRE_NAME", false},
	{"year", "Year", "By year", "By year, descending", "PUBLISHED_AT", true},
	{"pages", "Pages", "By pages", "By pages, descending", "PAGES", true},
	{"price", "Price", "By price", "By price, descending", "PRICE", false},
	// these are for what is printed
	{"mark", "Shelf mark", "By shelf mark", "By shelf mark, descending", "SHELF_MARK", false},
	{"series", "Series", "By series", "By series, descending", "SERIES SERIES_NUMBER", false},
}

const (
	pageSize       = 30
	maxSearchChars = 200
	maxSelected    = 50 // values of one facet
)

// parameter is a parameter of the address of a list.
type parameter struct {
	name    string
	max     int                                           // values that count
	parse   func(text string) (canonical string, ok bool) // takes trimmed texts; nil: all texts are canonical
	problem language.Key                                  // note about an invalid text; empty: it is ignored
}

// parameters are in the order of the canonical address.
var parameters = []parameter{
	{"q", 1, search, ""},
	{"category", maxSelected, id, "“%s” is not the id of a category."},
	{"genre", maxSelected, id, "“%s” is not the id of a genre."},
	{"author", maxSelected, nil, ""}, // each identity once
	{"publisher", maxSelected, nil, ""},
	{"language", maxSelected, lang.Parse, "“%s” is not a language."},
	{"from", 1, year, "“%s” is not a year. Use four digits, like 1984."},
	{"to", 1, year, "“%s” is not a year. Use four digits, like 1984."},
	{"price_min", 1, price, "“%s” is not a price. Use the form 15.71."},
	{"price_max", 1, price, "“%s” is not a price. Use the form 15.71."},
	// changed since, for links from an import
	{"since", 1, moment, "“%s” is not a time. Use the form 2026-01-31T12:00:00Z."},
	{"sort", 1, order, "“%s” is not an order. Choose one above the list."}, // by default match or added
	{"dir", 1, nil, ""},
	{"after", 1, nil, ""},  // cursor before the page
	{"before", 1, nil, ""}, // cursor after the page
	{"at", 1, id, ""},      // position of the page's first book, from 1
	{"find_genre", 1, trimmed, ""},
	{"find_author", 1, trimmed, ""},
	{"more", 1, nil, ""},
	{language.Parameter, 1, nil, ""}, // only of this page
}

func search(text string) (string, bool)  { return strings.Join(strings.Fields(text), " "), true }
func trimmed(text string) (string, bool) { return text, true }

// id parses an integer above 0.
func id(text string) (string, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return strconv.FormatInt(n, 10), err == nil && n > 0
}

func year(text string) (string, bool) {
	_, ok := model.ParseDate(day(text, "01-01"))
	return text, ok
}

func price(text string) (string, bool) {
	text = strings.ReplaceAll(text, ",", ".")
	cents, ok := model.ParseCents(text)
	return text, ok && !strings.HasPrefix(text, "-") && cents < 1e11
}

func moment(text string) (string, bool) { return text, new(model.Timestamp).UnmarshalGQL(text) == nil }

func order(text string) (string, bool) {
	return text, slices.ContainsFunc(sorts, func(s sortOrder) bool { return s.Name == text })
}

// readListing parses the query of a URL. It ignores unknown parameters and invalid values; notes has the messages about
// them.
func readListing(in *language.Language, query url.Values) (l listing, notes []string) {
	l.values = url.Values{}
	for _, p := range parameters {
		given := query[p.name]
		for _, text := range given[:min(len(given), p.max)] {
			value, ok := text, true
			if p.parse != nil {
				text = strings.TrimSpace(text)
				value, ok = p.parse(text)
			}
			chosen := l.values[p.name]
			switch {
			case text == "":
			case !ok && p.problem != "":
				notes = append(notes, in.Text(p.problem, view.Leading(text, 50)))
			case ok && value != "" && !slices.Contains(chosen, value) &&
				(p.name != "author" || sameAuthor(chosen, value) < 0):
				l.values.Add(p.name, value)
			}
		}
	}
	if text := l.Search(); utf8.RuneCountInString(text) > maxSearchChars {
		l.values.Set("q", view.Leading(text, maxSearchChars))
		notes = append(notes, in.Text("The search was cut to its first 200 characters."))
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.ContainsFunc(parameters, func(p parameter) bool { return p.name == name }) {
			notes = append(notes, in.Text("The list has no filter “%s”.", view.Leading(name, 50)))
		}
	}
	l.complete(query)
	return l, append(notes, l.contradictions(in)...)
}

// complete makes the parameters canonical that depend on others.
func (l listing) complete(query url.Values) {
	if s := l.order(); l.values.Has("sort") {
		l.setOrder(s, l.Get("dir") == flipped(s))
	} else {
		l.values.Del("dir")
	}
	if l.Get("after")+l.Get("before") == "" {
		l.values.Del("at")
	}
	if query.Has("more") || l.impliesMore() {
		l.values.Set("more", "1")
	}
}

// contradictions returns notes about ranges that no book is in.
func (l listing) contradictions(in *language.Language) (notes []string) {
	from, to := l.Get("from"), l.Get("to")
	if last := day(to, "12-31"); last != "" && day(from, "01-01") > last {
		notes = append(notes, in.Text("No book matches: %s is after %s.", from, to))
	}
	low, _ := model.ParseCents(l.Get("price_min"))
	if high, ok := model.ParseCents(l.Get("price_max")); ok && low > high {
		notes = append(notes, in.Text("No book matches: the price %s is above %s.",
			in.Price(l.Get("price_min")), in.Price(l.Get("price_max"))))
	}
	return notes
}

// flipped returns the value of dir for the opposite of the default direction.
func flipped(s sortOrder) string {
	if s.descending {
		return "asc"
	}
	return "desc"
}

// order returns the order of the list.
func (l listing) order() sortOrder {
	for _, s := range sorts {
		if s.Name == l.Get("sort") {
			return s
		}
	}
	if l.Search() != "" {
		return sorts[0]
	}
	return sorts[1]
}

// setOrder sets the order, or its opposite. The default order has no parameters, and the best match needs a search.
func (l listing) setOrder(s sortOrder, isFlipped bool) {
	l.values.Del("sort")
	l.values.Del("dir")
	if s.Name == "match" && l.Search() == "" {
		return
	}
	if s.Name != l.order().Name || isFlipped {
		l.values.Set("sort", s.Name)
	}
	if isFlipped {
		l.values.Set("dir", flipped(s))
	}
}

// Descends reports whether the list is in descending order.
func (l listing) Descends() bool { return l.order().descending != l.values.Has("dir") }

// URL returns the canonical URL of the list.
func (l listing) URL() string {
	var b strings.Builder
	for _, p := range parameters {
		if p.name == "more" && l.impliesMore() {
			continue
		}
		for _, value := range l.values[p.name] {
			b.WriteByte("?&"[min(b.Len(), 1)])
			b.WriteString(p.name + "=" + url.QueryEscape(value))
		}
	}
	return "/" + b.String()
}

// exportFormat is a format of /api/books. Name is its value of the parameter format.
type exportFormat struct{ Name, Label string }

// exportFormats are the formats that the page links to.
var exportFormats = func() []exportFormat {
	formats := []exportFormat{{"xlsx", "Excel"}, {"spreadsheet", "CSV"}, {"json", "JSON"}}
	for _, f := range citation.Formats {
		formats = append(formats, exportFormat{f.Name, f.Label})
	}
	return formats
}()

// Formats returns the formats that As takes.
func (l listing) Formats() []exportFormat { return exportFormats }

// As returns the URL of the whole list in a format. It returns "" for filters that /api does not have: several texts
// of one, and since.
func (l listing) As(format string) string {
	fields := strings.Fields(strings.ToLower(l.order().fields))
	if l.Descends() {
		for i, field := range fields {
			fields[i] = "-" + field
		}
	}
	query := url.Values{"format": {format}, "sort": {strings.Join(fields, ",")}}
	for name, values := range l.values {
		text := strings.Join(values, ",")
		switch name {
		case "q", "price_min", "price_max":
			query.Set(name, text)
		case "category", "genre":
			query.Set(name+"_id", text)
		case "author", "publisher", "language":
			if len(values) > 1 || name == "author" && len(l.authorForms()) > 1 {
				return ""
			}
			query.Set(name, text)
		case "from":
			query.Set("published_from", day(text, "01-01"))
		case "to":
			query.Set("published_to", day(text, "12-31"))
		case "since":
			return ""
		}
	}
	return "/api/books?" + query.Encode()
}

// byValue returns the URL of the books with a value of a parameter.
func byValue(name, value string) string { return listing{values: url.Values{name: {value}}}.URL() }

// SearchURL returns the URL of the books that match a search.
func SearchURL(text string) string { return byValue("q", text) }

// GenreURL returns the URL of the books of a genre.
func GenreURL(id string) string { return byValue("genre", id) }

// CategoryURL returns the URL of the books of a category.
func CategoryURL(id string) string { return byValue("category", id) }

// with returns the first page of the list, with all values of the filters and with other values of some parameters, as
// pairs of a name and a value. An empty value removes the parameter.
func (l listing) with(pairs ...string) listing {
	l.values = maps.Clone(l.values)
	for _, name := range []string{"after", "before", "at", "find_genre", "find_author"} {
		l.values.Del(name)
	}
	for pair := range slices.Chunk(pairs, 2) {
		l.values.Del(pair[0])
		if pair[1] != "" {
			l.values.Set(pair[0], pair[1])
		}
	}
	return l
}

// selection returns the variables that select the books of the list.
func (l listing) selection() view.Variables {
	v := view.Variables{"filter": l.filter()}
	if text := l.Search(); text != "" {
		v["search"] = text
	}
	return v
}

// variables returns the variables of books.graphql.
func (l listing) variables() view.Variables {
	direction := "ASC"
	if l.Descends() {
		direction = "DESC"
	}
	v := l.selection()
	v["bounds"], v["more"] = priceBounds, l.More()
	// for their names
	v["categories"], v["genres"] = append([]string{}, l.values["category"]...), append([]string{}, l.values["genre"]...)
	var orderBy []any
	for field := range strings.FieldsSeq(l.order().fields) {
		orderBy = append(orderBy, map[string]string{"field": field, "direction": direction})
	}
	v["orderBy"] = orderBy
	switch {
	case l.values.Has("before"):
		v["last"], v["before"] = pageSize, l.Get("before")
	case l.values.Has("after"):
		v["first"], v["after"] = pageSize, l.Get("after")
	default:
		v["first"] = pageSize
	}
	return v
}

// filter returns the filter of the list in GraphQL.
func (l listing) filter() filter {
	where := filter{}
	for field, values := range map[string][]string{
		"genreId": l.values["genre"], "author": l.authorForms(), "publisher": l.values["publisher"],
		"language": l.values["language"],
	} {
		if len(values) > 0 {
			where[field] = filter{"in": values}
		}
	}
	if ids := l.values["category"]; len(ids) > 0 {
		where["genre"] = filter{"categoryId": filter{"in": ids}}
	}
	addRange(where, "publishedAt", day(l.Get("from"), "01-01"), day(l.Get("to"), "12-31"))
	addRange(where, "price", l.Get("price_min"), l.Get("price_max"))
	addRange(where, "updatedAt", l.Get("since"), "")
	return where
}

// WithMore returns the URL of the list with all filters.
func (l listing) WithMore() string {
	l.values = maps.Clone(l.values)
	l.values.Set("more", "1")
	return l.URL()
}

// day returns a date of a year. It adds leading zeros to the year.
func day(year, monthDay string) string {
	if year == "" {
		return ""
	}
	return strings.Repeat("0", max(0, 4-len(year))) + year + "-" + monthDay
}

func addRange(where filter, field, low, high string) {
	bounds := filter{}
	if low != "" {
		bounds["gte"] = low
	}
	if high != "" {
		bounds["lte"] = high
	}
	if len(bounds) > 0 {
		where[field] = bounds
	}
}
