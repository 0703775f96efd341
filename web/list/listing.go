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
	"library-catalogue/web/view"
)

// listing has the parameters of a list of books. URL and readListing convert it.
type listing struct {
	Search     string
	Categories []string // ids, like Genres
	Genres     []string
	Authors    []string            // each identity once
	forms      map[string][]string // of Authors, as far as they are read
	Publishers []string
	Languages  []string // tags
	From, To   string   // years
	PriceMin   string
	PriceMax   string
	Since      string // time (RFC 3339) from which the books were changed, as after an import
	Sort       string // a name in sorts; empty: best match with a search, else newest first
	Descending bool
	After      string // cursor before the page
	Before     string // cursor after the page
	At         int    // position of the page's first book, from 1; 0: unknown
	FindGenre  string // text in the genres that the filter offers, like FindAuthor
	FindAuthor string
	More       bool // the filters by publisher and language are offered, which cost more
}

// sortOrder is an order of the list.
type sortOrder struct {
	Name, Label string
	field       string // value of BookOrderField
	descending  bool   // default direction
}

var sorts = []sortOrder{
	{"match", "Best match", "RELEVANCE", false},
	{"added", "Added", "ID", true},
	{"name", "Name", "NAME", false},
	{"author", "Author", "AUTHOR", false},
	{"genre", "Genre", "GENRE_NAME", false},
	{"year", "Year", "PUBLISHED_AT", true},
	{"pages", "Pages", "PAGES", true},
	{"price", "Price", "PRICE", false},
	{"mark", "Shelf mark", "SHELF_MARK", false}, // for what is printed
}

const (
	pageSize       = 30
	maxSearchChars = 200
	maxSelected    = 50 // values of one facet
)

// parameters are the parameters of a list.
var parameters = []string{
	"q", "category", "genre", "author", "publisher", "language", "from", "to", "price_min", "price_max", "since", "sort", "dir", "after", "before", "at", "find_genre", "find_author", "more",
}

// readListing parses the query of a URL. It ignores unknown parameters and invalid values; notes has the messages about
// them.
func readListing(query url.Values) (l listing, notes []string) {
	note := func(text string) { notes = append(notes, text) }
	l.Search = strings.Join(strings.Fields(query.Get("q")), " ")
	if utf8.RuneCountInString(l.Search) > maxSearchChars {
		l.Search = string([]rune(l.Search)[:maxSearchChars])
		note("The search was cut to its first 200 characters.")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(parameters, name) {
			note("The list has no filter “" + view.Leading(name, 50) + "”.")
		}
	}
	ids := func(name string) []string {
		ids, wrong := ids(query[name])
		for _, text := range wrong {
			note("“" + view.Leading(text, 50) + "” is not the id of a " + name + ".")
		}
		return ids
	}
	l.Categories, l.Genres = ids("category"), ids("genre")
	texts := func(name string) []string {
		texts := slices.DeleteFunc(slices.Clone(query[name]), func(text string) bool { return text == "" })
		return texts[:min(len(texts), maxSelected)]
	}
	for _, name := range texts("author") {
		if sameAuthor(l.Authors, name) < 0 {
			l.Authors = append(l.Authors, name)
		}
	}
	l.Publishers = texts("publisher")
	for _, text := range texts("language") {
		if tag, ok := lang.Parse(text); ok {
			l.Languages = append(l.Languages, tag)
		} else {
			note("“" + view.Leading(text, 50) + "” is not a language.")
		}
	}
	year := func(key string) string {
		text := strings.TrimSpace(query.Get(key))
		if _, ok := model.ParseDate(day(text, "01-01")); text != "" && !ok {
			note("“" + text + "” is not a year. Use four digits, like 1984.")
			return ""
		}
		return text
	}
	l.From, l.To = year("from"), year("to")
	if from, to := day(l.From, "01-01"), day(l.To, "12-31"); to != "" && from > to {
		note("No book matches: " + l.From + " is after " + l.To + ".")
	}
	price := func(key string) string {
		text := strings.ReplaceAll(strings.TrimSpace(query.Get(key)), ",", ".")
		if cents, ok := model.ParseCents(text); text != "" && (!ok || strings.HasPrefix(text, "-") || cents >= 1e11) {
			note("“" + text + "” is not a price. Use the form 15.71.")
			return ""
		}
		return text
	}
	l.PriceMin, l.PriceMax = price("price_min"), price("price_max")
	low, _ := model.ParseCents(l.PriceMin)
	if high, ok := model.ParseCents(l.PriceMax); ok && low > high {
		note("No book matches: the price " + l.PriceMin + " is above " + l.PriceMax + ".")
	}
	if l.Since = query.Get("since"); l.Since != "" {
		if err := new(model.Timestamp).UnmarshalGQL(l.Since); err != nil {
			note("“" + view.Leading(l.Since, 50) + "” is not a time. Use the form 2026-01-31T12:00:00Z.")
			l.Since = ""
		}
	}
	sort := query.Get("sort")
	if i := slices.IndexFunc(sorts, func(s sortOrder) bool { return s.Name == sort }); i >= 0 {
		l = l.sorted(sorts[i], sorts[i].descending != (query.Get("dir") == flipped(sorts[i])))
	} else if sort != "" {
		note("“" + view.Leading(sort, 50) + "” is not an order. Choose one above the list.")
	}
	l.FindGenre, l.FindAuthor = strings.TrimSpace(query.Get("find_genre")), strings.TrimSpace(query.Get("find_author"))
	l.More = query.Has("more") || len(l.Publishers)+len(l.Languages) > 0
	l.After, l.Before = query.Get("after"), query.Get("before")
	if l.After != "" || l.Before != "" {
		l.At, _ = strconv.Atoi(query.Get("at")) // 0 if it is no number
		l.At = max(0, l.At)
	}
	return l, notes
}

// flipped returns the value of dir for the opposite of the default direction.
func flipped(s sortOrder) string {
	if s.descending {
		return "asc"
	}
	return "desc"
}

// ids returns the ids in texts, each once, and the other texts.
func ids(texts []string) (ids, wrong []string) {
	for _, text := range texts {
		n, err := strconv.ParseInt(text, 10, 64)
		switch id := strconv.FormatInt(n, 10); {
		case text != "" && (err != nil || n < 1):
			wrong = append(wrong, text)
		case text != "" && !slices.Contains(ids, id) && len(ids) < maxSelected:
			ids = append(ids, id)
		}
	}
	return ids, wrong
}

// order returns the order of the list.
func (l listing) order() sortOrder {
	for _, s := range sorts {
		if s.Name == l.Sort {
			return s
		}
	}
	if l.Search != "" {
		return sorts[0]
	}
	return sorts[1]
}

// descends reports whether the list is in descending order.
func (l listing) descends() bool {
	if l.Sort == "" {
		return l.order().descending
	}
	return l.Descending
}

// URL returns the canonical URL of the list.
func (l listing) URL() string {
	var b strings.Builder
	add := func(key string, values ...string) {
		for _, value := range values {
			if value == "" {
				continue
			}
			b.WriteByte("?&"[min(b.Len(), 1)])
			b.WriteString(key + "=" + url.QueryEscape(value))
		}
	}
	add("q", l.Search)
	add("category", l.Categories...)
	add("genre", l.Genres...)
	add("author", l.Authors...)
	add("publisher", l.Publishers...)
	add("language", l.Languages...)
	add("from", l.From)
	add("to", l.To)
	add("price_min", l.PriceMin)
	add("price_max", l.PriceMax)
	add("since", l.Since)
	if l.Sort != "" {
		add("sort", l.Sort)
		if s := l.order(); l.Descending != s.descending {
			add("dir", flipped(s))
		}
	}
	add("after", l.After)
	add("before", l.Before)
	if l.At > 0 {
		add("at", strconv.Itoa(l.At))
	}
	add("find_genre", l.FindGenre)
	add("find_author", l.FindAuthor)
	if l.More && len(l.Publishers)+len(l.Languages) == 0 {
		add("more", "1")
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

// As returns the URL of the whole list in a format. It returns "" for filters that /api does not have: several texts of one, and
// Since.
func (l listing) As(format string) string {
	if l.Since != "" || len(l.authorForms()) > 1 || len(l.Publishers) > 1 || len(l.Languages) > 1 {
		return ""
	}
	sort := strings.ToLower(l.order().field)
	if l.descends() {
		sort = "-" + sort
	}
	query := url.Values{"format": {format}, "sort": {sort}}
	for key, value := range map[string]string{
		"q": l.Search, "category_id": strings.Join(l.Categories, ","), "genre_id": strings.Join(l.Genres, ","), "author": strings.Join(l.Authors, ""),
		"publisher": strings.Join(l.Publishers, ""), "language": strings.Join(l.Languages, ""),
		"published_from": day(l.From, "01-01"), "published_to": day(l.To, "12-31"), "price_min": l.PriceMin, "price_max": l.PriceMax,
	} {
		if value != "" {
			query.Set(key, value)
		}
	}
	return "/api/books?" + query.Encode()
}

// SearchURL returns the URL of the books that match a search.
func SearchURL(text string) string { return listing{Search: text}.URL() }

// GenreURL returns the URL of the books of a genre.
func GenreURL(id string) string { return listing{Genres: []string{id}}.URL() }

// CategoryURL returns the URL of the books of a category.
func CategoryURL(id string) string { return listing{Categories: []string{id}}.URL() }

// first returns the first page of the list, with all values of the filters.
func (l listing) first() listing {
	l.After, l.Before, l.At, l.FindGenre, l.FindAuthor = "", "", 0, "", ""
	return l
}

// sorted returns the list in an order. It leaves Sort empty for the default order.
func (l listing) sorted(s sortOrder, descending bool) listing {
	l = l.first()
	l.Sort, l.Descending = "", false
	if s.Name == "match" && l.Search == "" {
		return l
	}
	if s.Name != l.order().Name || descending != s.descending {
		l.Sort, l.Descending = s.Name, descending
	}
	return l
}

// selection returns the variables that select the books of the list.
func (l listing) selection() view.Variables {
	v := view.Variables{"filter": l.filter()}
	if l.Search != "" {
		v["search"] = l.Search
	}
	return v
}

// variables returns the variables of books.graphql.
func (l listing) variables() view.Variables {
	direction := "ASC"
	if l.descends() {
		direction = "DESC"
	}
	v := l.selection()
	v["bounds"], v["more"] = priceBounds, l.More
	v["categories"], v["genres"] = append([]string{}, l.Categories...), append([]string{}, l.Genres...) // for their names
	v["orderBy"] = []any{map[string]string{"field": l.order().field, "direction": direction}}
	switch {
	case l.Before != "":
		v["last"], v["before"] = pageSize, l.Before
	case l.After != "":
		v["first"], v["after"] = pageSize, l.After
	default:
		v["first"] = pageSize
	}
	return v
}

// filter returns the filter of the list in GraphQL.
func (l listing) filter() map[string]any {
	filter := map[string]any{}
	if len(l.Categories) > 0 {
		filter["genre"] = map[string]any{"categoryId": map[string]any{"in": l.Categories}}
	}
	if len(l.Genres) > 0 {
		filter["genreId"] = map[string]any{"in": l.Genres}
	}
	for field, values := range map[string][]string{"author": l.authorForms(), "publisher": l.Publishers, "language": l.Languages} {
		if len(values) > 0 {
			filter[field] = map[string]any{"in": values}
		}
	}
	addRange(filter, "publishedAt", day(l.From, "01-01"), day(l.To, "12-31"))
	addRange(filter, "price", l.PriceMin, l.PriceMax)
	addRange(filter, "updatedAt", l.Since, "")
	return filter
}

// WithMore returns the URL of the list with all filters.
func (l listing) WithMore() string {
	l.More = true
	return l.URL()
}

// day returns a date of a year. It adds leading zeros to the year.
func day(year, monthDay string) string {
	if year == "" {
		return ""
	}
	return strings.Repeat("0", max(0, 4-len(year))) + year + "-" + monthDay
}

func addRange(filter map[string]any, field, low, high string) {
	bounds := map[string]any{}
	if low != "" {
		bounds["gte"] = low
	}
	if high != "" {
		bounds["lte"] = high
	}
	if len(bounds) > 0 {
		filter[field] = bounds
	}
}
