package author

import (
	"slices"
	"strings"
)

// parts splits a text at its commas. Suffixes go to the part before them, years and roles go.
func (r *reader) parts(text string) []part {
	pieces := strings.Split(text, ",")
	if i := subjects(pieces); i >= 0 {
		parts := r.parts(strings.Join(pieces[:i], ","))
		r.started = true
		return append(parts, part{words: strings.Fields(strings.Join(pieces[i:], ","))})
	}
	var parts []part
	for _, piece := range pieces {
		words, suffix := r.withoutEnds(piece)
		last := len(parts) - 1
		switch {
		case len(words) == 0:
			r.dropped = append(r.dropped, suffix)
		case last >= 0 && all(words, in(companies)):
			parts[last].words[len(parts[last].words)-1] += ","
			parts[last].words, parts[last].suffix = append(parts[last].words, words...),
				joined(parts[last].suffix, suffix)
		case last >= 0 && isSuffix(words):
			parts[last].suffix, parts[last].setOff = joined(parts[last].suffix, strings.Join(words, " "), suffix), true
		case r.started && isNote(words):
			r.dropped = append(r.dropped, strings.Join(words, " "), suffix)
			if last >= 0 && isYears(words) {
				parts[last].setOff = true
			}
		default:
			parts, r.started = append(parts, part{words: words, suffix: suffix}), true
		}
	}
	return parts
}

// withoutEnds returns the words of a part without notes after it, and its suffix.
func (r *reader) withoutEnds(text string) (words []string, suffix string) {
	words = r.withoutConjunctions(text)
	for !isNote(words) {
		words = r.withoutNotes(words)
		n := len(words)
		for n > 1 && suffixes[keyword(words[n-1])] {
			n--
		}
		if n == len(words) || isSuffix(words) {
			break
		}
		suffix = joined(strings.Join(words[n:], " "), suffix)
		words = r.withoutConjunctions(strings.Join(words[:n], " "))
	}
	return words, suffix
}

// withoutConjunctions returns the words of a part without signs and conjunctions around them.
func (r *reader) withoutConjunctions(text string) []string {
	words := strings.Fields(withoutSigns(text))
	n := len(words)
	switch {
	case isOthers(words): // et al.
		return words
	case n > 0 && conjunctions[keyword(words[0])]:
		r.dropped, words = append(r.dropped, words[0]), words[1:]
	case n > 0 && conjunctions[keyword(words[n-1])]:
		r.dropped, words = append(r.dropped, words[n-1]), words[:n-1]
	default:
		return words
	}
	return r.withoutConjunctions(strings.Join(words, " "))
}

// withoutNotes drops years and roles at the end of a name. A role without a dot can be a family name: David Autor, and
// after an initial it is: D. H. Autor.
func (r *reader) withoutNotes(words []string) []string {
	n := len(words)
	if n < 2 {
		return words
	}
	last := words[n-1]
	switch {
	case n > 2 && isOthers(words[n-2:]):
		n -= 2
	case yearRange.MatchString(last), isRole(last) && (n > 2 && !isInitial(words[n-2]) || strings.HasSuffix(last, ".")),
		isEastAsian(words) && (isRole(last) || isOthers(words[n-1:])):
		n--
	default:
		return words
	}
	r.dropped = append(r.dropped, words[n:]...)
	return r.withoutNotes(r.withoutConjunctions(strings.Join(words[:n], " ")))
}

// list adds the persons of a text without separators but commas. inverted is true if the text shows that they invert.
func (r *reader) list(parts []part, inverted bool) {
	n := len(parts)
	some := func(is func([]string) bool) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return is(p.words) })
	}
	isName := n == 2 && !some(isLiteral) && parts[0].isFamilyOf(parts[1])
	if isName {
		r.pairs++
		if isOneWord(parts[0].words) || len(parts[0].words) == 2 && len(parts[1].words) == 1 {
			r.family++
		}
		if given := parts[1].words; isOneWord(parts[0].words) && len(given) == 1 && !isInitial(given[0]) {
			r.twoWords++
		}
		if inverted {
			r.sure++
		}
	}
	switch {
	case inverted || isName && r.mode != plain:
		for i := 0; i < n; i += 2 {
			r.invert(parts[i], parts[i+1])
		}
		return
	case r.mode == heading && n == 2 && some(isEastAsian) && !some(isInstitution): // 村上, 春樹
		words, suffix := r.withoutEnds(parts[0].text() + " " + parts[1].text())
		parts = []part{{words: words, suffix: joined(suffix, parts[0].suffix, parts[1].suffix)}}
	case r.mode == heading && n > 1 && !some(isEastAsian):
		whole := parts[0]
		for _, p := range parts[1:] {
			whole = part{words: strings.Fields(whole.text() + ", " + p.text()), suffix: joined(whole.suffix, p.suffix)}
		}
		r.persons = append(r.persons, whole.literal())
		return
	}
	for _, p := range parts {
		r.persons = append(r.persons, p.person())
	}
}

// isInverted reports whether the commas of a text show that family names stand first.
func isInverted(parts []part) bool {
	n := len(parts)
	if n == 0 || n%2 > 0 {
		return false
	}
	arePairs := true // Smith, J., Doe, R.
	for i, p := range parts {
		first := i%2 == 0
		if isLiteral(p.words) || first && !p.isFamilyOf(parts[i+1]) {
			return false
		}
		arePairs = arePairs && first != all(p.words, isInitial)
	}
	return arePairs || n == 2 && isFamilyFirst(parts[0], parts[1])
}

// isFamily reports whether a part can be a family name: it is no suffix, and does not end in an initial or a note.
func (p part) isFamily() bool {
	last := p.last()
	return !isInitial(last) && (!isRole(last) || isLoneRole(p.words)) && !isSuffix(p.words) &&
		!others[keyword(last)] && !slices.Contains(afterJoiner, last)
}

// isFamilyOf reports whether a part can be the family name of given names. The word of a role can if it is no role
// after them: David Autor, D. H. Autor.
func (p part) isFamilyOf(given part) bool {
	return p.isFamily() && (!isLoneRole(p.words) || len(given.words) == 1 || isInitial(given.last()))
}

// isFamilyFirst reports whether one comma divides a family name from given names.
func isFamilyFirst(family, given part) bool {
	if isLowerParticle(given.last()) { // Cervantes Saavedra, Miguel de
		return true
	}
	return isOneWord(family.words) &&
		(len(given.words) == 1 || isInitial(given.last()) || family.setOff || given.setOff)
}

func (p part) literal() Person {
	return Person{Literal: joined(p.text(), p.suffix), Institution: isInstitution(p.words)}
}

// person splits a name with the given names first.
func (p part) person() Person {
	words := p.words
	if isLiteral(words) || isLowerParticle(words[0]) {
		return p.literal()
	}
	if found := finalInitials.FindStringSubmatch(p.text()); found != nil {
		if family := (part{words: strings.Fields(found[1])}); isOneWord(family.words) && family.isFamily() {
			return Person{Given: found[2], Family: found[1], Suffix: p.suffix}
		}
	}
	n := len(words)
	if n < 2 {
		return p.literal()
	}
	family := n - 1
	if i := slices.IndexFunc(words[1:n-1], isParticle); i >= 0 {
		family = i + 1
	}
	particle := family
	if joint := words[family]; joint == "y" || joint == "e" { // Ortega y Gasset
		if family--; family == 0 || family != n-3 {
			return p.literal()
		}
		particle = family
	}
	for particle < n-1 && isLowerParticle(words[particle]) {
		particle++
	}
	return Person{
		Given: strings.Join(words[:family], " "), Particle: strings.Join(words[family:particle], " "),
		Family: strings.Join(words[particle:], " "), Suffix: p.suffix,
	}
}

// invert adds the person of a name with the family name first.
func (r *reader) invert(family, given part) {
	words := family.words
	i := slices.IndexFunc(words, func(word string) bool { return !isLowerParticle(word) })
	j := len(given.words)
	for j > 0 && isLowerParticle(given.words[j-1]) {
		j--
	}
	p := Person{Given: strings.Join(given.words[:j], " "), Suffix: joined(family.suffix, given.suffix)}
	if i < 0 || j == 0 {
		p = Person{Literal: joined(given.text(), strings.Join(words, " "), p.Suffix)}
	} else {
		p.Particle = strings.Join(slices.Concat(given.words[j:], words[:i]), " ")
		p.Family = strings.Join(words[i:], " ")
	}
	r.persons, r.inverted = append(r.persons, p), true
}
