package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// listing is what a list of books is asked for. Its address says all of it.
type listing struct {
	Search     string
	Categories []string // ids, like Genres
	Genres     []string
	Authors    []string
	From, To   string // years
	PriceMin   string
	PriceMax   string
	Sort       string // one of sorts; empty: the best match of a search, else the newest
	Descending bool
	After      string // the cursor before the page
	Before     string // the cursor that follows it
}

// sortOrder is an order of the books that people choose.
type sortOrder struct {
	name, label string
	field       string // of BookOrderField
	descending  bool   // at the first click
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
}

const (
	pageSize  = 30
	maxSearch = 200 // characters that are looked for
	maxChosen = 50  // values of one facet that may be chosen
)

// readListing reads an address. What it does not know is passed over, and so is a
// value that cannot be: notes says which.
func readListing(query url.Values) (l listing, notes []string) {
	note := func(words string) { notes = append(notes, words) }
	l.Search = strings.Join(strings.Fields(query.Get("q")), " ")
	if utf8.RuneCountInString(l.Search) > maxSearch {
		l.Search = string([]rune(l.Search)[:maxSearch])
		note("Only the first 200 characters of the search were looked for.")
	}
	l.Categories = ids(query["category"])
	l.Genres = ids(query["genre"])
	l.Authors = slices.DeleteFunc(query["author"], func(author string) bool { return author == "" })
	l.Authors = l.Authors[:min(len(l.Authors), maxChosen)]
	year := func(key string) string {
		text := strings.TrimSpace(query.Get(key))
		if _, ok := model.ParseDate(day(text, "01-01")); text != "" && !ok {
			note("“" + text + "” is no year: write it like 1984.")
			return ""
		}
		return text
	}
	l.From, l.To = year("from"), year("to")
	price := func(key string) string {
		text := strings.ReplaceAll(strings.TrimSpace(query.Get(key)), ",", ".")
		if cents, ok := model.ParseCents(text); text != "" && (!ok || strings.HasPrefix(text, "-") || cents >= 1e11) {
			note("“" + text + "” is no price: write it like 15.71.")
			return ""
		}
		return text
	}
	l.PriceMin, l.PriceMax = price("price_min"), price("price_max")
	if i := slices.IndexFunc(sorts, func(s sortOrder) bool { return s.name == query.Get("sort") }); i >= 0 {
		l = l.sorted(sorts[i], sorts[i].descending != (query.Get("dir") == flipped(sorts[i])))
	}
	l.After, l.Before = query.Get("after"), query.Get("before")
	return l, notes
}

// flipped is the dir in the address of an order that goes the other way than at the
// first click.
func flipped(s sortOrder) string {
	if s.descending {
		return "asc"
	}
	return "desc"
}

func ids(texts []string) (ids []string) {
	for _, text := range texts {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && !slices.Contains(ids, text) && len(ids) < maxChosen {
			ids = append(ids, strconv.FormatInt(n, 10))
		}
	}
	return ids
}

// order returns the order that the list is in.
func (l listing) order() sortOrder {
	for _, s := range sorts {
		if s.name == l.Sort {
			return s
		}
	}
	if l.Search != "" {
		return sorts[0]
	}
	return sorts[1]
}

// descends reports whether the list goes from the highest value to the lowest.
func (l listing) descends() bool {
	if l.Sort == "" {
		return l.order().descending
	}
	return l.Descending
}

// URL returns the one address of the list.
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
	add("from", l.From)
	add("to", l.To)
	add("price_min", l.PriceMin)
	add("price_max", l.PriceMax)
	if l.Sort != "" {
		add("sort", l.Sort)
		if s := l.order(); l.Descending != s.descending {
			add("dir", flipped(s))
		}
	}
	add("after", l.After)
	add("before", l.Before)
	return "/" + b.String()
}

// CSV returns the address of the whole list as CSV; empty where /api cannot say which
// books it has: it takes one author.
func (l listing) CSV() string {
	if len(l.Authors) > 1 {
		return ""
	}
	sort := strings.ToLower(l.order().field)
	if l.descends() {
		sort = "-" + sort
	}
	query := url.Values{"format": {"spreadsheet"}, "sort": {sort}}
	for key, value := range map[string]string{
		"q": l.Search, "category_id": strings.Join(l.Categories, ","), "genre_id": strings.Join(l.Genres, ","), "author": strings.Join(l.Authors, ""),
		"published_from": day(l.From, "01-01"), "published_to": day(l.To, "12-31"), "price_min": l.PriceMin, "price_max": l.PriceMax,
	} {
		if value != "" {
			query.Set(key, value)
		}
	}
	return "/api/books?" + query.Encode()
}

// first returns the list from its first page on.
func (l listing) first() listing {
	l.After, l.Before = "", ""
	return l
}

// sorted returns the list in an order; the one that it is in without a word is not
// said.
func (l listing) sorted(s sortOrder, descending bool) listing {
	l = l.first()
	l.Sort, l.Descending = "", false
	if s.name == "match" && l.Search == "" {
		return l
	}
	if s.name != l.order().name || descending != s.descending {
		l.Sort, l.Descending = s.name, descending
	}
	return l
}

// variables returns the variables of the query for the list.
func (l listing) variables() variables {
	filter := map[string]any{}
	if len(l.Categories) > 0 {
		filter["genre"] = map[string]any{"categoryId": map[string]any{"in": l.Categories}}
	}
	if len(l.Genres) > 0 {
		filter["genreId"] = map[string]any{"in": l.Genres}
	}
	if len(l.Authors) > 0 {
		filter["author"] = map[string]any{"in": l.Authors}
	}
	addRange(filter, "publishedAt", day(l.From, "01-01"), day(l.To, "12-31"))
	addRange(filter, "price", l.PriceMin, l.PriceMax)
	direction := "ASC"
	if l.descends() {
		direction = "DESC"
	}
	v := variables{
		"filter": filter, "bounds": priceBounds,
		"categories": append([]string{}, l.Categories...), "genres": append([]string{}, l.Genres...), // for their names
		"orderBy": []any{map[string]string{"field": l.order().field, "direction": direction}},
	}
	if l.Search != "" {
		v["search"] = l.Search
	}
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

// day returns a day of a year, which may have fewer than four digits.
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
