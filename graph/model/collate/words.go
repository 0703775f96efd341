package collate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words returns the folded words of a text, as both databases store them for search: runs of letters
// and digits. Other ASCII characters, and characters in the ranges of separators, separate words. The
// apostrophe of an 's does not: "Tolkien's" is the word "tolkiens". Each character of a script without
// spaces, such as Chinese, is a word.
func Words(s string) []string {
	words, _ := split(s)
	return words
}

// Entries returns the words of a text, and further words by which a search finds it: words that an apostrophe or a
// hyphen joins are also one word, such as youll and wifi. From each of them on, up to four are joined.
func Entries(s string) (words, joined []string) {
	words, joins := split(s)
	for at, i := range joins {
		n := 1
		for n < 3 && at+n < len(joins) && joins[at+n] == i+n {
			n++
		}
		joined = append(joined, strings.Join(words[i:i+n+1], ""))
	}
	return words, joined
}

// split returns the words of a text, and the places of those that a sign joins to the next.
func split(s string) (words []string, joins []int) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	folded := Fold(s)
	for i, r := range folded {
		switch {
		case r >= utf8.RuneSelf && unicode.Is(unspaced, r):
			end()
			words = append(words, string(r))
		case !separates(r):
			word.WriteRune(r)
		case !possessive(folded[i:]):
			if word.Len() > 0 && isJoiner(folded[i:]) {
				joins = append(joins, len(words))
			}
			end()
		}
	}
	end()
	return words, joins
}

// isJoiner reports whether a folded text begins with an apostrophe or a hyphen, and a word follows.
func isJoiner(s string) bool {
	sign, size := utf8.DecodeRuneInString(s)
	if sign != '\'' && sign != '’' && sign != '-' && sign != '‐' || size == len(s) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[size:])
	return !separates(next) && !unicode.Is(unspaced, next)
}

// Initials returns, for each of the words that is a letter and stands before another, up
// to three such letters together: jrr and rr of J. R. R.
func Initials(words []string) (runs []string) {
	for i := range words {
		n := 0
		for n < 3 && i+n < len(words) && isLetter(words[i+n]) {
			n++
		}
		if n >= 2 {
			runs = append(runs, strings.Join(words[i:i+n], ""))
		}
	}
	return runs
}

// isLetter reports whether a word is one letter, of a script with spaces.
func isLetter(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return size == len(word) && (r < '0' || r > '9') && !unicode.Is(unspaced, r)
}

// possessive reports whether a folded text begins with an apostrophe and the s that
// ends a word.
func possessive(s string) bool {
	if !strings.HasPrefix(s, "'s") && !strings.HasPrefix(s, "’s") {
		return false
	}
	_, after, _ := strings.Cut(s, "s")
	next, size := utf8.DecodeRuneInString(after)
	return size == 0 || separates(next) || unicode.Is(unspaced, next)
}

// separates reports whether a folded character stands between words.
func separates(r rune) bool {
	if r < utf8.RuneSelf {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	}
	return unicode.Is(separators, r)
}

// separators are the ranges of characters outside ASCII that separate words. The
// migrations have the same.
var separators = rangeTable("\u0080\u00A9\u00AB\u00B4\u00B6\u00B9\u00BB\u00BF" + // signs of Latin-1
	"\u00D7\u00D7\u00F7\u00F7" + // × ÷
	"\u05BE\u05BE\u05C0\u05C0\u05C3\u05C3\u05F3\u05F4" + // Hebrew punctuation
	"\u060C\u060C\u061B\u061F\u066A\u066D\u06D4\u06D4" + // Arabic punctuation
	"\u0964\u0965" + // danda
	"\u2000\u206F" + // general punctuation
	"\u20A0\u20CF" + // currencies
	// letter-like symbols, without the Ohm, Kelvin and Ångström, which fold to letters
	"\u2100\u2125\u2127\u2129\u212C\u214F" +
	"\u2190\u2BFF" + // arrows, mathematics, technical signs, boxes, dingbats
	"\u2E00\u2E7F" + // supplemental punctuation
	"\u3000\u3004\u3008\u3020\u3030\u3030\u303D\u303F\u30FB\u30FB" + // CJK punctuation
	"\uFE10\uFE1F\uFE30\uFE6F" + // its vertical and small forms
	"\uFEFF\uFF0F\uFF1A\uFF20\uFF3B\uFF40\uFF5B\uFF65\uFFE0\uFFFF") // and its full-width ones

// unspaced are the ranges of the scripts without spaces: each character is a word. The
// migrations have the same.
var unspaced = rangeTable(
	"\u3005\u3007\u3021\u3029\u3040\u30FA\u30FC\u30FF\u31F0\u31FF\u3400\u4DBF\u4E00\u9FFF" +
		"\uF900\uFAFF\uFF66\uFF9D\U00020000\U0003FFFF")
