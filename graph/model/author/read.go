package author

import (
	"regexp"
	"slices"
	"strings"
)

// mode says what a comma means.
type mode int

const (
	plain   mode = iota // only the text tells
	column              // one comma inverts, more separate
	heading             // one comma inverts, a name with more is a literal
)

// maxBytes are the bytes of the longest author that a book may have. A longer text is one literal, because reading
// takes time by the square of the length.
const maxBytes = 4_000

// reader reads one text.
type reader struct {
	mode    mode
	persons []Person
	dropped []string // parts of the text that belong to no name
	started bool     // a name came before

	inverted            bool // a name was inverted
	pairs, family, sure int  // names with one comma; those that begin with a family name; those that mode plain inverts
	twoWords            int  // names with one comma and one whole word on both sides
}

// part is a text between commas.
type part struct {
	words  []string
	suffix string
	setOff bool // a suffix or years followed, after a comma
}

func (p part) last() string { return p.words[len(p.words)-1] }

func (p part) text() string { return strings.Join(p.words, " ") }

var (
	signs = strings.NewReplacer("，", ",", "、", ",", "،", ",", "；", ";", "؛", ";", "／", "/", "＆", "&",
		"（", "(", "）", ")", "［", "[", "］", "]", "【", "[", "】", "]")
	openBrackets = strings.NewReplacer("(", "", "[", "")
	conjunction  = regexp.MustCompile(`(?i)(?:,| ) *(?:and|und|et|&) |/`)
)

func read(text string, m mode) *reader {
	r := &reader{mode: m}
	if len(text) > maxBytes {
		r.persons = []Person{{Literal: text}}
		return r
	}
	text = r.withoutBrackets(strings.Join(strings.Fields(signs.Replace(text)), " "))
	if strings.Contains(text, ";") {
		r.mode = heading
		for text := range strings.SplitSeq(text, ";") {
			parts := r.parts(text)
			r.list(parts, isInverted(parts))
		}
		return r
	}
	var lists [][]part
	for _, side := range r.sides(text) {
		lists = append(lists, r.parts(side))
	}
	// Plato, Aristotle and Socrates: one comma that separates, or a name of one word, shows that all commas separate.
	separated := m != heading && slices.ContainsFunc(lists, func(parts []part) bool {
		return len(parts) == 1 && len(lists) > 1 && len(parts[0].words) == 1 || len(parts) > 1 && !isInverted(parts)
	})
	for _, parts := range lists {
		r.list(parts, !separated && isInverted(parts))
	}
	return r
}

// withoutBrackets drops the texts in brackets. It drops only the signs of brackets without a partner, and of brackets
// at the start of a name in another script than Han, kana or hangul: [Jane] Austen.
func (r *reader) withoutBrackets(text string) string {
	for {
		end := strings.IndexAny(text, ")]")
		if end < 0 {
			return openBrackets.Replace(text)
		}
		start := strings.LastIndexAny(text[:end], "([")
		if start < 0 {
			text = text[:end] + text[end+1:]
			continue
		}
		before, inside, after := text[:start], text[start+1:end], text[end+1:]
		isStart := strings.Trim(before, " ([,;/") == ""
		next := strings.Fields(after)
		if isStart && !isNote(strings.Fields(inside)) && !isEastAsian(next[:min(1, len(next))]) {
			text = before + inside + after
			continue
		}
		r.dropped = append(r.dropped, inside)
		text = before + " " + after
	}
}

// sides splits a text at "/", "&", "and", "und" and "et". They do not separate
//   - next to an institution's word, and in a list of its subjects: Ministry of Agriculture, Fisheries and Food
//   - before the partners of a company: Mac et Cie
//   - behind a particle: Anna von und zu Berg
//   - in "et al."
func (r *reader) sides(text string) []string {
	var sides []string
	start := 0
	found := conjunction.FindAllStringIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		before := strings.Split(text[start:at[0]], ",")
		after := strings.Split(text[at[1]:end], ",")
		left, right := strings.Fields(before[len(before)-1]), strings.Fields(after[0])
		if len(after) > 1 && all(strings.Fields(after[1]), in(companies)) { // Harper & Row, Inc.
			right = append(right, strings.Fields(after[1])...)
		}
		if text[at[0]] != ',' && (isInstitution(left) || isInstitution(right)) || isSubjects(before, right) ||
			isJoined(left, right) {
			continue
		}
		sides = append(sides, text[start:at[0]])
		r.dropped = append(r.dropped, text[at[0]:at[1]])
		start = at[1]
	}
	return append(sides, text[start:])
}

// isJoined reports whether a conjunction between words is a part of a name, or of "et al.".
func isJoined(left, right []string) bool {
	return len(left) > 0 && isLowerParticle(left[len(left)-1]) ||
		len(right) > 0 && (slices.Contains(afterJoiner, right[0]) || all(right, in(partners)))
}

// isSubjects reports whether the texts after the name of an institution go on with it: each is one word.
func isSubjects(before []string, last []string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		words := strings.Fields(before[i])
		if len(last) != 1 || isInstitution(words) {
			return len(last) == 1 && isConnected(words)
		}
		last = words
	}
	return false
}

// subjects returns the index of an institution whose list of subjects sides has left whole, or -1.
func subjects(pieces []string) int {
	last := len(pieces) - 1
	words := strings.Fields(pieces[last])
	if !slices.ContainsFunc(words, in(conjunctions)) || isInstitution(words) {
		return -1
	}
	i := slices.IndexFunc(pieces, func(piece string) bool { return isInstitution(strings.Fields(piece)) })
	if i >= 0 && isSubjects(pieces[i:last], words[len(words)-1:]) {
		return i
	}
	return -1
}
