package collate

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Identity returns the key of sameness: two texts are one name if their keys are equal. It is the text in NFKC with
// full case folding, without characters that are ignored by default (Unicode Standard, section 3.13, definition
// D145), and with one space for white space. Accents count: "Öl" is not "Ol". A text that would have an empty key is
// its own key. Texts with one key have one Fold.
func Identity(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cmp.Or(oneSpace(foldCase(s)), s)
		}
	}
	return cmp.Or(oneSpace(strings.ToLower(s)), s)
}

// foldCase returns the NFKC_Casefold of s. Case folding can undo the normal form, and the normal form can make
// characters that have a case.
func foldCase(s string) string {
	s = norm.NFKC.String(s)
	// case folding turns this accent into a letter
	if decomposed := norm.NFKD.String(s); strings.Contains(decomposed, "\u0345") {
		s = norm.NFKC.String(strings.ReplaceAll(decomposed, "\u0345", ""))
	}
	s = cases.Fold().String(s)
	s = Visible(s)
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s)))
}

// Visible returns s without characters that are ignored by default, such as marks of direction.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if IsIgnorable(r) {
			return -1
		}
		return r
	}, s)
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// IsIgnorable reports whether r is ignored by default: soft hyphens, joiners, marks of direction, variation selectors
// (Unicode Character Database, Default_Ignorable_Code_Point).
func IsIgnorable(r rune) bool {
	switch {
	case r < 0xAD:
		return false
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !(r >= 0xFFF9 && r <= 0xFFFB) &&
			!(r >= 0x13430 && r <= 0x13440)
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
