// Package value reads the cells of files: dates, amounts and page counts in the notations of people and programs.
package value

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model/collate"
)

// Maximum bytes of a cell that may be a number or a date, and of one that may be a list. Longer ones would take
// seconds.
const (
	maxValue = 1 << 10
	maxList  = 64 << 10
)

// formulaError matches the error of a formula.
var formulaError = regexp.MustCompile(`^#(?:REF!|N/A|VALUE!|NAME\?|DIV/0!|NUM!|NULL!|SPILL!|CALC!)$`)

// emptyList matches a list without a text as Python, JSON and PostgreSQL write it.
var emptyList = regexp.MustCompile(`(?i)^[\[{(]\s*(?:(?:''|""|none|null|nan)?\s*,?\s*)*[\]})]$`)

// IsEmpty reports whether a cell has no value, though it has characters: the error of a formula, an empty formula, or
// an empty list.
func IsEmpty(text string) bool {
	return formulaError.MatchString(text) || len(text) <= maxValue && emptyList.MatchString(text) ||
		text != "" && strings.TrimSpace(WithoutFormula(text)) == ""
}

// WithoutFormula returns the text that a formula stands for: 0439023483 of ="0439023483", which keeps a spreadsheet
// from reading a number.
func WithoutFormula(text string) string {
	if inner, ok := strings.CutPrefix(text, `="`); ok && strings.HasSuffix(inner, `"`) {
		return strings.ReplaceAll(strings.TrimSuffix(inner, `"`), `""`, `"`)
	}
	return text
}

// Bare returns a text without a formula, and without punctuation and invisible characters around it.
func Bare(text string) string {
	return strings.TrimFunc(collate.Visible(WithoutFormula(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
}

// Plain returns a text without a formula and invisible characters, with digits of ASCII, characters of normal width,
// and spaces without their width: "１９９８" and "١٩٩٨" become "1998".
func Plain(text string) string {
	text = WithoutFormula(text)
	isPlain := true
	for i := range len(text) {
		isPlain = isPlain && text[i] < utf8.RuneSelf
	}
	if isPlain {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			return r
		case unicode.IsDigit(r):
			return '0' + digit(r)
		case unicode.IsSpace(r):
			return ' '
		case r == '٫': // Arabic separators, U+066B and U+066C
			return '.'
		case r == '٬':
			return ','
		}
		return r
	}, strings.TrimSpace(norm.NFKC.String(collate.Visible(text))))
}

// digit returns the value of a decimal digit of any script. The digits of a script are in order, and each range of the
// table begins with a zero (Unicode Standard, section 4.6).
func digit(r rune) rune {
	for _, in := range unicode.Nd.R16 {
		if r <= rune(in.Hi) {
			return (r - rune(in.Lo)) % 10
		}
	}
	for _, in := range unicode.Nd.R32 {
		if r <= rune(in.Hi) {
			return (r - rune(in.Lo)) % 10
		}
	}
	return 0
}

var (
	// list matches a list of texts as Python, JSON and PostgreSQL write it.
	list = regexp.MustCompile(`^(?:\[\s*(?:(?:'[^']*'|"[^"]*")\s*(?:,\s*|\]$))+|\{(?:(?:"[^"]*"|[^",{}]+)(?:,|\}$))+)$`)
	item = regexp.MustCompile(`'([^']*)'|"([^"]*)"|([^",{}\[\]\s][^",{}\[\]]*)`)
)

// ParseList joins the texts of a cell that is a list: ['Ann One', 'Bob Two'] becomes Ann One, Bob Two.
func ParseList(text string) (joined string, ok bool) {
	if len(text) < 4 || len(text) > maxList || text[0] != '[' && text[0] != '{' || !list.MatchString(text) {
		return "", false
	}
	var items []string
	for _, found := range item.FindAllStringSubmatch(text, -1) {
		if it := strings.TrimSpace(found[1] + found[2] + found[3]); it != "" {
			items = append(items, it)
		}
	}
	return strings.Join(items, ", "), len(items) > 0
}
