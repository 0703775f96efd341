package author

import (
	"slices"
	"strings"
)

// parts splits a text at its commas. Suffixes go to the part before them, years and roles go.
func (r *reader) parts(text string) []part {
	pieces := strings.Split(text, ",")
	if last := len(pieces) - 1; last > 0 { // the subjects of an institution: see sides
		words := strings.Fields(pieces[last])
		if i := slices.IndexFunc(pieces, func(piece string) bool { return isInstitution(strings.Fields(piece)) }); i >= 0 && i < last &&
			slices.ContainsFunc(words, in(conjunctions)) && !isInstitution(words) && isSubjects(pieces[i:last], words[len(words)-1:]) {
			parts := r.parts(strings.Join(pieces[:i], ","))
			r.started = true
			return append(parts, part{words: strings.Fields(strings.Join(pieces[i:], ","))})
		}
	}
	var parts []part
	for _, piece := range pieces {
		words := r.withoutConjunctions(piece)
		if !isNote(words) {
			words = r.withoutNotes(words, 2)
		}
		last := len(parts) - 1
		switch {
		case len(words) == 0:
		case last >= 0 && parts[last].suffix == "" && all(words, in(companies)):
			parts[last].words[len(parts[last].words)-1] += ","
			parts[last].words = append(parts[last].words, words...)
		case last >= 0 && (all(words, in(suffixes)) || all(words, in(companies))):
			parts[last].suffix, parts[last].setOff = joined(parts[last].suffix, strings.Join(words, " ")), true
		case r.started && isNote(words):
			r.dropped = append(r.dropped, words...)
			if last >= 0 && isYears(words) {
				parts[last].setOff = true
			}
		default:
			parts, r.started = append(parts, part{words: words}), true
		}
	}
	return parts
}

// withoutConjunctions returns the words of a part without signs, "and" and "&" around them.
func (r *reader) withoutConjunctions(text string) []string {
	words := strings.Fields(withoutSigns(text))
	n := len(words)
	switch {
	case n > 0 && conjunctions[keyword(words[0])]:
		r.dropped, words = append(r.dropped, words[0]), words[1:]
	case n > 0 && conjunctions[keyword(words[n-1])]:
		r.dropped, words = append(r.dropped, words[n-1]), words[:n-1]
	default:
		return words
	}
	return r.withoutConjunctions(strings.Join(words, " "))
}

// withoutNotes drops years and roles at the end of a name, where at least as many words are left.
func (r *reader) withoutNotes(words []string, least int) []string {
	n := len(words)
	if n < 2 {
		return words
	}
	last := words[n-1]
	switch {
	case n > 2 && isOthers(words[n-2:]) && !in(others)(words[n-2]):
		n -= 2
	case yearRange.MatchString(last), n > least && isRole(last), isEastAsian(words) && (isRole(last) || isOthers(words[n-1:])):
		n--
	default:
		return words
	}
	r.dropped = append(r.dropped, words[n:]...)
	return r.withoutNotes(r.withoutConjunctions(strings.Join(words[:n], " ")), least)
}

// list adds the persons of a text without separators but commas. inverted is true if the text itself shows that they invert.
func (r *reader) list(parts []part, inverted bool) {
	n := len(parts)
	literal := slices.ContainsFunc(parts, func(p part) bool { return isLiteral(p.words) })
	eastAsian := slices.ContainsFunc(parts, func(p part) bool { return isEastAsian(p.words) })
	if n == 2 && !literal {
		r.pairs++
		if isOneWord(parts[0].words) {
			r.oneWord++
		}
		if inverted {
			r.sure++
		}
	}
	switch {
	case inverted || n == 2 && !literal && r.mode != plain:
		for i := 0; i < n; i += 2 {
			r.invert(parts[i], parts[i+1])
		}
		return
	case r.mode == heading && n == 2 && eastAsian: // 村上, 春樹
		whole := parts[0].with(" ", parts[1])
		whole.words = r.withoutNotes(whole.words, 1)
		parts = []part{whole}
	case r.mode == heading && n > 1 && !eastAsian:
		for _, p := range parts[1:] {
			parts[0] = parts[0].with(", ", p)
		}
		r.persons = append(r.persons, parts[0].literal())
		return
	}
	for _, p := range parts {
		r.persons = append(r.persons, p.person())
	}
}

// isInverted reports whether the commas of a text show that family names stand first.
func isInverted(parts []part) bool {
	n := len(parts)
	if n == 0 || n%2 > 0 || slices.ContainsFunc(parts, func(p part) bool { return isLiteral(p.words) }) {
		return false
	}
	arePairs := true // Smith, J., Doe, R.
	for i, p := range parts {
		arePairs = arePairs && all(p.words, isInitial) == (i%2 == 1)
	}
	return arePairs || n == 2 && isOneWord(parts[0].words) && parts[1].isGiven(parts[0].setOff)
}

// isGiven reports whether a part is the given names after a comma. setOff is true if a suffix or years follow the family name.
func (p part) isGiven(setOff bool) bool {
	last := p.words[len(p.words)-1]
	return len(p.words) == 1 || isInitial(last) || isLowerParticle(last) || p.setOff || setOff
}

// with returns both parts as one.
func (p part) with(separator string, q part) part {
	return part{words: strings.Fields(p.text() + separator + q.text()), suffix: joined(p.suffix, q.suffix)}
}

func (p part) literal() Person {
	return Person{Literal: joined(p.text(), p.suffix), Institution: isInstitution(p.words)}
}

// person splits a name whose given names stand first.
func (p part) person() Person {
	words := p.words
	if isLiteral(words) || isLowerParticle(words[0]) {
		return p.literal()
	}
	suffix := p.suffix
	for n := len(words); n > 2 && suffixes[keyword(words[n-1])]; n = len(words) {
		suffix, words = joined(words[n-1], suffix), words[:n-1]
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
		family, particle = family-1, family-1
	}
	for particle < n-1 && isLowerParticle(words[particle]) {
		particle++
	}
	if family == 0 {
		return p.literal()
	}
	return Person{
		Given: strings.Join(words[:family], " "), Particle: strings.Join(words[family:particle], " "),
		Family: strings.Join(words[particle:], " "), Suffix: suffix,
	}
}

// invert adds a person whose family name stands first.
func (r *reader) invert(family, given part) {
	words := r.withoutNotes(family.words, 1)
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
