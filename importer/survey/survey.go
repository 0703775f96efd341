// Package survey finds out which column of a list of books is which, by the names of the columns and by their cells.
package survey

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/importer/value"
)

// Points of the evidence for a column.
const (
	wordPoints = 10 // for each word of the name, at most two
	namePoints = 4  // for a word like name
)

// Half is the part of a person's name that a column has.
type Half int

// The parts of names.
const (
	NoName Half = iota
	Given
	Family
	Whole
)

// HalfOf returns the part of the author's name that a column with this name has. A nom is a family name beside a prénom.
func HalfOf(name string) Half {
	parts := split(name)
	if words[other].count(parts) > 0 {
		return NoName
	}
	switch {
	case wholeWords.count(parts) > 0 && words["author"].count(parts) > 0:
		return Whole
	case givenWords.count(parts) > 0:
		return Given
	case familyWords.count(parts) > 0:
		return Family
	}
	return NoName
}

// split returns the words of a name, folded: BookTitle and "book title" have two.
func split(name string) []string {
	var spaced strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			spaced.WriteByte(' ')
		}
		if r == 'º' || r == 'ª' { // Nº is no word, and NO is
			r = ' '
		}
		spaced.WriteRune(r)
		before = r
	}
	parts := strings.FieldsFunc(collate.Fold(spaced.String()), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	if len(parts) > 1 {
		parts = append(parts, strings.Join(parts, "")) // Tác giả is one word
	}
	return parts
}

// withoutSpaces reports whether a text is of a script that writes words without spaces between them.
func withoutSpaces(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// count returns how many words of a name are in the list.
func (l wordList) count(parts []string) (n int) {
	for i, part := range parts {
		if i > 0 && i == len(parts)-1 && n > 0 {
			break // all words as one count only if no other does
		}
		if l.has(part) || l.has(strings.TrimPrefix(part, "ال")) || l.has(strings.TrimPrefix(part, "ה")) { // the Arabic and the Hebrew article
			n++
		}
	}
	return n
}

func (l wordList) has(part string) bool {
	return l.whole[part] ||
		slices.ContainsFunc(l.begins, func(begin string) bool { return strings.HasPrefix(part, begin) }) ||
		slices.ContainsFunc(l.ends, func(end string) bool { return strings.HasSuffix(part, end) }) ||
		slices.ContainsFunc(l.inside, func(text string) bool { return strings.Contains(part, text) })
}

// Profile describes the cells of a column.
type Profile struct {
	Name   string   // of the column
	Filled int      // cells with a value
	First  []string // the first values, different ones

	dates, years, whole, amounts, money, decimals, codes, isbns, marks, persons, pairs, kinds, houses, buddhist, yearly int

	words         int // amounts with letters that are no unit of pages
	units         value.UnitSurvey
	distinct      map[string]bool
	letters, last int
	numbers       []int // of whole
	isCounting    bool  // whole numbers that count up by 1
}

const (
	maxFirst = 3   // values that a question shows
	maxKind  = 15  // characters of a cell that is a kind of book
	maxDate  = 60  // bytes of a cell that may be a date
	maxCell  = 300 // bytes of a cell that are evidence; a longer one is only a text
)

var (
	// code matches ISBNs and addresses, which are no field.
	code = regexp.MustCompile(`(?i)^(?:https?://|www\.|urn:|(?:97[89][- ]?)?(?:\d[- ]?){9}[\dx]$|9[.,]7[89]\d*e\+12$)`)
	// mark matches inventory numbers and shelf marks, such as B-104 and A3.
	mark    = regexp.MustCompile(`^(?:\p{L}[-./ ]?\d{1,6}|\p{L}{1,5}[-/_]\d{1,8})$`)
	article = regexp.MustCompile(`^(?i:the|an?|der|die|das|ein|eine|le|les|la|el|los|las|il|gli|lo) `)
	person  = regexp.MustCompile(`^(?:\p{Lu}[\p{L}\p{M}.'’-]*|(?i:van|von|de|der|den|du|da|di|la|le|del|dos|al|el|bin|ibn|y|e|and|&))(?:,? (?:\p{Lu}[\p{L}\p{M}.'’-]*|(?i:van|von|de|der|den|du|da|di|la|le|del|dos|al|el|bin|ibn|y|e|and|&))){1,5},?$`)
	// pair matches what may be a name in a script without case: two to four words, or three syllables of Hangul.
	pair = regexp.MustCompile(`^(?:[\p{Lo}\p{Georgian}][\p{Lo}\p{Georgian}\p{M}.'’׳״-]*(?: [\p{Lo}\p{Georgian}][\p{Lo}\p{Georgian}\p{M}.'’׳״-]*){1,3}|\p{Hangul}{3}|[\p{Katakana}ー]+・[\p{Katakana}ー・]+)$`)
	// withYear matches a text with a year, which may be a date in words that nobody knows.
	withYear = regexp.MustCompile(`(?:^|\D)(?:1[4-9]\d\d|20\d\d)(?:$|\D)`)
	money    = regexp.MustCompile(`\p{Sc}|\d[,./]*[-–—=]+$`)
)

// Add adds a cell. lastYear is the latest year of a book.
func (p *Profile) Add(cell string, lastYear int) {
	cell = strings.TrimSpace(cell)
	if cell == "" || value.IsNone(cell) {
		return
	}
	p.Filled++
	if p.distinct == nil {
		p.distinct, p.isCounting = map[string]bool{}, true
	}
	p.letters += utf8.RuneCountInString(cell)
	isLong := len(cell) > maxCell
	cell = strings.ToValidUTF8(cell[:min(len(cell), maxCell)], "")
	if !p.distinct[cell] && len(p.First) < maxFirst {
		p.First = append(p.First, cell)
	}
	p.distinct[cell] = true
	if isLong {
		return
	}
	if _, ok := value.ParseISBN(cell); ok || value.IsRounded(cell) {
		p.isbns++
	}
	if code.MatchString(cell) {
		p.codes++
		return
	}
	if mark.MatchString(cell) {
		p.marks++
	}
	if person.MatchString(cell) && !article.MatchString(cell) {
		p.persons++
	}
	parts := split(cell)
	if words["publisher"].count(parts) > 0 {
		p.houses++
	}
	if utf8.RuneCountInString(cell) <= maxKind && kindWords.count(parts) > 0 {
		p.kinds++
	} else if pair.MatchString(cell) {
		p.pairs++
	}
	if _, ok := model.ParseDate(cell); ok {
		p.dates++
	} else if day, layout, ok := value.ParseDate(cell, value.DatesDMY, lastYear); ok || isMDY(cell, lastYear) {
		if layout == "year" {
			if day.Year >= 1400 && int(day.Year) <= lastYear {
				p.years++
			} else if value.IsBuddhist(day, lastYear) && NamePoints(p.Name, "published_at") > 0 {
				p.buddhist++
			}
		} else {
			p.dates++
		}
	}
	if len(cell) <= maxDate && withYear.MatchString(cell) {
		p.yearly++
	}
	p.units.Add(0, cell)
	number, isWhole := value.ParsePages(cell, "")
	if isWhole && number != "" {
		n := 0
		for _, digit := range number[:min(len(number), 9)] {
			n = n*10 + int(digit-'0')
		}
		p.whole++
		p.isCounting = p.isCounting && (p.whole == 1 || n == p.last+1)
		p.numbers, p.last = append(p.numbers, n), n
	}
	if plain, ok := value.ParseAmount(cell, false); ok {
		p.amounts++
		if money.MatchString(cell) || value.HasCurrency(cell) {
			p.money++
		} else if !isWhole && strings.ContainsFunc(cell, unicode.IsLetter) {
			p.words++
		} else if strings.Contains(plain, ".") {
			p.decimals++
		}
	}
}

func isMDY(cell string, lastYear int) bool {
	_, _, ok := value.ParseDate(cell, value.DatesMDY, lastYear)
	return ok
}

// Refutes reports whether hardly a cell can be read as the field.
func (p *Profile) Refutes(field string) bool {
	readable := p.Filled
	switch field {
	case "published_at":
		readable = p.years + p.buddhist + p.dates
	case "pages":
		readable = p.pages()
	case "price":
		readable = p.amounts
	case "isbn":
		readable = p.isbns
	case "publisher":
		readable -= p.years + p.dates
	case "genre", "category":
		readable -= p.money + p.words
	}
	return 5*readable < p.Filled
}

// SurePoints are the points of cells that name their field: valid ISBNs, and names of publishers.
const SurePoints = 10

// Points returns how much the cells speak for a field, from 0 to 10. It is negative if the column cannot be the field:
// if less than half of its cells can be read.
func (p *Profile) Points(field string) int {
	share := func(n int) int { return 10 * n / max(p.Filled, 1) }
	if p.Filled == 0 {
		return 0
	}
	switch {
	case field == "isbn" && share(p.isbns) >= 9:
		return SurePoints
	case field == "isbn":
		return share(p.isbns) - 5
	case field == "publisher" && share(p.houses) >= 8:
		return SurePoints
	case field == "shelf_mark":
		return 1
	case share(p.codes) >= 5, share(p.marks) >= 8:
		return -1
	}
	counts := p.isCounting && p.whole > 2
	repeated := 10 - 10*len(p.distinct)/p.Filled
	switch field {
	case "published_at":
		if share(p.years+p.buddhist+p.dates) < 5 {
			return -1
		}
		return share(p.years + p.buddhist + p.dates)
	case "pages":
		switch {
		case share(p.pages()) < 5 || share(p.money) >= 5 || counts:
			return -1
		case p.pages() > p.whole && (p.unitNamed() || p.unitIsPage()): // Kurasa: 58 kurasa
			return 8
		case p.pages() > p.whole:
			return 5
		}
		slices.Sort(p.numbers)
		switch median := p.numbers[len(p.numbers)/2]; {
		case share(p.years) >= 8, median < 20, median > 2000:
			return 1
		}
		return share(p.whole)
	case "price":
		if share(p.amounts) < 5 || counts {
			return -1
		}
		if share(p.years) >= 8 {
			return 1
		}
		words := p.words // of unknown currencies, or unknown units of pages
		if p.unitNamed() || p.unitIsPage() {
			words = 0
		}
		return 2 + max(share(p.money)*8/10, share(words)*4/10, share(p.decimals)*5/10)
	}
	isMoney := (field == "genre" || field == "category") && share(p.money+p.words) >= 8
	if isMoney || share(max(p.amounts, p.pages())) >= 8 && (p.Filled > 2 || p.pages() > p.whole) {
		return -1 // numbers are no text
	}
	if share(p.dates) >= 8 {
		return -1
	}
	switch length := p.letters / p.Filled; field {
	case "author":
		return min(2+share(p.persons)*8/10+share(p.pairs)*3/10-share(p.kinds)/3, 10)
	case "genre", "category":
		if length > 40 || p.Filled > 3 && len(p.distinct) == 1 || share(p.houses) >= 8 {
			return 1 // the same in each row, as book, or publishers
		}
		return max(2+repeated*8/10-share(p.persons)/3-share(p.pairs)/4+share(p.kinds)*4/10, 1)
	case "description":
		return min(length/15, 10)
	default:
		if length > 150 {
			return 1
		}
		return max(8-repeated-share(p.persons)/3-share(p.pairs)/5-share(p.kinds)/3, 1)
	}
}

// pages returns the number of cells that may be numbers of pages, also with an unknown unit that nearly all share.
func (p *Profile) pages() int {
	_, shared := p.units.Shared()
	return p.whole + shared.Cells
}

// unitNamed reports whether the column has the name of the unit of its numbers.
func (p *Profile) unitNamed() bool {
	unit, _ := p.units.Shared()
	return unit != "" && slices.Contains(split(p.Name), strings.ReplaceAll(collate.Fold(unit), " ", ""))
}

// HasYears reports whether nearly all cells have a year, and few are read as dates.
func (p *Profile) HasYears() bool { return p.Filled > 1 && 10*p.yearly >= 8*p.Filled }

// unitIsPage reports whether the unit of the numbers is a word for pages.
func (p *Profile) unitIsPage() bool {
	unit, _ := p.units.Shared()
	return unit != "" && words["pages"].count(split(unit)) > 0
}

// IsTyped reports whether nearly all cells are numbers, dates or codes, unlike the name of a column.
func (p *Profile) IsTyped() bool {
	return p.Filled > 0 && 10*max(p.amounts, p.years+p.dates, p.codes, p.pages()) >= 8*p.Filled
}

// IsTyped reports whether a cell is a number, a date or a code.
func IsTyped(cell string, lastYear int) bool {
	var p Profile
	p.Add(cell, lastYear)
	return p.IsTyped()
}
