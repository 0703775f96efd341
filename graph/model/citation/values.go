package citation

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/textline"
)

// source has the fields of an entry for a key of model.ImportFields. The first one with a value counts.
type source struct{ key, fields string }

// bibTeXSources are the fields of BibTeX.
var bibTeXSources = []source{
	{"name", "title booktitle"},
	{"author", "author editor"},
	{"pages", "pagetotal numpages pages"},
	{"publisher", "publisher institution school organization"},
	{"language", "language langid"},
	{"shelf_mark", "library callnumber call-number lccn"},
	{"subtitle", "subtitle"},
	{"series", "series"},
	{"series_number", "number"},
	{"description", "abstract"},
	{"genre", "genre keywords"},
	{"isbn", "isbn"},
	{"price", "price"},
	{"category", "category"},
}

// book collects the values of an entry.
type book struct {
	texts  map[string]string // by field of the entry
	used   map[string]bool
	values map[string]string
}

func newBook(texts map[string]string) *book {
	return &book{texts, map[string]bool{}, map[string]string{}}
}

// set sets a value that is not empty.
func (b *book) set(key, text string) {
	if text != "" {
		b.values[key] = text
	}
}

// read sets the values of sources, a series before its number. convert converts the text of a field.
func (b *book) read(sources []source, convert func(key, field, text string) string) {
	for _, s := range sources {
		if s.key == "series_number" && b.values["series"] == "" {
			continue // the number of another thing
		}
		for field := range strings.FieldsSeq(s.fields) {
			if text := b.texts[field]; text != "" && !b.used[field] {
				b.used[field] = true
				b.set(s.key, convert(s.key, field, text))
				break
			}
		}
	}
}

// rest sets the fields that are not used.
func (b *book) rest(name func(field string) string) map[string]string {
	for field, text := range b.texts {
		if !b.used[field] {
			b.set(name(field), text)
		}
	}
	return b.values
}

// pageRange matches the pages of a part of a book, which are no number of pages.
var pageRange = regexp.MustCompile(`\d\s*(?:-|–|,)`)

// bookOf returns the values of an entry of BibTeX.
func bookOf(kind string, fields map[string]string) map[string]string {
	b := newBook(map[string]string{})
	for name, text := range fields {
		b.texts[name] = unlatex(text)
	}
	if pageRange.MatchString(fields["pages"]) {
		b.set("page range", b.texts["pages"])
		b.used["pages"] = true
	}
	b.read(bibTeXSources, func(key, field, text string) string {
		switch key {
		case "author":
			return namesOf(fields[field])
		case "language":
			return cmp.Or(babel[strings.ToLower(text)], text)
		}
		return text
	})
	b.set("published_at", b.date())
	if kind != "book" {
		b.set("entry type", kind)
	}
	return b.rest(func(field string) string {
		isKey := func(s source) bool { return s.key == field }
		if slices.ContainsFunc(bibTeXSources, isKey) || field == "published_at" {
			return field + " field"
		}
		return field
	})
}

// date returns the date of an entry: the one of BibLaTeX, or the year with its month and day.
func (b *book) date() string {
	for _, field := range []string{"date", "year", "month", "day"} {
		b.used[field] = true
	}
	if date := b.texts["date"]; date != "" {
		date, _, _ = strings.Cut(date, "/") // from 2003 to 2004
		return strings.TrimRight(date, "~?%")
	}
	year, month := b.texts["year"], strings.ToLower(b.texts["month"])
	if digits.MatchString(year) {
		year = "0000"[min(len(year), 4):] + year
	}
	number := month
	if i := slices.Index(months, month[:min(len(month), 3)]); i >= 0 && !strings.ContainsAny(month, "0123456789") {
		number = strconv.Itoa(i + 1)
	}
	if !digits.MatchString(number) || len(year) != 4 {
		return strings.TrimSpace(month + " " + year)
	}
	date := year + "-" + "00"[min(len(number), 2):] + number
	if day := b.texts["day"]; digits.MatchString(day) {
		date += "-" + "00"[min(len(day), 2):] + day
	}
	return date
}

var digits = regexp.MustCompile(`^\d{1,4}$`)

// babel maps names of languages in LaTeX to tags, where no other program has the name.
var babel = textline.Pairs(`
	ngerman:de austrian:de-AT naustrian:de-AT nswissgerman:de-CH swissgerman:de-CH american:en-US usenglish:en-US
	british:en-GB ukenglish:en-GB australian:en-AU canadian:en-CA newzealand:en-NZ francais:fr acadian:fr-CA
	canadien:fr-CA brazil:pt-BR brazilian:pt-BR portuges:pt mexican:es-MX magyar:hu norsk:nb bokmal:nb nynorsk:nn
	usorbian:hsb lsorbian:dsb bahasa:id bahasai:id bahasam:ms polutonikogreek:el
`)

// splitTop splits a text where match finds a separator outside braces. match returns its length, or 0.
func splitTop(text string, match func(string) int) (parts []string) {
	depth, start := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth == 0:
			if n := match(text[i:]); n > 0 {
				parts = append(parts, text[start:i])
				start = i + n
				i = start - 1
			}
		}
	}
	return append(parts, text[start:])
}

// maxAuthor is the maximum number of bytes of names that are read. A stored author has at most as many.
const maxAuthor = 4_000

// namesOf returns the author of a list of names: "Last, First", "von Last, Jr, First", "First von Last" and
// {Institution}.
func namesOf(list string) string {
	if list = oneLine(list); len(list) > maxAuthor {
		return unlatex(list)
	}
	var persons []author.Person
	const and = " and "
	separator := func(rest string) int {
		if len(rest) < len(and) || !strings.EqualFold(rest[:len(and)], and) {
			return 0
		}
		return len(and)
	}
	comma := func(rest string) int { return strings.Count(rest[:1], ",") }
	for _, name := range splitTop(list, separator) {
		parts := splitTop(name, comma)
		for i := range parts {
			parts[i] = unlatex(parts[i])
		}
		name = strings.TrimSpace(name)
		isWhole := strings.HasPrefix(name, "{") && strings.IndexByte(name, '}') == len(name)-1
		persons = append(persons, personsOf(parts, isWhole)...)
	}
	if len(persons) == 0 {
		return ""
	}
	return author.Join(persons)
}

// personsOf returns the person of a name in parts: family, suffix and given name, family and given name, or the whole
// name. isLiteral says that a whole name is one of an institution.
func personsOf(parts []string, isLiteral bool) []author.Person {
	switch whole := strings.Join(parts, ", "); {
	case strings.Trim(whole, ", ") == "", strings.EqualFold(whole, "others"), strings.EqualFold(whole, "et al."):
		return nil
	case len(parts) == 3 && parts[0] != "":
		return []author.Person{{Family: parts[0], Suffix: parts[1], Given: parts[2]}}
	case len(parts) == 2 && parts[0] != "" && parts[1] != "":
		return []author.Person{{Family: parts[0], Given: parts[1]}}
	case isLiteral || len(parts) > 1:
		return []author.Person{{Literal: strings.Trim(whole, ", ")}}
	default:
		if read := author.Parse(whole); len(read) == 1 {
			return read
		}
		return []author.Person{{Literal: whole}}
	}
}
