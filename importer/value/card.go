package value

import (
	"strings"
	"unicode/utf8"

	"library-catalogue/graph/model/marc"
)

// TrimCard returns a text without the punctuation at its end that catalogue cards have. isDotted is true if the texts of the
// column end in a dot, as MARC has it: "Fiction.". isHeading is true for headings of MARC, which have no other sign there.
func TrimCard(text string, isDotted, isHeading bool) string {
	if dotted := marc.TrimDot(text); isDotted && dotted != text {
		return dotted
	}
	if isHeading {
		return text
	}
	return marc.TrimPunctuation(text)
}

// CardSurvey finds out whether the texts of a column end in a dot.
type CardSurvey struct{ cells, ended, dotted, longest int }

// Add counts a cell.
func (s *CardSurvey) Add(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	s.cells++
	s.longest = max(s.longest, utf8.RuneCountInString(text))
	switch text[len(text)-1] {
	case '.':
		s.dotted++
		s.ended++
	case '/', ':', ',', ';', '=':
		s.ended++
	}
}

// maxAbbreviation is the maximum number of characters of a text in a column of abbreviations, with its dot.
const maxAbbreviation = 6

// IsDotted reports whether at least four fifths of the texts end in a sign, two of them in a dot, and not all are
// abbreviations.
func (s *CardSurvey) IsDotted() bool {
	return s.dotted > 1 && 5*s.ended >= 4*s.cells && s.longest > maxAbbreviation
}
