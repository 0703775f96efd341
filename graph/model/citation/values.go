package citation

import (
	"regexp"
	"slices"
	"strings"

	"library-catalogue/graph/model/author"
)

// source has the fields of BibTeX for a key.
type source struct {
	key    string
	fields []string
}

// sources are the fields of BibTeX, by key of model.ImportFields. The first one with a value counts.
var sources = []source{
	{"name", []string{"title", "booktitle"}},
	{"author", []string{"author", "editor"}},
	{"pages", []string{"pagetotal", "numpages", "pages"}},
	{"publisher", []string{"publisher", "institution", "school", "organization"}},
	{"language", []string{"language", "langid"}},
	{"shelf_mark", []string{"library", "callnumber", "call-number", "lccn"}},
	{"description", []string{"abstract"}},
	{"genre", []string{"genre", "keywords"}},
	{"isbn", []string{"isbn"}},
	{"price", []string{"price"}},
	{"category", []string{"category"}},
}

// pageRange matches the pages of a part of a book, which are no number of pages.
var pageRange = regexp.MustCompile(`\d\s*(?:-|–|,)`)

// bookOf returns the values of an entry of BibTeX.
func bookOf(kind string, fields map[string]string) map[string]string {
	values := map[string]string{}
	set := func(key, text string) {
		if text != "" {
			values[key] = text
		}
	}
	used := map[string]bool{}
	if pageRange.MatchString(fields["pages"]) {
		set("page range", unlatex(fields["pages"]))
		used["pages"] = true
	}
	for _, s := range sources {
		for _, name := range s.fields {
			text := unlatex(fields[name])
			if text == "" || used[name] {
				continue
			}
			used[name] = true
			switch s.key {
			case "name":
				if subtitle := unlatex(fields["subtitle"]); subtitle != "" && name == "title" {
					used["subtitle"] = true
					text += ": " + subtitle
				}
			case "author":
				text = namesOf(fields[name])
			case "language":
				text = languageOf(text)
			}
			set(s.key, text)
			break
		}
	}
	set("published_at", dateOf(fields, used))
	for name, text := range fields {
		if text = unlatex(text); !used[name] {
			if slices.ContainsFunc(sources, func(s source) bool { return s.key == name }) || name == "published_at" {
				name += " field"
			}
			set(name, text)
		}
	}
	if kind != "book" {
		set("entry type", kind)
	}
	return values
}

// dateOf returns the date of an entry: that of BibLaTeX, or the year with its month and day.
func dateOf(fields map[string]string, used map[string]bool) string {
	used["date"], used["year"], used["month"], used["day"] = true, true, true, true
	if date := unlatex(fields["date"]); date != "" {
		date, _, _ = strings.Cut(date, "/") // from 2003 to 2004
		return strings.TrimRight(date, "~?%")
	}
	year := unlatex(fields["year"])
	if digits.MatchString(year) {
		year = "0000"[min(len(year), 4):] + year
	}
	month := strings.ToLower(unlatex(fields["month"]))
	number := month
	if i := slices.Index(months, month[:min(len(month), 3)]); i >= 0 && !strings.ContainsAny(month, "0123456789") {
		number = twoDigits(i + 1)
	}
	if !digits.MatchString(number) || len(year) != 4 {
		return strings.TrimSpace(month + " " + year)
	}
	date := year + "-" + "00"[min(len(number), 2):] + number
	if day := unlatex(fields["day"]); digits.MatchString(day) {
		date += "-" + "00"[min(len(day), 2):] + day
	}
	return date
}

var digits = regexp.MustCompile(`^\d{1,4}$`)

func twoDigits(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }

// babel are the languages of LaTeX whose names are no names of languages.
var babel = map[string]string{
	"ngerman": "de", "austrian": "de-AT", "naustrian": "de-AT", "nswissgerman": "de-CH", "swissgerman": "de-CH", "american": "en-US", "usenglish": "en-US",
	"british": "en-GB", "ukenglish": "en-GB", "australian": "en-AU", "canadian": "en-CA", "newzealand": "en-NZ", "francais": "fr", "acadian": "fr-CA",
	"canadien": "fr-CA", "brazil": "pt-BR", "brazilian": "pt-BR", "portuges": "pt", "mexican": "es-MX", "magyar": "hu", "norsk": "nb", "bokmal": "nb",
	"nynorsk": "nn", "usorbian": "hsb", "lsorbian": "dsb", "bahasa": "id", "bahasai": "id", "bahasam": "ms", "polutonikogreek": "el",
}

// languageOf returns the language that a name of babel means, or the text.
func languageOf(text string) string {
	if tag, ok := babel[strings.ToLower(text)]; ok {
		return tag
	}
	return text
}

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

// namesOf returns the author of a list of names: "Last, First", "von Last, Jr, First", "First von Last" and {Institution}.
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

// personsOf returns the person of a name in parts: family, suffix and given name, family and given name, or the whole name.
// isLiteral says that a whole name is one of an institution.
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
