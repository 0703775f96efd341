// Package survey finds out which column of a list of books is which, by the names of the columns and by their cells.
package survey

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/importer/value"
)

// Profile describes the cells of a column.
type Profile struct {
	Name   string   // column name
	Filled int      // cells with a value
	First  []string // first different values

	seen     [cellKinds]int // cells by kind
	distinct map[string]bool
	letters  int
	numbers  []int // whole numbers
	units    value.UnitSurvey
}

// cellKind is a kind of cell that is evidence. A cell may be of several.
type cellKind int

const (
	isbns      cellKind = iota
	codes               // ISBNs and addresses
	marks               // inventory numbers and shelf marks
	persons             // names of persons
	pairs               // names of persons in a script without case
	genres              // kinds of books in such a script
	publishers          // names of publishers
	dates
	years
	buddhist // years of the Buddhist calendar
	yearly   // texts with a year
	pages    // whole numbers, and numbers with a unit that nearly all cells share
	amounts
	money    // amounts with a known currency
	words    // amounts with letters that are no unit of pages
	decimals // amounts with decimals
	cellKinds
)

const (
	maxFirst = 3   // values in a question
	maxGenre = 15  // characters of a kind of book
	maxDate  = 60  // bytes of a date
	maxCell  = 300 // bytes of evidence in a cell; a longer cell is only a text
)

const (
	// namePart matches a word of a person's name.
	namePart = `(?:\p{Lu}[\p{L}\p{M}.'’-]*|(?i:van|von|de|der|den|du|da|di|la|le|del|dos|al|el|bin|ibn|y|e|and|&))`
	// caseless matches a word in a script without case.
	caseless = `[\p{Lo}\p{Georgian}][\p{Lo}\p{Georgian}\p{M}.'’׳״-]*`
)

var (
	// code matches ISBNs and addresses, which are no field.
	code = regexp.MustCompile(`(?i)^(?:https?://|www\.|urn:|(?:97[89][- ]?)?(?:\d[- ]?){9}[\dx]$|9[.,]7[89]\d*e\+12$)`)
	// mark matches inventory numbers and shelf marks, such as B-104 and A3.
	mark    = regexp.MustCompile(`^(?:\p{L}[-./ ]?\d{1,6}|\p{L}{1,5}[-/_]\d{1,8})$`)
	article = regexp.MustCompile(`^(?i:the|an?|der|die|das|ein|eine|le|les|la|el|los|las|il|gli|lo) `)
	person  = regexp.MustCompile(`^` + namePart + `(?:,? ` + namePart + `){1,5},?$`)
	// pair matches what may be a name in a script without case: two to four words, or three syllables of Hangul.
	pair = regexp.MustCompile(
		`^(?:` + caseless + `(?: ` + caseless + `){1,3}|\p{Hangul}{3}|[\p{Katakana}ー]+・[\p{Katakana}ー・]+)$`)
	// withYear matches a text with a year, which may be a date in unknown words.
	withYear  = regexp.MustCompile(`(?:^|\D)(?:1[4-9]\d\d|20\d\d)(?:$|\D)`)
	moneySign = regexp.MustCompile(`\p{Sc}|\d[,./]*[-–—=]+$`)
)

// Add adds a cell. lastYear is the latest year of a book.
func (p *Profile) Add(cell string, lastYear int) {
	cell = strings.TrimSpace(cell)
	if cell == "" || value.IsNone(cell) {
		return
	}
	p.Filled++
	p.letters += utf8.RuneCountInString(cell)
	isLong := len(cell) > maxCell
	cell = strings.ToValidUTF8(cell[:min(len(cell), maxCell)], "")
	if p.distinct == nil {
		p.distinct = map[string]bool{}
	}
	if !p.distinct[cell] && len(p.First) < maxFirst {
		p.First = append(p.First, cell)
	}
	p.distinct[cell] = true
	if isLong {
		return
	}
	_, isISBN := value.ParseISBN(cell)
	p.count(isbns, isISBN || value.IsRounded(cell))
	if code.MatchString(cell) {
		p.seen[codes]++
		return
	}
	p.addText(cell)
	p.addDate(cell, lastYear)
	p.addNumber(cell)
}

func (p *Profile) count(kind cellKind, isOfKind bool) {
	if isOfKind {
		p.seen[kind]++
	}
}

func (p *Profile) addText(cell string) {
	parts := split(cell)
	isGenre := utf8.RuneCountInString(cell) <= maxGenre && count(kinds, parts) > 0
	p.count(genres, isGenre)
	p.count(pairs, !isGenre && pair.MatchString(cell))
	p.count(marks, mark.MatchString(cell))
	p.count(persons, person.MatchString(cell) && !article.MatchString(cell))
	p.count(publishers, count("publisher", parts) > 0)
	p.count(yearly, len(cell) <= maxDate && withYear.MatchString(cell))
}

func (p *Profile) addDate(cell string, lastYear int) {
	isNamed := func() bool { return NamePoints(p.Name, "published_at") > 0 }
	_, isISO := model.ParseDate(cell)
	day, layout, isDate := value.ParseDate(cell, value.DatesDMY, lastYear)
	if !isDate {
		_, layout, isDate = value.ParseDate(cell, value.DatesMDY, lastYear)
	}
	_, isExcel := value.ExcelDay(cell, lastYear)
	switch {
	case isISO, isDate && layout != "year", !isDate && isExcel && isNamed():
		p.seen[dates]++
	case !isDate:
	case day.Year >= 1400 && int(day.Year) <= lastYear:
		p.seen[years]++
	case value.IsBuddhist(day, lastYear) && isNamed():
		p.seen[buddhist]++
	}
}

func (p *Profile) addNumber(cell string) {
	p.units.Add(0, cell)
	number, isWhole := value.ParsePages(cell, "")
	if isWhole {
		n, _ := strconv.Atoi(number[:min(len(number), 9)])
		p.numbers = append(p.numbers, n)
	}
	plain, isAmount := value.ParseAmount(cell, false, value.AnyCurrency)
	switch {
	case !isAmount:
		return
	case moneySign.MatchString(cell) || value.HasCurrency(cell):
		p.seen[money]++
	case !isWhole && strings.ContainsFunc(cell, unicode.IsLetter):
		p.seen[words]++
	case strings.Contains(plain, "."):
		p.seen[decimals]++
	}
	p.seen[amounts]++
}

// HasYears reports whether nearly all cells have a year, and few are read as dates.
func (p *Profile) HasYears() bool { return p.Filled > 1 && p.mostly(yearly) }

// IsTyped reports whether nearly all cells are numbers, dates or codes, unlike the name of a column.
func (p *Profile) IsTyped() bool {
	return p.mostly(amounts) || p.mostly(years, dates) || p.mostly(codes) || p.mostly(pages)
}

// IsTyped reports whether a cell is a number, a date or a code.
func IsTyped(cell string, lastYear int) bool {
	var p Profile
	p.Add(cell, lastYear)
	return p.IsTyped()
}
