// Package collate compares, searches and orders texts without regard to case and accents. The
// migrations create the same rule in both databases, as functions or triggers.
package collate

import (
	"regexp"
	"slices"
	"strings"
	"sync"
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
	return firstRunes(Fold(s), sortKeyLength)
}

// firstRunes returns the first n characters of s.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// Fold removes what a search ignores: "Émile" becomes "emile", "Straße" "strasse", "Łódź" "lodz".
//
//   - Each character is decomposed (NFKD of Unicode Standard Annex #15), so full width and ligatures do not count.
//   - The case is lowered.
//   - Accents, Hebrew points, Arabic vowel signs and invisible characters are removed.
//   - Marks that stay are sorted, because Unicode permits several orders of them.
//   - Korean syllables are composed. They may be written letter by letter.
//   - A run of white space becomes one space. None stays at the ends.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return foldRunes(s)
		}
	}
	return joinSpaces(strings.ToLower(s))
}

// syllable is a Korean syllable in letters, or one that lacks its last letter.
var syllable = regexp.MustCompile(
	`[\x{1100}-\x{1112}][\x{1161}-\x{1175}][\x{11A8}-\x{11C2}]?|[\x{AC00}-\x{D7A3}][\x{11A8}-\x{11C2}]`)

func foldRunes(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var marks []rune // at the end of b
	add := func(r rune) {
		if r >= utf8.RuneSelf && unicode.Is(combining, r) {
			marks = append(marks, r)
			return
		}
		slices.Sort(marks)
		for _, mark := range marks {
			b.WriteRune(mark)
		}
		marks = marks[:0]
		b.WriteRune(r)
	}
	letters := false
	for _, r := range s {
		if r < utf8.RuneSelf {
			add(unicode.ToLower(r))
			continue
		}
		plain := ""
		if table := common(); int(r) < len(table) {
			plain = table[r]
		} else {
			plain = foldRune(r)
		}
		for _, r := range plain {
			letters = letters || r >= 0x1161 && r <= 0x11C2
			add(r)
		}
	}
	slices.Sort(marks)
	b.WriteString(string(marks))
	folded := b.String()
	if letters {
		folded = syllable.ReplaceAllStringFunc(folded, norm.NFC.String)
	}
	return joinSpaces(folded)
}

// joinSpaces replaces each run of ASCII white space by one space and removes it at the ends.
func joinSpaces(s string) string {
	space := true
	for i := range len(s) {
		before := space
		if space = isSpace(s[i]); space && (before || s[i] != ' ') {
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
				return r < utf8.RuneSelf && isSpace(byte(r))
			}), " ")
		}
	}
	return strings.TrimSuffix(s, " ")
}

func isSpace(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// letters are base letters for characters that Unicode does not decompose: letters with a stroke, and
// ligatures.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ħ': "h", 'ŧ': "t",
}

// FoldsAlike reports whether s has a folded form that is part of the folded form of each text that contains s. Marks
// and Korean letters at its ends may be sorted or composed with those next to them.
func FoldsAlike(s string) bool {
	folded := Fold(s)
	first, _ := utf8.DecodeRuneInString(folded)
	last, _ := utf8.DecodeLastRuneInString(folded)
	return folded != "" && !slices.ContainsFunc([]rune{first, last}, func(r rune) bool {
		return r >= 0x1100 && r <= 0x11FF || unicode.Is(combining, r)
	})
}

// common are the folded forms of Latin, Greek, Cyrillic, Hebrew and Arabic letters, because looking one up takes a
// tenth of the time.
var common = sync.OnceValue(func() []string {
	all := make([]string, 0x700)
	for r := rune(utf8.RuneSelf); int(r) < len(all); r++ {
		all[r] = foldRune(r)
	}
	return all
})

// foldRune returns the folded form of a character outside ASCII.
func foldRune(r rune) string {
	if r >= 0xAC00 && r <= 0xD7A3 {
		return string(r)
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(string(r)) {
		if IsIgnorable(r) || unicode.Is(ignored, r) {
			continue
		}
		// Upper case first, because some letters have two lower cases: σ and ς.
		r = unicode.ToLower(unicode.ToUpper(r))
		plain, isLetter := letters[r]
		switch {
		case isLetter:
			b.WriteString(plain)
		case unicode.Is(unicode.White_Space, r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Foldings returns the characters that Fold replaces wherever they stand, but for ASCII letters, with what replaces
// each. SQLite has them as a table.
func Foldings() map[string]string {
	all := map[string]string{}
	// Between these ranges are ideographs and Korean syllables, which are their own folded forms.
	for _, part := range [][2]rune{{1, 0x33FF}, {0xA000, 0xABFF}, {0xF900, 0x16FFF}, {0x1B000, 0x1FFFF},
		{0x2F800, 0x2FA1F}, {0xE0000, 0xE0FFF}} {
		for r := part[0]; r <= part[1]; r++ {
			found, replacement := string(r), string(r)
			if r >= utf8.RuneSelf {
				replacement = foldRune(r)
			} else if isSpace(byte(r)) {
				replacement = " "
			}
			if found != replacement {
				all[found] = replacement
			}
		}
	}
	return all
}

// ignored are accents, Hebrew points, Arabic vowel signs and the tatweel. Marks of other scripts can be vowels, and
// a hamza distinguishes letters. Characters of IsIgnorable do not count either. The migrations have the same.
var ignored = rangeTable(
	"\u0300\u036F\u0591\u05BD\u05BF\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7\u05C7\u0610\u061A\u0640\u0640" +
		"\u064B\u0652\u0656\u065F\u0670\u0670\u06D6\u06DC\u06DF\u06E4\u06E7\u06E8\u06EA\u06ED\u0898\u089F" +
		"\u08CA\u08E1\u08E3\u08FF\u1AB0\u1AFF\u1DC0\u1DFF\u20D0\u20FF\uFB1E\uFB1E\uFE20\uFE2F")

// combining are the other marks that Unicode permits in several orders: their combining class is not 0. The
// migrations have the same.
var combining = rangeTable(combiningRanges)

const combiningRanges = "" +
	"\u0483\u0487\u0653\u0655\u0711\u0711\u0730\u074A\u07EB\u07F3\u07FD\u07FD\u0816\u0819\u081B\u0823" +
	"\u0825\u0827\u0829\u082D\u0859\u085B\u093C\u093C\u094D\u094D\u0951\u0954\u09BC\u09BC\u09CD\u09CD" +
	"\u09FE\u09FE\u0A3C\u0A3C\u0A4D\u0A4D\u0ABC\u0ABC\u0ACD\u0ACD\u0B3C\u0B3C\u0B4D\u0B4D\u0BCD\u0BCD" +
	"\u0C3C\u0C3C\u0C4D\u0C4D\u0C55\u0C56\u0CBC\u0CBC\u0CCD\u0CCD\u0D3B\u0D3C\u0D4D\u0D4D\u0DCA\u0DCA" +
	"\u0E38\u0E3A\u0E48\u0E4B\u0EB8\u0EBA\u0EC8\u0ECB\u0F18\u0F19\u0F35\u0F35\u0F37\u0F37\u0F39\u0F39" +
	"\u0F71\u0F72\u0F74\u0F74\u0F7A\u0F7D\u0F80\u0F80\u0F82\u0F84\u0F86\u0F87\u0FC6\u0FC6\u1037\u1037" +
	"\u1039\u103A\u108D\u108D\u135D\u135F\u1714\u1715\u1734\u1734\u17D2\u17D2\u17DD\u17DD\u18A9\u18A9" +
	"\u1939\u193B\u1A17\u1A18\u1A60\u1A60\u1A75\u1A7C\u1A7F\u1A7F\u1B34\u1B34\u1B44\u1B44\u1B6B\u1B73" +
	"\u1BAA\u1BAB\u1BE6\u1BE6\u1BF2\u1BF3\u1C37\u1C37\u1CD0\u1CD2\u1CD4\u1CE0\u1CE2\u1CE8\u1CED\u1CED" +
	"\u1CF4\u1CF4\u1CF8\u1CF9\u2CEF\u2CF1\u2D7F\u2D7F\u2DE0\u2DFF\u302A\u302F\u3099\u309A\uA66F\uA66F" +
	"\uA674\uA67D\uA69E\uA69F\uA6F0\uA6F1\uA806\uA806\uA82C\uA82C\uA8C4\uA8C4\uA8E0\uA8F1\uA92B\uA92D" +
	"\uA953\uA953\uA9B3\uA9B3\uA9C0\uA9C0\uAAB0\uAAB0\uAAB2\uAAB4\uAAB7\uAAB8\uAABE\uAABF\uAAC1\uAAC1" +
	"\uAAF6\uAAF6\uABED\uABED\U000101FD\U000101FD\U000102E0\U000102E0\U00010376\U0001037A\U00010A0D\U00010A0D" +
	"\U00010A0F\U00010A0F\U00010A38\U00010A3A\U00010A3F\U00010A3F\U00010AE5\U00010AE6\U00010D24\U00010D27" +
	"\U00010EAB\U00010EAC\U00010EFD\U00010EFF\U00010F46\U00010F50\U00010F82\U00010F85\U00011046\U00011046" +
	"\U00011070\U00011070\U0001107F\U0001107F\U000110B9\U000110BA\U00011100\U00011102\U00011133\U00011134" +
	"\U00011173\U00011173\U000111C0\U000111C0\U000111CA\U000111CA\U00011235\U00011236\U000112E9\U000112EA" +
	"\U0001133B\U0001133C\U0001134D\U0001134D\U00011366\U0001136C\U00011370\U00011374\U00011442\U00011442" +
	"\U00011446\U00011446\U0001145E\U0001145E\U000114C2\U000114C3\U000115BF\U000115C0\U0001163F\U0001163F" +
	"\U000116B6\U000116B7\U0001172B\U0001172B\U00011839\U0001183A\U0001193D\U0001193E\U00011943\U00011943" +
	"\U000119E0\U000119E0\U00011A34\U00011A34\U00011A47\U00011A47\U00011A99\U00011A99\U00011C3F\U00011C3F" +
	"\U00011D42\U00011D42\U00011D44\U00011D45\U00011D97\U00011D97\U00011F41\U00011F42\U00016AF0\U00016AF4" +
	"\U00016B30\U00016B36\U00016FF0\U00016FF1\U0001BC9E\U0001BC9E\U0001D165\U0001D169\U0001D16D\U0001D172" +
	"\U0001D17B\U0001D182\U0001D185\U0001D18B\U0001D1AA\U0001D1AD\U0001D242\U0001D244\U0001E000\U0001E006" +
	"\U0001E008\U0001E018\U0001E01B\U0001E021\U0001E023\U0001E024\U0001E026\U0001E02A\U0001E08F\U0001E08F" +
	"\U0001E130\U0001E136\U0001E2AE\U0001E2AE\U0001E2EC\U0001E2EF\U0001E4EC\U0001E4EF\U0001E8D0\U0001E8D6" +
	"\U0001E944\U0001E94A"

// Marks returns the characters that Fold sorts, as the ranges of a pattern.
func Marks() string {
	var b strings.Builder
	for i, r := range []rune(combiningRanges) {
		if i%2 == 1 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// rangeTable returns the table of ranges that a text lists in order, each as its first and last character.
func rangeTable(ranges string) *unicode.RangeTable {
	table, bounds := &unicode.RangeTable{}, []rune(ranges)
	for i := 0; i < len(bounds); i += 2 {
		if first, last := bounds[i], bounds[i+1]; last <= 0xFFFF {
			table.R16 = append(table.R16, unicode.Range16{Lo: uint16(first), Hi: uint16(last), Stride: 1})
		} else {
			table.R32 = append(table.R32, unicode.Range32{Lo: uint32(first), Hi: uint32(last), Stride: 1})
		}
	}
	return table
}
