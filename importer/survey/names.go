package survey

import (
	"slices"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// Points of the evidence for a column.
const (
	wordPoints = 10 // for each word of the name, at most two
	namePoints = 4  // for a word like name
)

// Name is the name of a column. It counts its words once, because each field is compared with all others.
type Name struct {
	parts  []string
	counts map[string]int // by the list of words
}

// ParseName returns the words of a name.
func ParseName(name string) Name { return newName(split(name)) }

func newName(parts []string) Name {
	n := Name{parts, map[string]int{}}
	for list := range wordLists {
		if found := count(list, parts); found > 0 {
			n.counts[list] = found
		}
	}
	return n
}

// NamePoints returns how much the name of a column speaks for a field, as Name.Points does.
func NamePoints(name, field string) int { return ParseName(name).Points(field) }

// Points returns how much the name speaks for a field. It is 0 if it says nothing, and negative if it names another
// thing.
func (n Name) Points(field string) int {
	found := n.counts[field]
	if found > 0 && (field == "pages" || field == "shelf_mark") { // Nr. of pages, Raf No
		n = newName(slices.DeleteFunc(slices.Clone(n.parts), func(part string) bool {
			return part == "nr" || part == "no"
		}))
	}
	switch {
	case n.counts[other] > 0, n.namesFurther(field):
		return -1
	case found > 0:
		return wordPoints * min(found, 2)
	case n.counts[vague] > 0 && model.ImportField(field).Kind != model.KindText:
		return 0
	case n.counts[vague] > 0, n.namesField():
		return -1 // it names another field
	case field == "name" && n.counts[anything] > 0:
		return namePoints
	}
	return 0
}

// namesFurther reports whether the name has a word of an optional field other than a field. The publisher's year is the
// year.
func (n Name) namesFurther(field string) bool {
	return slices.ContainsFunc(model.ImportFields, func(further string) bool {
		if further == field || !model.ImportField(further).Is(model.OnInclude) || n.counts[further] == 0 {
			return false
		}
		isFurther := func(part string) bool { return count(further, []string{part}) > 0 }
		return field != "published_at" ||
			count(field, slices.DeleteFunc(slices.Clone(n.parts), isFurther)) == 0
	})
}

// IsName reports whether a text is only the name of a column: each word speaks for a field, but for a number at its
// end.
func IsName(text string) bool {
	parts := split(text)
	if n := len(parts); n > 1 {
		parts = parts[:n-1] // without all words as one
		if strings.Trim(parts[len(parts)-1], "0123456789") == "" {
			parts = parts[:len(parts)-1]
		}
	}
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool {
		return !newName([]string{part}).namesField()
	})
}

// namesField reports whether a word speaks for any field.
func (n Name) namesField() bool {
	return slices.ContainsFunc(model.ImportFields, func(field string) bool { return n.counts[field] > 0 })
}

// Half is the part of a person's name that a column has.
type Half int

// The parts of names.
const (
	NoName Half = iota
	Given
	Family
	Whole
)

// HalfOf returns the part of the author's name that a column with this name has. A nom is a family name next to a
// prénom.
func HalfOf(name string) Half {
	parts := split(name)
	if count(other, parts) > 0 {
		return NoName
	}
	switch {
	case count(whole, parts) > 0 && count("author", parts) > 0:
		return Whole
	case count(given, parts) > 0:
		return Given
	case count(family, parts) > 0:
		return Family
	}
	return NoName
}

// split returns the words of a name, folded: BookTitle and "book title" have two.
func split(name string) []string {
	var spaced strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		if r == 'º' || r == 'ª' { // Nº is no word, and NO is
			r = ' '
		}
		spaced.WriteRune(r)
		before = r
	}
	parts := strings.FieldsFunc(collate.Fold(spaced.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	if len(parts) > 1 {
		parts = append(parts, strings.Join(parts, "")) // Tác giả is one word
	}
	return parts
}
