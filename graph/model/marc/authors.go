package marc

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"library-catalogue/graph/model/author"
)

// author returns the names of the authors. It returns the statement of responsibility if it has the same persons,
// because our own records store the author there, or if there are no names.
func (v *values) author() string {
	fields := v.nameFields()
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = strings.Join(v.take(f, nameCodes(f)), " ")
	}
	if all := strings.Join(texts, "; "); len(all) > maxAuthor {
		return all
	}
	names := joinNames(fields, texts)
	said := v.tagged("245")
	if len(said) == 0 || len(said[0].text('c')) > maxAuthor {
		return names
	}
	text, ok := statementOf(names, TrimPunctuation(strings.TrimSpace(said[0].text('c'))))
	if !ok {
		return names
	}
	v.take(said[0], "c")
	return text
}

// nameFields returns the fields of authors, the main one first, or else of other persons.
func (v *values) nameFields() []DataField {
	isMain := func(f DataField) bool { return f.Tag == "100" || f.Tag == "110" || f.Tag == "111" }
	isFurther := func(f DataField) bool {
		return (f.Tag == "700" || f.Tag == "710" || f.Tag == "711") && f.text('t') == ""
	}
	fields := v.fields(func(f DataField) bool { return isMain(f) || isFurther(f) && isAuthor(f) })
	if len(fields) == 0 {
		fields = v.fields(isFurther)
	}
	slices.SortStableFunc(fields, func(a, b DataField) int { return int(a.Tag[0]) - int(b.Tag[0]) })
	return fields
}

// joinNames joins the names in the texts of fields. It leaves out names that came before, unless the year of birth is
// another one.
func joinNames(fields []DataField, texts []string) string {
	var persons []author.Person
	born := map[string]string{} // years of birth by identity
	for i, text := range texts {
		isPerson := fields[i].Tag[1:] == "00"
		if isPerson {
			text = author.ReadMARC(text)
		} else {
			text = TrimDot(TrimPunctuation(text))
		}
		key, birth := author.Identity(text), firstYear.FindString(fields[i].text('d'))
		before, isKnown := born[key]
		switch born[key] = cmp.Or(before, birth); {
		case text == "", isKnown && (before == "" || birth == "" || before == birth): // also in 100
		case isPerson:
			persons = append(persons, author.Parse(text)...)
		default:
			persons = append(persons, author.Person{Literal: text, Institution: true})
		}
	}
	if len(persons) == 0 {
		return ""
	}
	return author.Join(persons)
}

// statementOf returns a statement of responsibility as the author, if it has the same names or there are none.
func statementOf(names, text string) (_ string, ok bool) {
	spaced := withSpaces(text)
	texts := []string{strings.TrimSuffix(text, "."), text, strings.TrimSuffix(spaced, "."), spaced}
	if slices.Contains(texts, names) && names != "" { // the common case, without a look at the names
		return names, true
	}
	texts = slices.DeleteFunc(texts, func(text string) bool {
		return text == "" || names != "" && author.Identity(text) != author.Identity(names)
	})
	switch {
	case len(texts) == 0:
		return "", false
	case names == "":
		return by.ReplaceAllString(texts[0], ""), true
	}
	// Texts with one identity differ in the signs and spaces of initials.
	i := slices.IndexFunc(texts, func(text string) bool { return author.Join(author.Parse(text)) == names })
	return texts[max(i, 0)], true
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
var authorRole = regexp.MustCompile(
	`(?i)^\W*(?:joint )?(?:author|co-?author|aut\b|verfasser|auteur|autor|autore|автор)`)
