package importer

import (
	"regexp"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// amountSurvey is what the cells of a column say of the sign before the decimals.
type amountSurvey struct{ commas, points int }

// add takes a cell.
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

// comma reports whether a comma stands before the decimals.
func (s *amountSurvey) comma() bool { return s.commas > 0 && s.points == 0 }

// parseAmount reads an amount with a currency and thousands separators, and returns it
// as a plain decimal number. Where 1,299 leaves open what its sign is, comma says that
// a comma stands before the decimals.
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

// splitDecimals finds the point or comma that may stand before the decimals: the last
// one, and the only one of its kind. Three digits after an only one may also be
// thousands.
func splitDecimals(number string) (whole, point string, mayBeThousands bool) {
	last := strings.LastIndexAny(number, ".,")
	if last < 0 || strings.Count(number, number[last:last+1]) > 1 {
		return number, "", false
	}
	whole = number[:last]
	return whole, number[last : last+1], len(number)-last-1 == 3 && whole != "" && !strings.ContainsAny(whole, ".,")
}

// amount is a number with a currency, as a sign or as up to four letters, on one side.
var amount = regexp.MustCompile(`^(?:\p{L}{0,4}\.?\p{Sc}?)[\s\x{A0}\x{202F}]*([0-9.][0-9.,'’ \x{A0}\x{202F}]*?)[\s\x{A0}\x{202F}]*(?:\p{Sc}|\p{L}{1,4}\.?)?$`)

// bareNumber takes the currency off an amount.
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

// parsePages reads a whole number with thousands separators, which may end in decimals
// of 0, as a number of a spreadsheet does, or in "pages".
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

// withoutThousands joins groups of three digits that one sign parts.
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
