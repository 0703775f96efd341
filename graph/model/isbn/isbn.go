// Package isbn reads International Standard Book Numbers (ISO 2108).
package isbn

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxBytes is the maximum length of a text with an ISBN.
const maxBytes = 100

// separators are the hyphens and spaces among the digits.
var separators = strings.NewReplacer("-", "", "\u2010", "", "\u2012", "", "\u2013", "", " ", "")

// visible drops characters that cannot be seen, such as marks of direction.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	return r
}

// Parse returns an ISBN as 13 digits. The text has 10 or 13 digits with a right check digit, among hyphens, spaces
// and invisible characters, and may begin with ISBN or urn:isbn: (RFC 8254).
func Parse(text string) (digits string, ok bool) {
	if len(text) > maxBytes {
		return "", false
	}
	text = strings.ToUpper(strings.TrimSpace(norm.NFKC.String(strings.Map(visible, text))))
	text = strings.TrimPrefix(text, "URN:")
	if rest, found := strings.CutPrefix(text, "ISBN"); found {
		for _, length := range []string{"-10", "-13"} {
			if after, found := strings.CutPrefix(rest, length); found &&
				strings.HasPrefix(strings.TrimSpace(after), ":") {
				rest = strings.TrimSpace(after)
			}
		}
		text = strings.TrimPrefix(rest, ":")
	}
	text = separators.Replace(text)
	switch len(text) {
	case 10:
		sum := 0
		for i, c := range []byte(text) {
			n := int(c - '0')
			if c == 'X' && i == 9 {
				n = 10
			} else if c < '0' || c > '9' {
				return "", false
			}
			sum += (10 - i) * n
		}
		if sum%11 != 0 {
			return "", false
		}
		text = "978" + text[:9]
		return text + string('0'+byte((10-weighted(text)%10)%10)), true
	case 13:
		isDigits := strings.Trim(text, "0123456789") == ""
		hasPrefix := strings.HasPrefix(text, "978") || strings.HasPrefix(text, "979")
		return text, isDigits && hasPrefix && weighted(text)%10 == 0
	}
	return "", false
}

// weighted returns the sum of digits, each second one three times.
func weighted(digits string) (sum int) {
	for i, c := range []byte(digits) {
		sum += int(c-'0') * (1 + i%2*2)
	}
	return sum
}
