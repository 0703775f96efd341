package survey

import (
	"slices"

	"library-catalogue/graph/model"
)

// Name is the name of a column. Its words are counted once, because each field is compared with those of all others.
type Name struct {
	parts  []string
	counts map[string]int // by the list of words
}

// ParseName returns the words of a name.
func ParseName(name string) Name { return newName(split(name)) }

func newName(parts []string) Name {
	n := Name{parts, map[string]int{}}
	for list, words := range words {
		if count := words.count(parts); count > 0 {
			n.counts[list] = count
		}
	}
	return n
}

// NamePoints returns how much the name of a column speaks for a field, as Name.Points does.
func NamePoints(name, field string) int { return ParseName(name).Points(field) }

// Points returns how much the name speaks for a field. It is 0 if it says nothing, and negative if it names another thing.
func (n Name) Points(field string) int {
	found, isNumber := n.counts[field], func(part string) bool { return part == "nr" || part == "no" }
	if (field == "pages" || field == "shelf_mark") && found > 0 && slices.ContainsFunc(n.parts, isNumber) { // Nr. of pages, Raf No
		n = newName(slices.DeleteFunc(slices.Clone(n.parts), isNumber))
	}
	parts := n.parts
	isFurther := func(other string) bool {
		if other == field || !model.ImportField(other).Is(model.OnInclude) || n.counts[other] == 0 {
			return false
		}
		isOther := func(part string) bool { return words[other].count([]string{part}) > 0 }
		isYearOf := field == "published_at" && words[field].count(slices.DeleteFunc(slices.Clone(parts), isOther)) > 0
		return !isYearOf // the publisher's year is the year
	}
	switch {
	case n.counts[other] > 0, slices.ContainsFunc(model.ImportFields, isFurther):
		return -1
	case found == 0 && n.counts[vague] > 0:
		if model.ImportField(field).Kind == model.KindText {
			return -1
		}
	case found > 0:
		return wordPoints * min(found, 2)
	case n.namesField():
		return -1 // of another field
	case field == "name" && nameWords.count(parts) > 0:
		return namePoints
	}
	return 0
}

// namesField reports whether a word speaks for any field.
func (n Name) namesField() bool {
	return slices.ContainsFunc(model.ImportFields, func(field string) bool { return n.counts[field] > 0 })
}
