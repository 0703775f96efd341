package value

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// AmountSurvey finds the decimal separator of a column of amounts.
type AmountSurvey struct {
	commas, points int             // cells in which it is the decimal separator
	currencies     map[string]bool // currencies of these cells
	unclear        map[string]Seen // by currency: the first cell like 85.000
	whole          int             // cells without a separator
	units          UnitSurvey      // unknown currencies
	Ambiguous      string          // the first cell like 85.000: three digits may be thousands or decimals
	Row            int             // row of Ambiguous
}

// Add counts a cell.
func (s *AmountSurvey) Add(row int, text string) {
	number, currency, isKnown, ok := splitAmount(text)
	if !ok {
		return
	}
	unknown := ""
	if !isKnown && utf8.RuneCountInString(currency) > 1 { // 12o is a misspelt number
		unknown = currency
	}
	s.units.count(row, text, unknown)
	switch whole, point, mayBeThousands := splitDecimals(number); {
	case mayBeThousands && strings.HasPrefix(whole, "0"): // 0.990 has no thousands
		s.count(currency, point)
	case mayBeThousands:
		if point == "." && s.Ambiguous == "" {
			s.Ambiguous, s.Row = text, row
		}
		if _, ok := s.unclear[currency]; point == "." && !ok && len(s.unclear) < maxUnits {
			if s.unclear == nil {
				s.unclear = map[string]Seen{}
			}
			s.unclear[currency] = Seen{Text: text, Row: row}
		}
	case point == "":
		s.whole++
	default:
		s.count(currency, point)
	}
}

// Currency returns the unknown currency that the column shares, or "".
func (s *AmountSurvey) Currency() (name string, cells Seen) { return s.units.Shared() }

func (s *AmountSurvey) count(currency, point string) {
	if s.currencies == nil {
		s.currencies = map[string]bool{}
	}
	if len(s.currencies) < maxUnits {
		s.currencies[currency] = true
	}
	if point == "," {
		s.commas++
	} else {
		s.points++
	}
}

// Comma reports whether the decimal separator is a comma. isClear is false if no cell decides it: if the column has
// Ambiguous, and no other cell with a separator or without one.
func (s *AmountSurvey) Comma() (comma, isClear bool) {
	for of, seen := range s.unclear { // Rp 25.000 is not decided by $ 7.50
		if of != "" && len(s.currencies) > 0 && !s.currencies[of] && !s.currencies[""] {
			s.Ambiguous, s.Row = seen.Text, seen.Row
			return true, false
		}
	}
	switch {
	case s.commas > 0 && s.points > 0 && s.Ambiguous != "": // rows of two notations
		return true, false
	case s.commas > 0 || s.points > 0:
		return s.points == 0, true
	case s.Ambiguous == "":
		return false, true
	}
	return true, s.whole > 0 // decimals would be written in all cells
}

// AnyCurrency stands for all currencies, also unknown ones.
const AnyCurrency = "*"

// ParseAmount parses an amount with a currency and thousands separators into a plain decimal number. comma is the
// decimal separator of ambiguous amounts like 1,299. ofColumn is the unknown currency that the column shares, or
// AnyCurrency. ParseAmount refuses other letters, because 12o is a misspelt number. The first of several prices counts.
func ParseAmount(text string, comma bool, ofColumn string) (plain string, ok bool) {
	if len(text) > maxValue {
		return "", false
	}
	text = Plain(text)
	if found := hundredths.FindStringSubmatch(text); found != nil && isCurrency(found[2]) {
		whole, ok := withoutThousands(found[1])
		digits := strings.TrimRightFunc(found[3], func(r rune) bool { return !unicode.IsDigit(r) })
		return whole + "." + ("0" + digits)[len(digits)-1:], ok
	}
	if _, ok := model.ParseCents(text); ok && !(comma && strings.Contains(text, ".")) {
		return text, true
	}
	number, currency, isKnown, ok := splitAmount(text)
	if !ok || !isKnown && currency != ofColumn && ofColumn != AnyCurrency {
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

// HasCurrency reports whether an amount has a currency that is known.
func HasCurrency(text string) bool {
	_, currency, isKnown, ok := splitAmount(text)
	return ok && isKnown && currency != ""
}

// UnknownCurrency returns the letters of an amount that are no known currency: o of 12o.
func UnknownCurrency(text string) string {
	if _, currency, isKnown, ok := splitAmount(text); ok && !isKnown {
		return currency
	}
	return ""
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

var (
	// amount matches a number with currencies before and after it. A dash may stand for no decimals: 12,-, 250/- and
	// 250/=.
	amount = regexp.MustCompile(`^((?:(?:\p{L}[\p{L}\p{M}'’ʻ"]*/?\.?|\p{Sc}) ?)*)` +
		`([0-9.][0-9.,'’ ]*?)(?:[,.:]?/?[-–—=]+)?(\s*(?:\p{L}[\p{L}\p{M}'’ʻ"]*\.? ?)*(?:\p{Sc}(?: [\p{L}\p{M}]+)?)?)$`)
	// hundredths matches an amount with hundredths behind the currency. Two digits need no unit of their own: 12€50,
	// 265 грн 50 коп.
	hundredths = regexp.MustCompile(
		`^(\d[\d.,'’ ]*?) ?(\p{L}[\p{L}\p{M}]*|\p{Sc})\.?,? ?(\d\d|\d{1,2} ?\p{L}[\p{L}\p{M}]*\.?)$`)
	// binding matches the words before a price on a catalogue card: Broschur : EUR 29.95.
	binding = regexp.MustCompile(`^(?:[\p{L}(][^:\d]*:\s+)+`)
	// priceEnd matches what separates prices, and priceNote what stands in brackets after one.
	priceEnd  = regexp.MustCompile(`,\s+|\s*;\s*|\s+[:/]\s+`)
	priceNote = regexp.MustCompile(`\s*\([^()]*\)$`)
)

// splitAmount returns the number of an amount, and its currency as currencyKey has it. isKnown is true without one too.
func splitAmount(text string) (number, currency string, isKnown, ok bool) {
	if len(text) > maxValue {
		return "", "", false, false
	}
	text = Plain(text)
	switch {
	case !strings.ContainsAny(text, "0123456789"):
		return "", "", false, false
	case strings.Trim(text, "0123456789.,") == "":
		return text, "", true, true
	}
	found := amount.FindStringSubmatch(firstPrice(text))
	if found == nil {
		return "", "", false, false
	}
	isKnown = true
	for _, side := range []string{found[1], found[3]} {
		isKnown = isKnown && (strings.TrimSpace(side) == "" || isCurrency(side))
	}
	return found[2], currencyKey(found[1] + found[3]), isKnown, true
}

// firstPrice returns the first of several prices without the words before them and the note after it: EUR 24.00 of
// "Festeinband : EUR 24.00 (DE), EUR 24.70 (AT)". Several numbers are prices only if each has a currency.
func firstPrice(text string) string {
	prices := priceEnd.Split(strings.TrimRight(binding.ReplaceAllString(text, ""), " ;:"), -1)
	for i, price := range prices {
		prices[i] = priceNote.ReplaceAllString(price, "")
		hasNumbers := len(prices) > 1 || strings.ContainsAny(price[len(prices[i]):], "0123456789")
		if found := amount.FindStringSubmatch(prices[i]); hasNumbers &&
			(found == nil || !isCurrency(found[1]) && !isCurrency(found[3])) {
			return text
		}
	}
	return prices[0]
}
