package value

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/importer/source"
)

// Orders of day and month.
const (
	DatesAuto = "auto" // detected from the column
	DatesISO  = "iso"  // only YYYY-MM-DD
	DatesMDY  = "mdy"  // 9/16/2006
	DatesDMY  = "dmy"  // 16/9/2006
)

// calibreNoDate matches the date of a book without one in Calibre, in any time zone.
var calibreNoDate = regexp.MustCompile(`^0*(?:101-01-01|100-12-31)(?:\D|$)`)

// IsCalibreNoDate reports whether a cell is the date that Calibre writes for a book without one.
func IsCalibreNoDate(text string) bool {
	return len(text) <= maxValue && calibreNoDate.MatchString(text)
}

// none matches what cataloguers and programs write instead of a date or a number.
var none = regexp.MustCompile(
	`(?i)^[\[(]?(?:[-–—?]+|n/?a|null|none|nil|nan|unknown|undated|[nsbб]\. ?[adfrг]\.|nd|o\. ?j\.|u\. ?å\.|` +
		`no date|sans date|ohne jahr|sin fecha|sem data|senza data|bez (?:roku|daty|data)|без (?:года|даты)|` +
		`[^\d]*(?:not identified|not known|not given|nicht (?:ermittelbar|ermittelt|bekannt)|non identifi[ée]e?|` +
		`no identificad[ao]|` +
		`não identificad[ao]|non identificat[ao]|tuntematon|ej identifierat|okänt))[\])]?$`)

// IsNone reports whether a cell stands for no date or number. 1/0/1900 is a zero that Excel shows as a date.
func IsNone(text string) bool {
	visible := collate.Visible(text)
	return len(text) <= maxValue && none.MatchString(visible) || visible == "" && text != "" ||
		strings.HasPrefix(text, "1/0/1900")
}

// zeroDate matches a date without a year, month and day, which a time may follow: 0000-00-00T00:00:00Z, ??.??.????.
var zeroDate = regexp.MustCompile(`(?i)^(?:[-0?/.: ]|xx)*$|^(?:[-0?/.]|xx)+[ ,T]+\d{1,2}:\d\d.*$`)

// IsNoDate reports whether a cell stands for no date, such as 0000-00-00 00:00:00.
func IsNoDate(text string) bool {
	return IsNone(text) || len(text) <= maxValue && zeroDate.MatchString(Plain(text))
}

// year matches a year alone.
var year = regexp.MustCompile(`^\s*\d{4}\s*$`)

// IsFuller reports whether a text says more about a date than a year does: 1998-04 than 1998.
func IsFuller(text, than string) bool {
	if len(text) > maxValue || !year.MatchString(than) || !strings.Contains(text, strings.TrimSpace(than)) {
		return false
	}
	text = plainDate(text)
	return isDate(text, dateParts(text), 9999)
}

// datePart is a run of digits or letters in a date.
type datePart struct {
	text    string
	number  int        // value of digits
	month   time.Month // month of letters; 0 for digits
	ordinal bool       // digits with an English ending: 3rd
}

func (p datePart) isNumber() bool { return p.month == 0 }
func (p datePart) isYear() bool   { return p.isNumber() && len(p.text) == 4 }
func (p datePart) isShort() bool  { return p.isNumber() && len(p.text) <= 2 }

// isUnknown reports whether a part stands for a month or a day that is not known.
func (p datePart) isUnknown() bool { return p.text == "00" }

// units separate the numbers of a date in Chinese, Japanese and Korean, which names year, month and day. Thai
// abbreviates months with signs inside.
var units = strings.NewReplacer("年", "-", "月", "-", "日", " ", "号", " ", "號", " ", "년", "-", "월", "-", "일", " ",
	"(e)ko", " ",
	"ม.ค.", " มกราคม ", "ก.พ.", " กุมภาพันธ์ ", "มี.ค.", " มีนาคม ", "เม.ย.", " เมษายน ", "พ.ค.", " พฤษภาคม ", "มิ.ย.",
	" มิถุนายน ",
	"ก.ค.", " กรกฎาคม ", "ส.ค.", " สิงหาคม ", "ก.ย.", " กันยายน ", "ต.ค.", " ตุลาคม ", "พ.ย.", " พฤศจิกายน ", "ธ.ค.",
	" ธันวาคม ")

var (
	// unknownPart matches a month or a day that is not known: 1998-05-??, xx.05.1998.
	unknownPart = regexp.MustCompile(`(?i)(^|[-/. ])(?:(?:xx|uu)\b|\?\??|__?|\*\*?)`)
	// eastAsianNote matches a date in Chinese, Japanese or Korean with words after it: 1973年3月第1版.
	eastAsianNote = regexp.MustCompile(`^(\d{4} ?[年년](?:[\d 年月日号號년월일]*[月日号號월일])?)[ (\[]*` +
		`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}].*$`)
	// eastAsianPeriod matches decades and the years before or after one: 1990年代.
	eastAsianPeriod = regexp.MustCompile(`^\d{4} ?[年년] ?[代대前後后以이]`)
)

// dateParts splits a date at its separators and omits a time of day. It returns nil if text is not a date.
func dateParts(text string) (parts []datePart) {
	if !eastAsianPeriod.MatchString(text) {
		text = eastAsianNote.ReplaceAllString(text, "$1")
	}
	text = unknownPart.ReplaceAllString(units.Replace(text), "${1}00")
	if day, rest, found := strings.Cut(text, " "); found && weekdays.Has(strings.Trim(collate.Fold(day), ".,")) {
		if whole := dateParts(strings.TrimLeft(rest, " ")); len(whole) == 3 {
			return whole
		}
	}
	if colon := strings.IndexByte(text, ':'); colon >= 0 {
		text = text[:max(strings.LastIndexByte(text[:colon], ' '), 0)] // 9/16/2006 0:00
	}
	if year, found := strings.CutSuffix(text, ".0"); found && len(year) == 4 {
		text = year // a year stored as a number
	}
	isMonth := false // the next number
	for text != "" {
		part := datePart{text: firstRun(text)}
		text = text[len(part.text):]
		switch word := collate.Fold(part.text); {
		case part.text[0] >= '0' && part.text[0] <= '9' && len(part.text) <= 8:
			if part.number, _ = strconv.Atoi(part.text); isMonth && part.number <= 12 {
				part.month, isMonth = time.Month(part.number), false
			}
		case strings.Trim(part.text, " -/.,'’") == "":
			continue
		case word == "thang": // tháng 8
			isMonth = true
			continue
		case len(parts) > 0 && dateWords.Has(word):
			last := &parts[len(parts)-1]
			last.ordinal = last.ordinal || ordinalEndings.Has(word)
			continue
		default:
			if part.month = monthNamed(part.text); part.month == 0 {
				return nil
			}
		}
		if parts = append(parts, part); len(parts) > 3 {
			return nil
		}
	}
	return parts
}

// firstRun returns the digits, letters or other signs with which a text begins.
func firstRun(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	end := strings.IndexFunc(text, func(r rune) bool {
		return unicode.IsDigit(r) != unicode.IsDigit(first) || isLetter(r) != isLetter(first)
	})
	if end < 0 {
		return text
	}
	return text[:end]
}

// isLetter reports whether a sign belongs to a word.
func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// ParseDate parses a date. A missing month or day is the first. order chooses the month of two numbers. A year with two
// digits is within the hundred years up to lastYear. layout names the notation.
func ParseDate(text, order string, lastYear int) (day model.Date, layout string, ok bool) {
	if len(text) > maxValue {
		return model.Date{}, "", false
	}
	text = plainDate(text)
	return dateOf(text, dateParts(text), order, lastYear)
}

// dateForms are the notations of dates: the parts and their layout, for an order or any. An unknown part is left out.
var dateForms = []struct {
	parts         []func(datePart) bool
	layout, order string
}{
	{is{aYear}, "year", ""},
	{is{aYear, aLone}, "year, month", ""},
	{is{aYear, aName}, "year, month", ""},
	{is{aLone, aYear}, "month, year", ""},
	{is{aName, aYear}, "month, year", ""},
	{is{aYear, aShort, aShort}, "year, month, day", ""},
	{is{aYear, aName, aShort}, "year, month, day", ""},
	{is{aYear, aShort, aName}, "year, day, month", ""},
	{is{aName, aShort, aYear}, "month, day, year", ""},
	{is{aShort, aName, aNumber}, "day, month, year", ""},
	{is{anUnknown, aShort, aYear}, "unknown, month, year", ""}, // a day that is known would have a month
	{is{aShort, anUnknown, aYear}, "month, unknown, year", ""},
	{is{aShort, aShort, aNumber}, "month, day, year", DatesMDY},
	{is{aShort, aShort, aNumber}, "day, month, year", DatesDMY},
}

type is = []func(datePart) bool

func isPart(p datePart, kind func(datePart) bool) bool { return kind(p) }

// Kinds of parts.
var (
	aNumber, aYear, aShort, anUnknown = datePart.isNumber, datePart.isYear, datePart.isShort, datePart.isUnknown

	aLone = func(p datePart) bool { return p.isShort() && !p.ordinal }
	aName = func(p datePart) bool { return !p.isNumber() }
)

// dateOf is ParseDate for the parts of a plain text.
func dateOf(text string, parts []datePart, order string, lastYear int) (day model.Date, layout string, ok bool) {
	if len(parts) == 1 && parts[0].isNumber() && len(parts[0].text) == 8 {
		parts = dateParts(parts[0].text[:4] + "-" + parts[0].text[4:6] + "-" + parts[0].text[6:])
	}
	year, month, date := datePart{}, datePart{number: 1}, datePart{number: 1}
	for _, form := range dateForms {
		if (form.order == "" || form.order == order) && slices.EqualFunc(parts, form.parts, isPart) {
			layout = form.layout
			break
		}
	}
	i := 0
	for role := range strings.SplitSeq(layout, ", ") {
		switch role {
		case "year":
			year = parts[i]
		case "month":
			month = parts[i]
		case "day":
			date = parts[i]
		}
		i++
	}
	if layout = strings.Replace(layout, "unknown, ", "", 1); layout == "" {
		year.text, layout = yearOf(text, lastYear), "year"
		year.number, _ = strconv.Atoi(year.text)
	}
	switch len(year.text) {
	case 4:
	case 2:
		layout += " with two digits"
		year.number += lastYear - lastYear%100
		if year.number > lastYear {
			year.number -= 100
		}
	default:
		return model.Date{}, "", false
	}
	if !month.isNumber() {
		month.number = int(month.month)
	}
	isYearFirst := len(parts) > 0 && strings.HasPrefix(parts[0].text, year.text)
	// 2013-03-00, 19980000 and 00.05.1998 have an unknown day or month
	for _, part := range []*datePart{&month, &date} {
		if year.number > 0 && (isYearFirst || part.isUnknown()) {
			part.number = max(part.number, 1)
		}
	}
	day, ok = model.ParseDate(fmt.Sprintf("%04d-%02d-%02d", year.number, month.number, date.number))
	return day, layout, ok
}

// ExcelDay returns the day of a number in Excel: days since 1900, with an optional time. Numbers up to lastYear are
// years.
func ExcelDay(text string, lastYear int) (day model.Date, ok bool) {
	number, _, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(number)
	if err != nil || len(number) > 5 || n <= lastYear || strings.Trim(text, "0123456789.") != "" {
		return model.Date{}, false
	}
	at := source.ExcelDay0.AddDate(0, 0, n)
	return model.DateOf(at), at.Year() <= lastYear
}

// DateSurvey counts the cells of a column by their possible order of day and month.
type DateSurvey struct {
	years, excelDays int
	dates            int  // cells with a written date
	read, future     int  // cells with a year, and cells with a year to come that may be Buddhist
	croatian         bool // a month has its Croatian name
	MDY, DMY, Either Seen // readable in this order only, or in both
}

// Seen are cells of one kind.
type Seen struct {
	Cells int
	Text  string // the first
	Row   int
}

// HasExcelDays reports whether numbers of five digits are days of Excel. Among years they may be misspelt years,
// and among dates other mistakes.
func (s *DateSurvey) HasExcelDays() bool { return s.excelDays > 0 && s.years == 0 && s.dates == 0 }

// isDate reports whether a cell is a date in some order, and no number.
func isDate(text string, parts []datePart, lastYear int) bool {
	if _, ok := model.ParseDate(text); ok || len(parts) == 1 {
		return ok
	}
	return slices.ContainsFunc([]string{DatesMDY, DatesDMY}, func(order string) bool {
		_, _, ok := dateOf(text, parts, order, lastYear)
		return ok
	})
}

// buddhistEra is the difference of the Buddhist calendar, which Thailand uses, from the common one.
const buddhistEra = 543

// Buddhist is the layout of a date in the Buddhist calendar.
const Buddhist = "Buddhist calendar"

// IsBuddhist reports whether a day is of the last two hundred years if its year is of the Buddhist calendar.
func IsBuddhist(day model.Date, lastYear int) bool {
	year := int(day.Year) - buddhistEra
	return year <= lastYear && year > lastYear-200
}

// Parse parses a date as ParseDate does, as the other cells show that it is meant: in the Buddhist calendar, or with a
// Croatian name of a month.
func (s *DateSurvey) Parse(text, order string, lastYear int) (day model.Date, layout string, ok bool) {
	if s.croatian {
		text = listopad.ReplaceAllString(text, "october")
	}
	day, layout, ok = ParseDate(text, order, lastYear)
	if isEra := s.future > 1 && 10*s.future >= 8*s.read; ok && isEra && int(day.Year) > lastYear &&
		IsBuddhist(day, lastYear) {
		day.Year -= buddhistEra
		layout = Buddhist
	}
	return day, layout, ok
}

// Add counts a cell.
func (s *DateSurvey) Add(row int, text string, lastYear int) {
	if len(text) > maxValue {
		return
	}
	text = plainDate(text)
	s.croatian = s.croatian || croatian.MatchString(text)
	parts := dateParts(text)
	if day, _, ok := dateOf(text, parts, DatesDMY, lastYear); ok {
		if s.read++; int(day.Year) > lastYear && IsBuddhist(day, lastYear) {
			s.future++
		}
	}
	if len(parts) == 1 && parts[0].isYear() && parts[0].number <= lastYear {
		s.years++
	} else if _, ok := ExcelDay(text, lastYear); ok && len(text) > 4 {
		s.excelDays++
	} else if isDate(text, parts, lastYear) {
		s.dates++
	}
	s.addOrder(row, text, parts)
}

// addOrder counts a date with an ambiguous order of day and month, like 3/4/2005.
func (s *DateSurvey) addOrder(row int, text string, parts []datePart) {
	if len(parts) != 3 || !parts[0].isShort() || !parts[1].isShort() || !parts[2].isYear() && !parts[2].isShort() {
		return
	}
	first, second, seen := parts[0].number, parts[1].number, &s.Either
	isMDY, isDMY := first <= 12 && second <= 31, second <= 12 && first <= 31
	switch {
	case first == second, first == 0, second == 0, !isMDY && !isDMY:
		return
	case !isDMY:
		seen = &s.MDY
	case !isMDY:
		seen = &s.DMY
	}
	if seen.Cells++; seen.Cells == 1 {
		seen.Text, seen.Row = text, row
	}
}

// Order returns the order of the column. isClear is false if cells contradict each other, or none decides.
func (s *DateSurvey) Order() (order string, isClear bool) {
	switch {
	case s.MDY.Cells > 0 && s.DMY.Cells > 0:
		return DatesMDY, false
	case s.DMY.Cells > 0:
		return DatesDMY, true
	}
	return DatesMDY, s.MDY.Cells > 0 || s.Either.Cells == 0 // 5/5/2005 is the same in both
}
