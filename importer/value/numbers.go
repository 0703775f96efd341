package value

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
)

// AmountSurvey finds the decimal separator of a column of amounts.
type AmountSurvey struct {
	commas, points int             // cells in which it is the decimal separator
	currencies     map[string]bool // of these cells
	unclear        map[string]Seen // by currency: the first cell like 85.000
	whole          int             // cells without a separator
	Ambiguous      string          // the first cell like 85.000, whose three digits may be thousands or decimals
	Row            int             // of Ambiguous
}

// Add counts a cell.
func (s *AmountSurvey) Add(row int, text string) {
	number, ok := bareNumber(Plain(text))
	if !ok {
		return
	}
	switch whole, point, mayBeThousands := splitDecimals(number); {
	case mayBeThousands && strings.HasPrefix(whole, "0"): // 0.990 has no thousands
		s.count(text, point)
	case mayBeThousands:
		if point == "." && s.Ambiguous == "" {
			s.Ambiguous, s.Row = text, row
		}
		if _, ok := s.unclear[currency(text)]; point == "." && !ok && len(s.unclear) < maxUnits {
			if s.unclear == nil {
				s.unclear = map[string]Seen{}
			}
			s.unclear[currency(text)] = Seen{Text: text, Row: row}
		}
	case point == "":
		s.whole++
	default:
		s.count(text, point)
	}
}

func (s *AmountSurvey) count(text, point string) {
	if s.currencies == nil {
		s.currencies = map[string]bool{}
	}
	if len(s.currencies) < maxUnits {
		s.currencies[currency(text)] = true
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

// currency returns the letters and signs of currencies in an amount.
func currency(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.Is(unicode.Sc, r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// ParseAmount parses an amount with a currency and thousands separators into a plain decimal number. comma is
// the decimal separator of ambiguous amounts like 1,299.
func ParseAmount(text string, comma bool) (plain string, ok bool) {
	if len(text) > maxValue {
		return "", false
	}
	text = Plain(text)
	if found := hundredths.FindStringSubmatch(text); found != nil && HasCurrency(found[2]) {
		whole, ok := withoutThousands(found[1])
		return whole + "." + ("0" + found[3])[len(found[3])-1:], ok
	}
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

// amount matches a number with a currency before or after it: a symbol, or letters. A dash may stand for no
// decimals: 12,-, 250/- and 250/=.
var amount = regexp.MustCompile(`^(?:\p{L}{0,4}\.?\p{Sc}?)\s*([0-9.][0-9.,'’ ]*?)(?:[,.:]?/?[-–—=]+)?\s*(?:\p{Sc}|[\p{L}\p{M}.'’ʻ]{1,10})?$`)

// hundredths matches an amount whose hundredths have a unit of their own: 265 грн 50 коп.
var hundredths = regexp.MustCompile(`^(\d[\d ]*?) ?(\p{L}[\p{L}\p{M}]*)\.?,? (\d{1,2}) ?\p{L}[\p{L}\p{M}]*\.?$`)

// bareNumber removes the currency from an amount.
func bareNumber(text string) (number string, ok bool) {
	if len(text) > maxValue {
		return "", false
	}
	if strings.Trim(text, "0123456789.,") == "" {
		return text, text != ""
	}
	found := amount.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	return found[1], true
}

// ParsePages parses a whole number with thousands separators. It may end in zero decimals, like a number of a
// spreadsheet, or be the extent of a catalogue card, such as "xii, 304 p. : ill. ; 23 cm". Its unit is a word for pages,
// or the one of its column (UnitSurvey).
func ParsePages(text, ofColumn string) (plain string, ok bool) {
	if len(text) > maxValue {
		return "", false
	}
	text = Plain(text)
	if _, err := strconv.Atoi(text); err == nil {
		return text, true
	}
	if extent.MatchString(text) {
		return longestSequence(text)
	}
	if number, unit := SplitUnit(text); unit != "" && (unit == ofColumn || pageWords.MatchString(unit)) {
		return number, true
	}
	if whole, point, mayBeThousands := splitDecimals(text); point != "" && !mayBeThousands && strings.Trim(text[len(whole)+1:], "0") == "" {
		text = whole
	}
	return withoutThousands(text)
}

var (
	// sequence matches a list of page numbers with a unit.
	sequence = `((?:\[?[ivxlcdm]+\]?[,+\s-]+)*[\d\[\],.+'’\s\x{A0}\x{202F}-]+?)` +
		`\s*(?:pages?|pgs?|pp?|pág|págs|páginas?|paginas?|pagine|seiten?|sid(?:or|er|a)|str|stron|strony|stran|s|с|стр|oldal|blz|sayfa|f)(?:[^\pL\d]|$)`
	sequences = regexp.MustCompile(`(?i)` + sequence)
	// extent matches a text that begins with a sequence, also in one volume: 1 vol. (304 p.).
	extent       = regexp.MustCompile(`(?i)^(?:1 [^(]*\()?(?:(?:ca?|circa|approx)\.? |about )?` + sequence)
	pageRange    = regexp.MustCompile(`\d-+\d`)
	tightList    = regexp.MustCompile(`[^\d\s],\d`) // viii,120,304: no comma separates thousands
	listedNumber = regexp.MustCompile(`\[?(?:\d{1,3}(?:[.'’]\d{3})+|\d,\d{3}|\d+)`)
)

// longestSequence returns the greatest page count of a text with several sequences: 304 of 4 p. l., 304 p.
func longestSequence(text string) (plain string, ok bool) {
	most := 0
	for _, found := range sequences.FindAllStringSubmatch(text, -1) {
		list := strings.Trim(found[1], " ,.+-\u00A0\u202F")
		if pageRange.MatchString(list) {
			return "", false
		}
		digits, ok := withoutThousands(list)
		if !ok {
			digits = mainSequence(list)
		}
		if n, err := strconv.Atoi(digits); err == nil && n > most {
			plain, most = digits, n
		}
	}
	return plain, most > 0
}

// mainSequence returns the greatest number of a list that is not in brackets, or else of all: 304 of xii, 304, [2].
func mainSequence(list string) (longest string) {
	if tightList.MatchString(list) {
		list = strings.ReplaceAll(list, ",", " ")
	}
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

const thousandsSeparators = ".,'’ \u00A0\u202F"

// withoutThousands joins groups of three digits with the same separator, which is one of thousandsSeparators. Groups of
// India have two digits, and only the last one three: 1,25,000.
func withoutThousands(number string) (digits string, ok bool) {
	const all = "0123456789"
	groups := []string{number}
	if rest := strings.TrimLeft(number, all); rest != "" {
		separator := string([]rune(rest)[0])
		if !strings.Contains(thousandsSeparators, separator) {
			return "", false
		}
		groups = strings.Split(number, separator)
	}
	isIndian := len(groups) > 2 && len(groups[1]) == 2 && strings.Contains(number, ",")
	for i, group := range groups {
		wrong := len(group) != 3
		switch {
		case i == 0:
			wrong = len(group) > 3 && len(groups) > 1 || isIndian && len(group) > 2
		case isIndian && i < len(groups)-1:
			wrong = len(group) != 2
		}
		if wrong || group == "" && len(groups) > 1 || strings.Trim(group, all) != "" {
			return "", false
		}
	}
	return strings.Join(groups, ""), number != ""
}
