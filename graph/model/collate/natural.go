package collate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// naturalKeyLength is the maximum number of characters of a natural key. An entry of an index has fewer than 2,700
// bytes.
const naturalKeyLength = 600

// NaturalKey returns the text that orders s among others in natural order, byte by byte: numbers count by their value.
// Both databases have the same rule as natural_key. It reads the folded text:
//
//   - A run of digits, of whatever script, is a whole number: "R 2" precedes "R 10". Zeros before it do not count.
//   - Digits after a point that follows a digit are a decimal fraction: 641, 641.5, 641.55, 641.6. Zeros after it do
//     not count.
//   - So are the digits of Cutter numbers: a point after a digit, letters and digits, and further letters and digits
//     right after them: "QA76 .S73" precedes "QA76 .S8".
//   - Spaces around a number do not count. All other signs do, and order by code point: "-" is no minus.
//
// Equal texts follow in the order of their folded form, which is the key's end.
func NaturalKey(s string) string {
	folded := Fold(s)
	if folded == "" {
		return ""
	}
	var key strings.Builder
	last := none
	for rest := withDigits(folded); rest != ""; {
		text, digits := "", ""
		text, digits, rest = cutNumber(rest)
		kind := kindOf(last, text, digits)
		if kind != fraction || last != whole { // a fraction continues its whole number
			if last != none {
				key.WriteByte(endOfNumber)
			}
			key.WriteString(strings.Trim(text, " "))
		}
		switch kind {
		case whole:
			digits = strings.TrimLeft(digits, "0")
			writeLength(&key, len(digits))
		case fraction, cutter:
			digits = strings.TrimRight(digits, "0")
		}
		key.WriteString(digits)
		last = kind
	}
	if last != none {
		key.WriteByte(endOfNumber)
	}
	return firstRunes(key.String()+endOfKey+folded, naturalKeyLength)
}

const (
	endOfNumber = ' ' // precedes the digits of a longer fraction
	endOfKey    = "\x01"
)

// numberKind is the kind of a run of digits.
type numberKind int

const (
	none numberKind = iota
	whole
	fraction
	cutter
)

// kindOf returns the kind of digits, by the text before them and the kind of the run before that.
func kindOf(last numberKind, text, digits string) numberKind {
	if digits == "" {
		return none
	}
	text = strings.TrimLeft(text, " ")
	after, hasPoint := strings.CutPrefix(text, ".")
	switch {
	case last == none:
	case text == ".":
		return fraction
	case (hasPoint || last == cutter) && after != "" && !strings.HasSuffix(after, " ") &&
		strings.Trim(after, cutterLetters) == "":
		return cutter
	}
	return whole
}

const cutterLetters = "abcdefghijklmnopqrstuvwxyz "

// cutNumber cuts the text before the first digits, and these digits, from s.
func cutNumber(s string) (text, digits, rest string) {
	start := strings.IndexAny(s, "0123456789")
	if start < 0 {
		return s, "", ""
	}
	rest = strings.TrimLeft(s[start:], "0123456789")
	return s[:start], s[start : len(s)-len(rest)], rest
}

// writeLength writes the length of a number, so that longer numbers follow: one digit up to 8, else 9 and three digits.
func writeLength(key *strings.Builder, n int) {
	if n < 9 {
		key.WriteByte('0' + byte(n))
		return
	}
	fmt.Fprintf(key, "9%03d", min(n, 999))
}

// zeros are the digits zero of scripts with digits in use. Nine more follow each. The migrations have the same.
const zeros = "\u0660\u06F0\u07C0\u0966\u09E6\u0A66\u0AE6\u0B66\u0BE6" +
	"\u0C66\u0CE6\u0D66\u0E50\u0ED0\u0F20\u1040\u17E0\u1810"

// withDigits replaces the digits of other scripts by ASCII digits.
func withDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		for _, zero := range zeros {
			if zero <= r && r < zero+10 {
				return '0' + r - zero
			}
		}
		return r
	}, s)
}
