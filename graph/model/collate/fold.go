// Package collate compares, searches and orders texts without regard to case and accents. The
// migrations create the same rule in both databases, as functions or triggers.
package collate

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// sortKeyLength is the number of folded characters in a sort key. Index entries have a maximum size,
// and a name may be longer.
const sortKeyLength = 100

// SortKey returns the text that orders s among others, byte by byte: the first 100
// characters of its folded form. Texts with the same key are equal in order.
func SortKey(s string) string {
	folded, n := Fold(s), 0
	for i := range folded {
		if n++; n > sortKeyLength {
			return folded[:i]
		}
	}
	return folded
}

// Fold removes case and accents: "Émile" becomes "emile", "Straße" "strasse",
// "Łódź" "lodz". It decomposes each character (Unicode Standard Annex #15), drops the diacritical
// marks, and lowers the case. It first composes Korean syllables, which may be written letter by
// letter.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return foldRunes(s)
		}
	}
	return strings.ToLower(s)
}

// syllable is a Korean syllable in letters, or one that lacks its last letter.
var syllable = regexp.MustCompile(`[\x{1100}-\x{1112}][\x{1161}-\x{1175}][\x{11A8}-\x{11C2}]?|[\x{AC00}-\x{D7A3}][\x{11A8}-\x{11C2}]`)

func foldRunes(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= 0x1161 && r <= 0x11C2 }) {
		s = syllable.ReplaceAllStringFunc(s, norm.NFC.String)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		foldRune(&b, r)
	}
	return b.String()
}

// letters are base letters for characters that Unicode does not decompose: letters with a stroke, and
// ligatures.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ŧ': "t",
}

func foldRune(b *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		b.WriteByte(byte(unicode.ToLower(r)))
		return
	}
	if isMark(r) {
		return
	}
	decomposed := string(r)
	if hangul := r >= 0xAC00 && r <= 0xD7A3; !hangul {
		decomposed = norm.NFD.String(decomposed)
	}
	for _, r := range decomposed {
		if isMark(r) {
			continue
		}
		// Upper case first, because some letters have two lower cases: σ and ς.
		r = unicode.ToLower(unicode.ToUpper(r))
		if plain, ok := letters[r]; ok {
			b.WriteString(plain)
			continue
		}
		b.WriteRune(r)
	}
}

// isMark reports whether r is one of the combining marks that are accents. Those
// of other scripts can be vowels, and stay.
func isMark(r rune) bool {
	return r >= 0x300 && r <= 0x36F || r >= 0x1AB0 && r <= 0x1AFF || r >= 0x1DC0 && r <= 0x1DFF ||
		r >= 0x20D0 && r <= 0x20FF || r >= 0xFE20 && r <= 0xFE2F
}
