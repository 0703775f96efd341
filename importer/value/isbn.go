package value

import (
	"regexp"
	"strings"
	"unicode"

	"library-catalogue/graph/model/collate"
	"library-catalogue/graph/model/isbn"
)

// rounded matches an ISBN that a spreadsheet has taken for a number.
var rounded = regexp.MustCompile(`^9[.,]7[89]\d*[eE]\+?12$`)

// IsRounded reports whether a cell is an ISBN that a spreadsheet has rounded, so that its digits are lost.
func IsRounded(cell string) bool { return rounded.MatchString(strings.TrimSpace(cell)) }

// asNumber matches an ISBN that a program has stored as a number: 9780439023481.0.
var asNumber = regexp.MustCompile(`^\s*(\d{13}|\d{10})[.,]0+\s*$`)

// maxISBNs is the maximum length in bytes of a cell with ISBNs.
const maxISBNs = 300

// ParseISBN returns the first ISBN in a cell, as 13 digits: also among brackets, qualifiers and others, as in
// ="0439023483", 9780439023481 (pbk.) : $8.99, and 0439023483: with an invisible character before it.
func ParseISBN(cell string) (digits string, ok bool) {
	if digits, ok = isbn.Parse(cell); ok {
		return digits, true
	}
	if len(cell) < 10 || len(cell) > maxISBNs {
		return "", false
	}
	cell = asNumber.ReplaceAllString(collate.Visible(cell), "$1")
	parts := strings.FieldsFunc(cell, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Pd) && r != ' '
	})
	for _, part := range parts {
		// The whole part first, because an ISBN may have spaces: 978 0 439 02348 1.
		for _, text := range append([]string{part}, strings.Fields(part)...) {
			if digits, ok = isbn.Parse(Bare(text)); ok {
				return digits, true
			}
		}
	}
	return "", false
}
