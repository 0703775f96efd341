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
// spreadsheet, or in "pages".
func parsePages(text string) (plain string, ok bool) {
	if _, err := strconv.Atoi(text); err == nil {
		return text, true
	}
	for _, unit := range []string{"pages", "page", "pp.", "pp", "p.", "p"} {
		if number, found := strings.CutSuffix(strings.ToLower(text), unit); found {
			text = strings.TrimSpace(number)
			break
		}
	}
	if whole, point, mayBeThousands := splitDecimals(text); point != "" && !mayBeThousands && strings.Trim(text[len(whole)+1:], "0") == "" {
		text = whole
	}
	return withoutThousands(text)
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
