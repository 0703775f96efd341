package citation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is the name of an author.
type Name struct {
	Text                            string // the whole name
	Given, Particle, Family, Suffix string // Family is empty for a name without parts, as of an institution
	Institution                     bool
}

var (
	suffixes = strings.Fields("Jr Jr. Sr Sr. II III IV")
	// particles precede the family name. A capitalised particle is part of it.
	particles = strings.Fields("af al bin da das de del della den der des di do dos du el ibn la le ter ten van vom von zu zum zur De Del Della Di Du La Le Van Von")
	// connectives do not occur in a name with parts.
	connectives  = strings.Fields("& and for in of the und et")
	institutions = strings.Fields("Academy Association Center Centre Club College Committee Company Corporation Council Department Editors Foundation " +
		"Group Inc Inc. Institute Library Ltd Ltd. Ministry Museum Organization Publishing Society Staff University")
)

// Names returns the names in the author of a book. They are separated by commas.
func Names(author string) []Name {
	var names []Name
	for text := range strings.SplitSeq(author, ",") {
		text = oneLine(text)
		if last := len(names) - 1; last >= 0 && slices.Contains(suffixes, text) { // King, Jr.
			names[last] = nameOf(names[last].Text + " " + text)
		} else if text != "" {
			names = append(names, nameOf(text))
		}
	}
	return names
}

// nameOf splits a name with the rules of BibTeX, and a list of particles.
func nameOf(text string) Name {
	name := Name{Text: text}
	words := strings.Fields(text)
	first, _ := utf8.DecodeRuneInString(text)
	name.Institution = slices.ContainsFunc(words, func(word string) bool { return slices.Contains(institutions, word) })
	connected := slices.ContainsFunc(words, func(word string) bool { return slices.Contains(connectives, strings.ToLower(word)) })
	if name.Institution || connected || strings.ContainsAny(text, "()") || unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return name
	}
	end := len(words)
	if end > 2 && slices.Contains(suffixes, words[end-1]) {
		end--
		name.Suffix = words[end]
	}
	if end < 2 {
		return Name{Text: text}
	}
	family := end - 1
	if i := slices.IndexFunc(words[1:end-1], func(word string) bool { return slices.Contains(particles, word) }); i >= 0 {
		family = i + 1
	}
	name.Given = strings.Join(words[:family], " ")
	start := family
	for family < end-1 && slices.Contains(particles, words[family]) && words[family] == strings.ToLower(words[family]) {
		family++
	}
	name.Particle, name.Family = strings.Join(words[start:family], " "), strings.Join(words[family:end], " ")
	return name
}

// Sorted returns the name with the family name first: van Beethoven, Ludwig.
func (n Name) Sorted() string {
	if n.Family == "" {
		return n.Text
	}
	sorted := strings.TrimSpace(n.Particle+" "+n.Family) + ", " + n.Given
	if n.Suffix != "" {
		sorted += ", " + n.Suffix
	}
	return sorted
}
