package importer

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// dateOrder is how the days of a column are written: values of Options.Dates.
const (
	datesAuto = "auto" // as the column itself shows
	datesISO  = "iso"  // only YYYY-MM-DD
	datesMDY  = "mdy"  // 9/16/2006
	datesDMY  = "dmy"  // 16/9/2006
)

// datePart is a run of digits, or of letters, in a date.
type datePart struct {
	text   string
	number int        // of digits
	month  time.Month // of letters
}

func (p datePart) isNumber() bool { return p.month == 0 }
func (p datePart) isYear() bool   { return p.isNumber() && len(p.text) == 4 }
func (p datePart) isShort() bool  { return p.isNumber() && len(p.text) <= 2 }

var ordinals = map[string]bool{"st": true, "nd": true, "rd": true, "th": true}

// dateParts splits a date at its signs, up to a time of day. It returns nil where
// text is none.
func dateParts(text string) (parts []datePart) {
	if day, clock, found := strings.Cut(text, " "); found && strings.Contains(clock, ":") {
		text = day // 9/16/2006 0:00
	}
	if year, found := strings.CutSuffix(text, ".0"); found && len(year) == 4 {
		text = year // a year that was written as a number
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
		case len(parts) > 0 && parts[len(parts)-1].isShort() && ordinals[strings.ToLower(part.text)]:
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

// monthNamed returns the month with this English name or its beginning, or 0.
func monthNamed(name string) time.Month {
	if len(name) >= 3 {
		for month := time.January; month <= time.December; month++ {
			if len(name) <= len(month.String()) && strings.EqualFold(name, month.String()[:len(name)]) {
				return month
			}
		}
	}
	return 0
}

// numericDate returns the first two numbers of a date whose order of day and month
// cannot be seen from its form: 3/4/2005.
func numericDate(parts []datePart) (first, second int, ok bool) {
	if len(parts) == 3 && parts[0].isShort() && parts[1].isShort() && (parts[2].isYear() || parts[2].isShort()) {
		return parts[0].number, parts[1].number, true
	}
	return 0, 0, false
}

// parseDate reads a day, of which month and day may be missing; then it is the first.
// order says which of two numbers is the month. A year of two digits is in the hundred
// years up to lastYear. layout names the form in which it is written.
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
		return model.Date{}, "", false
	}
	switch len(year.text) {
	case 4:
	case 2:
		layout += " of two digits"
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

// dateSurvey is what the cells of a column say of the order of day and month.
type dateSurvey struct {
	mdy, dmy, either struct { // that can be read by this order alone, or by both
		cells int
		text  string // of the first
		row   int
	}
}

// add takes a cell.
func (s *dateSurvey) add(row int, text string) {
	first, second, ok := numericDate(dateParts(text))
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

// order decides, or asks.
func (s *dateSurvey) order(column string, lastYear int) (string, error) {
	switch {
	case s.mdy.cells > 0 && s.dmy.cells > 0:
		return "", &Question{Option: "dates",
			Text: fmt.Sprintf("the column %s is not of one form: %s (row %d) can only be month, day, year, as %d cells are, and %s (row %d) only day, month, year, as %d are",
				Printable(column), Printable(s.mdy.text), s.mdy.row, s.mdy.cells, Printable(s.dmy.text), s.dmy.row, s.dmy.cells),
			Answers: []Answer{{datesMDY, "rejects the second"}, {datesDMY, "rejects the first"}},
		}
	case s.mdy.cells > 0:
		return datesMDY, nil
	case s.dmy.cells > 0:
		return datesDMY, nil
	case s.either.cells == 0:
		return datesAuto, nil
	}
	mdy, _, _ := parseDate(s.either.text, datesMDY, lastYear)
	dmy, _, _ := parseDate(s.either.text, datesDMY, lastYear)
	return "", &Question{Option: "dates",
		Text:    fmt.Sprintf("the column %s can be read in two ways, as %s (row %d)", Printable(column), Printable(s.either.text), s.either.row),
		Answers: []Answer{{datesMDY, "makes that " + mdy.String()}, {datesDMY, "makes that " + dmy.String()}},
	}
}
