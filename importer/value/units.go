package value

import (
	"regexp"
	"strings"
)

var (
	// numberUnit matches a number with a unit of one or two words: 352页, 396 or. ;
	numberUnit = regexp.MustCompile(`^(?:全|共)?(\d[\d., ]*?)\s*(\p{L}[\p{L}\p{M}'’]*(?:\.? \p{L}[\p{L}\p{M}]*)?)[.׳']?[\s;:,]*$`)
	// pageWords match words for pages in scripts other than Latin; sequences has the Latin ones.
	pageWords = regexp.MustCompile(`^(?:[页頁面]|ページ|쪽|페이지|หน้า|ص$|صفح|ورق|עמ|דפ|דף|पृ|पेज|पन्न|পৃ|পাতা|பக்க|పేజ|పుట|σελ|стр|стор|с$|лист|хууд|გვ|էջ|ገጽ|ទំព័រ)`)
	// otherUnits match units of other things: lengths, weights, volumes and thousands.
	otherUnits = regexp.MustCompile(`^(?:[cmk]?m|[см]м|м|k?g|kb|mb|кг|г|гр|vols?|v|bde?|tom(?:e|es|i|o|os|u|y)?|cilt|ks|szt|dvds?|cds?|т|том(?:а|ове|ов|и|ів)?|кн|τ[οό]μ.*|جلد|جلدين|مجلد.*|[卷巻冊册권部本子千万萬].*)$`)
	// currencies match words and codes of currencies.
	currencies = regexp.MustCompile(`^(?:[元円원].*|eur.*|usd|gbp|chf|rub|dollars?|kr|dkk|sek|nok|isk|kc|czk|zl|pln|ft|huf|lei|ron|din|dinara?|rsd|kn|kuna|hrk|km|bam|lek[eë]?|all|руб.*|р|лв|bgn|грн.*|uah|дин.*|ден.*|тенге|тг|сом|сум|manat|azn|try|tl|rp|idr|rupiah|rm|php|baht|thb|đ|₫|vn[dđ]|đồng|dong|inr|rs|ლარი|gel|դրամ|amd|ευρώ|تومان|ريال|ریال|บาท|रुपये|टाका)$`)
)

// SplitUnit returns the whole number and the unit, in lower case, of a cell such as "396 or. ;". Without both it returns "".
func SplitUnit(text string) (number, unit string) {
	if len(text) > maxValue {
		return "", ""
	}
	found := numberUnit.FindStringSubmatch(Plain(text))
	if found == nil {
		return "", ""
	}
	number, ok := withoutThousands(found[1])
	if !ok {
		return "", ""
	}
	return number, strings.ToLower(found[2])
}

// HasCurrency reports whether an amount has a word or a code of a currency.
func HasCurrency(amount string) bool { return currencies.MatchString(currency(amount)) }

// UnitSurvey finds the unknown unit that a column of page counts shares.
type UnitSurvey struct {
	numbers int // cells with a number, and no unit of another thing
	units   map[string]*Seen
}

// maxUnits is the maximum number of units that are counted.
const maxUnits = 100

// Add counts a cell.
func (s *UnitSurvey) Add(row int, text string) {
	if _, ok := ParsePages(text, ""); ok {
		s.numbers++
		return
	}
	number, unit := SplitUnit(text)
	if number == "" || (otherUnits.MatchString(unit) || currencies.MatchString(unit)) {
		return
	}
	s.numbers++
	if s.units[unit] == nil {
		if len(s.units) == maxUnits {
			return
		}
		if s.units == nil {
			s.units = map[string]*Seen{}
		}
		s.units[unit] = &Seen{Text: text, Row: row}
	}
	s.units[unit].Cells++
}

// Shared returns the unit of at least two cells, and four fifths of the numbers, or "".
func (s *UnitSurvey) Shared() (unit string, cells Seen) {
	for unit, seen := range s.units {
		if seen.Cells > 1 && 10*seen.Cells >= 8*s.numbers {
			return unit, *seen
		}
	}
	return "", Seen{}
}
