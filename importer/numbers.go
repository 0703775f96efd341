package importer

import (
	"regexp"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// amountSurvey counts decimal separators in a column.
type amountSurvey struct{ commas, points int }

// add counts a cell.
func (s *amountSurvey) add(text string) {
	number, ok := bareNumber(text)
	if !ok {
		return
	}
	switch _, point, mayBeThousands := splitDecimals(number); {
	case mayBeThousands:
	case point == ",":
		s.commas++
	case point == ".":
		s.points++
	}
}

// comma reports whether the decimal separator is a comma.
func (s *amountSurvey) comma() bool { return s.commas > 0 && s.points == 0 }

// parseAmount parses an amount with a currency and thousands separators into a plain decimal number. comma is
// the decimal separator of ambiguous amounts like 1,299.
func parseAmount(text string, comma bool) (plain string, ok bool) {
	if _, ok := model.ParseCents(text); ok && !(comma && strings.Contains(text, ".")) {
		return text, true
	}
	number, ok := bareNumber(text)
	if !ok {
		return "", false
	}
	whole, point, mayBeThousands := splitDecimals(number)
	if point == "" || mayBeThousands && (point == ",") != comma {
		return withoutThousands(number)
	}
	fraction := number[len(whole)+len(point):]
	whole, ok = withoutThousands(whole)
	return whole + "." + fraction, ok && fraction != "" && strings.Trim(fraction, "0123456789") == ""
}

// splitDecimals finds the decimal separator: the last point or comma, if it is the only one of its kind. Three
// digits after a single separator may also be thousands.
func splitDecimals(number string) (whole, point string, mayBeThousands bool) {
	last := strings.LastIndexAny(number, ".,")
	if last < 0 || strings.Count(number, number[last:last+1]) > 1 {
		return number, "", false
	}
	whole = number[:last]
	return whole, number[last : last+1], len(number)-last-1 == 3 && whole != "" && !strings.ContainsAny(whole, ".,")
}

// amount matches a number with a currency before or after it: a symbol, or up to four letters.
var amount = regexp.MustCompile(`^(?:\p{L}{0,4}\.?\p{Sc}?)[\s\x{A0}\x{202F}]*([0-9.][0-9.,'’ \x{A0}\x{202F}]*?)[\s\x{A0}\x{202F}]*(?:\p{Sc}|\p{L}{1,4}\.?)?$`)

// bareNumber removes the currency from an amount.
func bareNumber(text string) (number string, ok bool) {
	if strings.Trim(text, "0123456789.,") == "" {
		return text, text != ""
	}
	found := amount.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// parsePages parses a whole number with thousands separators. It may end in zero decimals, like a number of a
// spreadsheet, or be the extent of a catalogue card, such as "xii, 304 p. : ill. ; 23 cm".
func parsePages(text string) (plain string, ok bool) {
	if _, err := strconv.Atoi(text); err == nil {
		return text, true
	}
	if found := extent.FindStringSubmatch(text); found != nil {
		if text = strings.TrimSpace(found[1]); !pageRange.MatchString(text) {
			if plain, ok := withoutThousands(text); ok {
				return plain, true
			}
			text = mainSequence(text)
		}
	}
	if whole, point, mayBeThousands := splitDecimals(text); point != "" && !mayBeThousands && strings.Trim(text[len(whole)+1:], "0") == "" {
		text = whole
	}
	return withoutThousands(text)
}

var (
	// extent matches a list of page numbers with a unit, also in one volume: 1 vol. (304 p.).
	extent = regexp.MustCompile(`(?i)^(?:1 [^(]*\()?(?:(?:ca?|circa|approx)\.? |about )?((?:\[?[ivxlcdm]+\]?[,+\s-]+)*[\d\[\],.+'’\s\x{A0}\x{202F}-]+?)` +
		`\s*(?:pages?|pgs?|pp?|pág|págs|páginas?|paginas?|pagine|seiten?|sid(?:or|er|a)|str|stron|strony|stran|s|с|стр|oldal|blz|sayfa|f)(?:[^\pL\d].*)?$`)
	pageRange    = regexp.MustCompile(`\d-+\d`)
	listedNumber = regexp.MustCompile(`\[?(?:\d{1,3}(?:[,.'’]\d{3})+|\d+)`)
)

// mainSequence returns the greatest number of a list that is not in brackets, or else of all: 304 of xii, 304, [2].
func mainSequence(list string) (longest string) {
	most, inBrackets := -1, true
	for _, number := range listedNumber.FindAllString(list, -1) {
		bare, isBracketed := strings.CutPrefix(number, "[")
		digits, _ := withoutThousands(bare)
		n, err := strconv.Atoi(digits)
		if err == nil && (inBrackets && !isBracketed || n > most && isBracketed == inBrackets) {
			longest, most, inBrackets = digits, n, isBracketed
		}
	}
	return longest
}

// withoutThousands joins groups of three digits with the same separator.
func withoutThousands(number string) (digits string, ok bool) {
	const all = "0123456789"
	groups := []string{number}
	if rest := strings.TrimLeft(number, all); rest != "" {
		groups = strings.Split(number, string([]rune(rest)[0]))
	}
	for i, group := range groups {
		wrong := len(group) != 3
		if i == 0 {
			wrong = len(group) > 3 && len(groups) > 1
		}
		if wrong || group == "" && len(groups) > 1 || strings.Trim(group, all) != "" {
			return "", false
		}
	}
	return strings.Join(groups, ""), number != ""
}
