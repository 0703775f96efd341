package marc

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"library-catalogue/graph/model/author"
)

// author returns the names of the authors. It returns the statement of responsibility if it has the same persons, because
// our own records have the author there as it is stored, or if there are no names.
func (v *values) author() string {
	isMain := func(f DataField) bool { return f.Tag == "100" || f.Tag == "110" || f.Tag == "111" }
	isFurther := func(f DataField) bool {
		return (f.Tag == "700" || f.Tag == "710" || f.Tag == "711") && f.text('t') == ""
	}
	heads := v.fields(func(f DataField) bool { return isMain(f) || isFurther(f) && isAuthor(f) })
	if len(heads) == 0 {
		heads = v.fields(isFurther)
	}
	slices.SortStableFunc(heads, func(a, b DataField) int { return int(a.Tag[0]) - int(b.Tag[0]) }) // the main one first
	var texts []string
	for _, f := range heads {
		texts = append(texts, strings.Join(v.take(f, nameCodes(f)), " "))
	}
	if all := strings.Join(texts, "; "); len(all) > maxAuthor {
		return all
	}
	var persons []author.Person
	born := map[string]string{} // years of birth by identity
	for i, text := range texts {
		isPerson := heads[i].Tag[1:] == "00"
		if isPerson {
			text = author.ReadMARC(text)
		} else {
			text = TrimDot(TrimPunctuation(text))
		}
		key, birth := author.Identity(text), firstYear.FindString(heads[i].text('d'))
		before, isKnown := born[key]
		switch born[key] = cmp.Or(before, birth); {
		case text == "", isKnown && (before == "" || birth == "" || before == birth): // also in 100
		case isPerson:
			persons = append(persons, author.Parse(text)...)
		default:
			persons = append(persons, author.Person{Literal: text, Institution: true})
		}
	}
	joined := ""
	if len(persons) > 0 {
		joined = author.Join(persons)
	}
	said := v.tagged("245")
	if len(said) > 0 && len(said[0].text('c')) <= maxAuthor {
		c := TrimPunctuation(strings.TrimSpace(said[0].text('c')))
		spaced := withSpaces(c)
		texts := []string{strings.TrimSuffix(c, "."), c, strings.TrimSuffix(spaced, "."), spaced}
		if slices.Contains(texts, joined) { // the common case, without a look at the names
			texts = []string{joined}
		}
		texts = slices.DeleteFunc(texts, func(text string) bool {
			return text == "" || joined != "" && text != joined && author.Identity(text) != author.Identity(joined)
		})
		if len(texts) > 0 {
			v.take(said[0], "c")
			if joined == "" {
				return by.ReplaceAllString(texts[0], "")
			}
			// Texts with one identity differ in the signs and spaces of initials.
			i := slices.IndexFunc(texts, func(text string) bool { return author.Join(author.Parse(text)) == joined })
			return texts[max(i, 0)]
		}
	}
	return joined
}

// nameCodes returns the codes of the subfields with a name. The others have titles, dates, places and roles.
func nameCodes(f DataField) string {
	switch kind := f.Tag[1:]; {
	case kind == "00" && f.Indicators[0] != '0':
		return "abc"
	case kind == "11":
		return "ae" // $c is the place of a meeting
	}
	return "ab" // Elizabeth II, without Queen of Great Britain
}

var (
	firstYear = regexp.MustCompile(`\d{4}`)
	// by matches the beginning of a statement of responsibility.
	by = regexp.MustCompile(`(?i)^(?:written )?by `)
)

// maxAuthor is the maximum number of bytes of names that are read. A stored author has at most as many.
const maxAuthor = 4_000

// tightInitials matches initials without a space between them.
var tightInitials = regexp.MustCompile(`(^|\PL)(\pL\.)(\pL\.)`)

// withSpaces is the reverse of statement.
func withSpaces(text string) string {
	for tightInitials.MatchString(text) {
		text = tightInitials.ReplaceAllString(text, "$1$2 $3")
	}
	return text
}

// isAuthor reports whether an added entry is of an author: it names no role, or this one.
func isAuthor(f DataField) bool {
	isNamed, role := false, byte('e')
	if f.Tag[1:] == "11" {
		role = 'j'
	}
	for _, s := range f.Subfields {
		switch s.Code {
		case '4':
			if isNamed = true; strings.HasSuffix(s.Text, "aut") {
				return true
			}
		case role:
			if isNamed = true; authorRole.MatchString(s.Text) {
				return true
			}
		}
	}
	return !isNamed
}

// authorRole matches the role of an author in languages of cataloguing.
var authorRole = regexp.MustCompile(`(?i)^\W*(?:joint )?(?:author|co-?author|aut\b|verfasser|auteur|autor|autore|автор)`)
