package importer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/importer/source"
)

// Values of Options.Dates.
const (
	datesAuto = "auto" // detected from the column
	datesISO  = "iso"  // only YYYY-MM-DD
	datesMDY  = "mdy"  // 9/16/2006
	datesDMY  = "dmy"  // 16/9/2006
)

// noDate begins the date of a book without one in Calibre.
const noDate = "0101-01-01"

// noValue matches what cataloguers and programs write instead of a date or a number.
var noValue = regexp.MustCompile(`(?i)^[\[(]?(?:[-–—?]+|n/?a|null|none|nil|unknown|undated|[nsb]\. ?[adfr]\.|nd|o\. ?j\.)[\])]?$`)

// datePart is a run of digits or letters in a date.
type datePart struct {
	text   string
	number int        // value of digits
	month  time.Month // month of letters; 0 for digits
}

func (p datePart) isNumber() bool { return p.month == 0 }
func (p datePart) isYear() bool   { return p.isNumber() && len(p.text) == 4 }
func (p datePart) isShort() bool  { return p.isNumber() && len(p.text) <= 2 }

// dateWords are words between the parts of a date: 1st of May, 1er mai, 12 de agosto.
var dateWords = map[string]bool{"st": true, "nd": true, "rd": true, "th": true, "of": true, "er": true, "de": true, "del": true}

// cataloguedYear matches a year as cataloguers write it: c1990, [1990?], 1990-1995, 1990, c1988. The first one counts.
var cataloguedYear = regexp.MustCompile(`(?i)^[\[(<]*(?:©|℗|c|p|cop|copyright|ca|circa|um|vers|approximately|d\.?\s?l|impr)?[.\s]*(\d{4})[\])>?.,\s-]*(?:[©c]?\d{4}[\])>?.\s-]*)?$`)

// dateParts splits a date at its separators and omits a time of day. It returns nil if text is not a date.
func dateParts(text string) (parts []datePart) {
	if colon := strings.IndexByte(text, ':'); colon >= 0 {
		text = text[:max(strings.LastIndexByte(text[:colon], ' '), 0)] // 9/16/2006 0:00
	}
	if year, found := strings.CutSuffix(text, ".0"); found && len(year) == 4 {
		text = year // a year stored as a number
	}
	rest := text
	for rest != "" {
		first, _ := utf8.DecodeRuneInString(rest)
		run := strings.IndexFunc(rest, func(r rune) bool {
			return unicode.IsDigit(r) != unicode.IsDigit(first) || unicode.IsLetter(r) != unicode.IsLetter(first)
		})
		if run < 0 {
			run = len(rest)
		}
		part := datePart{text: rest[:run]}
		rest = rest[run:]
		switch {
		case first >= '0' && first <= '9' && run <= 8:
			part.number, _ = strconv.Atoi(part.text)
		case strings.Trim(part.text, " -/.,") == "":
			continue
		case len(parts) > 0 && dateWords[strings.ToLower(part.text)]:
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

// months are the names of the months in languages of Europe, without accents.
var months = [12]string{
	"january januar janvier enero gennaio janeiro januari stycznia января", "february februar fevrier febrero febbraio fevereiro februari lutego февраля",
	"march marz mrz mars marzo marco maart mrt marts marca марта", "april avril abril aprile kwietnia апреля",
	"may mai mayo maggio maio mei maj мая май", "june juni juin junio giugno junho czerwca июня июнь",
	"july juli juillet julio luglio julho lipca июля июль", "august aout agosto augustus augusti sierpnia августа",
	"september septembre septiembre settembre setembro wrzesnia сентября", "october oktober octobre octubre ottobre outubro pazdziernika октября",
	"november novembre noviembre novembro listopada ноября", "december dezember decembre diciembre dicembre dezembro desember grudnia декабря",
}

// monthNamed returns the only month with a name that begins with name, or 0.
func monthNamed(name string) (found time.Month) {
	name = collate.Fold(name)
	for i, names := range months {
		if len(name) >= 3 && strings.Contains(" "+names, " "+name) {
			if found != 0 {
				return 0
			}
			found = time.Month(i + 1)
		}
	}
	return found
}

// numericDate returns the first two numbers of a date with an ambiguous order of day and month, like 3/4/2005.
func numericDate(parts []datePart) (first, second int, ok bool) {
	if len(parts) == 3 && parts[0].isShort() && parts[1].isShort() && (parts[2].isYear() || parts[2].isShort()) {
		return parts[0].number, parts[1].number, true
	}
	return 0, 0, false
}

// parseDate parses a date. A missing month or day is the first. order chooses the month of two numbers. A year
// of two digits is within the hundred years up to lastYear. layout names the notation.
func parseDate(text, order string, lastYear int) (day model.Date, layout string, ok bool) {
	parts := dateParts(text)
	year, month, date := datePart{}, datePart{number: 1}, datePart{number: 1}
	is := func(tests ...func(datePart) bool) bool {
		if len(parts) != len(tests) {
			return false
		}
		for i, test := range tests {
			if !test(parts[i]) {
				return false
			}
		}
		return true
	}
	number, short, long := datePart.isNumber, datePart.isShort, datePart.isYear
	name := func(p datePart) bool { return !p.isNumber() }
	eight := func(p datePart) bool { return p.isNumber() && len(p.text) == 8 }
	switch {
	case is(eight):
		n := parts[0].number
		year, month, date, layout = datePart{text: parts[0].text[:4], number: n / 10000}, datePart{number: n / 100 % 100}, datePart{number: n % 100}, "year, month, day"
	case is(long):
		year, layout = parts[0], "year"
	case is(long, short), is(long, name):
		year, month, layout = parts[0], parts[1], "year, month"
	case is(short, long), is(name, long):
		year, month, layout = parts[1], parts[0], "month, year"
	case is(long, short, short), is(long, name, short):
		year, month, date, layout = parts[0], parts[1], parts[2], "year, month, day"
	case is(name, short, long):
		year, month, date, layout = parts[2], parts[0], parts[1], "month, day, year"
	case is(short, name, number):
		year, month, date, layout = parts[2], parts[1], parts[0], "day, month, year"
	case is(short, short, number) && order == datesMDY:
		year, month, date, layout = parts[2], parts[0], parts[1], "month, day, year"
	case is(short, short, number) && order == datesDMY:
		year, month, date, layout = parts[2], parts[1], parts[0], "day, month, year"
	default:
		found := cataloguedYear.FindStringSubmatch(text)
		if found == nil {
			return model.Date{}, "", false
		}
		year.text, layout = found[1], "year"
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
	day, ok = model.ParseDate(fmt.Sprintf("%04d-%02d-%02d", year.number, month.number, date.number))
	return day, layout, ok
}

// excelDay returns the day of a number in Excel: days since 1900, with an optional time. Numbers up to lastYear are
// years.
func excelDay(text string, lastYear int) (day model.Date, ok bool) {
	number, _, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(number)
	if err != nil || len(number) > 5 || n <= lastYear || strings.Trim(text, "0123456789.") != "" {
		return model.Date{}, false
	}
	at := source.ExcelDay0.AddDate(0, 0, n)
	return model.DateOf(at), at.Year() <= lastYear
}

// dateSurvey counts the cells of a column by their possible order of day and month.
type dateSurvey struct {
	years, excelDays int
	dates            int      // cells with a written date
	hasDates         bool     // a cell is a date in some order
	mdy, dmy, either struct { // readable in this order only, or in both
		cells int
		text  string // the first
		row   int
	}
}

// hasExcelDays reports whether numbers of five digits are days of Excel. Among years they may be misspelt years,
// and among dates other mistakes.
func (s *dateSurvey) hasExcelDays() bool { return s.excelDays > 0 && s.years == 0 && s.dates == 0 }

// isDate reports whether a cell is a date in some order, and no number.
func isDate(text string, parts []datePart, lastYear int) bool {
	_, iso := model.ParseDate(text)
	_, _, mdy := parseDate(text, datesMDY, lastYear)
	_, _, dmy := parseDate(text, datesDMY, lastYear)
	return iso || len(parts) != 1 && (mdy || dmy)
}

// add counts a cell.
func (s *dateSurvey) add(row int, text string, lastYear int) {
	parts := dateParts(text)
	if len(parts) == 1 && parts[0].isYear() && parts[0].number <= lastYear {
		s.years++
	} else if _, ok := excelDay(text, lastYear); ok && len(text) > 4 {
		s.excelDays++
	} else if isDate(text, parts, lastYear) {
		s.dates++
	}
	first, second, ok := numericDate(parts)
	if !ok || first == second {
		return
	}
	seen := &s.either
	switch month, day := first <= 12 && second <= 31, second <= 12 && first <= 31; {
	case month && !day:
		seen = &s.mdy
	case day && !month:
		seen = &s.dmy
	case !day:
		return
	}
	if seen.cells++; seen.cells == 1 {
		seen.text, seen.row = text, row
	}
}

// order returns the order of the column, or the first answer to a question.
func (s *dateSurvey) order(column string, lastYear int) (string, *Question) {
	switch {
	case s.mdy.cells > 0 && s.dmy.cells > 0:
		return datesMDY, &Question{Option: "dates",
			Text: fmt.Sprintf("the column %s mixes two orders: %s (row %d) must be month, day, year, as in %s, and %s (row %d) must be day, month, year, as in %s",
				Printable(column), Printable(s.mdy.text), s.mdy.row, CountRows(s.mdy.cells), Printable(s.dmy.text), s.dmy.row, CountRows(s.dmy.cells)),
			Answers: []Answer{
				{datesMDY, "rejects the second", "Month first; reject dates like " + Printable(s.dmy.text)},
				{datesDMY, "rejects the first", "Day first; reject dates like " + Printable(s.mdy.text)},
			},
		}
	case s.mdy.cells > 0:
		return datesMDY, nil
	case s.dmy.cells > 0:
		return datesDMY, nil
	case s.either.cells == 0: // 5/5/2005 is the same in both
		return datesMDY, nil
	}
	mdy, _, _ := parseDate(s.either.text, datesMDY, lastYear)
	dmy, _, _ := parseDate(s.either.text, datesDMY, lastYear)
	return datesMDY, &Question{Option: "dates",
		Text: fmt.Sprintf("the column %s can be read in two ways, as %s (row %d)", Printable(column), Printable(s.either.text), s.either.row),
		Answers: []Answer{
			{datesMDY, "makes that " + mdy.String(), "Month first: " + mdy.String()},
			{datesDMY, "makes that " + dmy.String(), "Day first: " + dmy.String()},
		},
	}
}
