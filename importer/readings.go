package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	authors "library-catalogue/graph/model/author"
	"library-catalogue/importer/value"
)

// reading is how the cells of one field are read in the whole file.
type reading struct {
	kind     model.Kind
	syntax   *model.Syntax
	order    string // a value of DateOrders
	comma    bool   // is the decimal separator of amounts
	excel    bool   // numbers are days of Excel
	lastYear int    // latest year of two digits
	decimal  string // a value of Decimals
	isOwn    bool   // the text is of our own export, which stays as it is
	isCard   bool   // the text may be of a library's catalogue, with its signs at the end
	isMARC   bool   // the text is of a MARC field
	isDotted bool   // the texts of catalogue cards end in a dot
	isTags   bool   // the text may be several genres
	cards    value.CardSurvey
	tags     value.TagSurvey
	isPlace  bool     // the text is a publisher with its place and year
	isNames  bool     // the text is names of persons, and not of our own export
	names    []string // the first cells with names
	inverted bool     // the family names are first
	dates    value.DateSurvey
	hasDates bool // a cell is a date in some order
	amounts  value.AmountSurvey
	units    value.UnitSurvey
	unit     string           // the unknown unit of the column's numbers of pages, or its unknown currency
	forms    map[string]*Form // by layout: cells that are not in the catalogue's notation
}

// Limits of the cells that decide whether the family names are first.
const (
	maxNames = 1000 // cells
	maxName  = 1000 // bytes of a cell
)

// Form is a notation of cells that differs from the catalogue's.
type Form struct {
	Layout string // its name
	Text   string // the first cell
	Value  string // the first cell in the catalogue's notation
	Cells  int
	Places []string // of the first cells, if these are not readable
	rows   []int    // what File.place takes
	place  int      // position of the first cell among those of all forms
}

// survey adds a cell to the statistics for decide. row is what File.place takes.
func (r *reading) survey(row int, text string) {
	switch r.kind {
	case model.KindDate:
		r.dates.Add(row, strings.TrimSpace(text), r.lastYear)
	case model.KindCents:
		r.amounts.Add(row, strings.TrimSpace(text))
	case model.KindInt:
		r.units.Add(row, strings.TrimSpace(text))
	}
	if r.isCard {
		r.cards.Add(text)
	}
	if r.isTags {
		r.tags.Add(text)
		return // decide notes its cells
	}
	if r.isNames && len(r.names) < maxNames && len(text) < maxName {
		r.names = append(r.names, text)
	}
	orders := []string{r.order}
	if r.kind == model.KindDate {
		orders = append(orders, value.DatesMDY, value.DatesDMY)
	}
	for _, order := range orders {
		as := *r
		as.order, as.comma, as.excel, as.inverted, as.isDotted, as.unit = order, false, true, r.isNames, true, ""
		plain, layout := as.read(text)
		if _, ok := model.ParseDate(plain); ok {
			r.hasDates = true
		}
		if layout != "" {
			r.note(text, layout, 1, row)
			return
		}
	}
}

// decide chooses the date order and the decimal separator of a column. It is called after the survey. With a
// question it also chooses the first answer.
func (r *reading) decide(column string, place func(int) string) (q *Question) {
	if r.kind == model.KindDate && r.order == value.DatesAuto {
		if order, isClear := r.dates.Order(); isClear {
			r.order = order
		} else {
			r.order, q = order, dateQuestion(column, &r.dates, r.lastYear, place)
		}
	}
	if r.kind == model.KindCents {
		comma, isClear := r.amounts.Comma()
		if r.comma = comma; r.decimal != "" {
			r.comma = r.decimal == decimalComma
		} else if !isClear {
			q = decimalQuestion(column, &r.amounts, place)
		}
	}
	r.excel = r.dates.HasExcelDays()
	r.isDotted = r.cards.IsDotted()
	r.inverted = r.isNames && authors.IsInverted(slices.Values(r.names))
	surveyed := r.forms
	r.forms = nil
	byPlace := func(a, b *Form) int { return cmp.Compare(a.place, b.place) }
	for _, f := range slices.SortedFunc(maps.Values(surveyed), byPlace) {
		if _, layout := r.read(f.Text); layout != "" {
			r.note(f.Text, layout, f.Cells, f.rows...)
		}
	}
	for text, cells := range r.tags.All() {
		if _, layout := r.read(text); layout != "" {
			r.note(text, layout, cells)
		}
	}
	if unit, seen := r.units.Shared(); unit != "" {
		r.unit = unit
		r.note(seen.Text, "number with the unit "+unit, seen.Cells)
	}
	if currency, seen := r.amounts.Currency(); currency != "" {
		r.unit = currency
		r.note(seen.Text, "amount with the currency "+currency, seen.Cells)
	}
	return q
}

// read converts a cell to the catalogue's notation, and returns the layout of a converted cell. It returns an
// unreadable cell unchanged.
func (r *reading) read(original string) (plain, layout string) {
	text := strings.TrimSpace(original)
	if r.syntax != nil {
		return r.canonical(text)
	}
	switch r.kind {
	case model.KindDate:
		day, layout, ok := r.dates.Parse(text, r.order, r.lastYear)
		if _, isISO := model.ParseDate(text); r.order == value.DatesISO || isISO && layout != value.Buddhist {
			return text, ""
		}
		if day, ok := value.ExcelDay(text, r.lastYear); ok && r.excel {
			return day.String(), "day of Excel"
		}
		if ok {
			return day.String(), layout
		}
	case model.KindCents:
		if plain, ok := value.ParseAmount(text, r.comma, r.unit); ok && plain != text {
			if r.comma {
				return plain, "amount with a decimal comma"
			}
			return plain, "amount"
		}
	case model.KindInt:
		if plain, ok := value.ParsePages(text, r.unit); ok && plain != text {
			return plain, "number"
		}
	case model.KindText:
		if r.isOwn {
			return original, ""
		}
		plain := value.WithoutFormula(original)
		if plain != original {
			layout = "formula"
		}
		if list, ok := value.ParseList(text); ok {
			plain, layout = list, "list"
		}
		if r.isTags {
			if first := r.tags.First(plain, r.isMARC); first != plain {
				plain, layout = first, "first of several"
			}
		}
		switch {
		case layout == "list":
		case r.isMARC && r.isNames:
			plain, layout = authors.ReadMARC(original), "catalogue card"
		case r.isPlace:
			plain, layout = value.PublisherOf(original), "place, publisher and year"
		case r.isCard:
			if card := value.TrimCard(plain, r.isDotted, r.isMARC); card != plain {
				plain, layout = card, cmp.Or(layout, "catalogue card")
			}
		}
		if r.inverted {
			if given := authors.ReadColumn(plain); given != plain {
				plain, layout = given, "family name first"
			}
		}
		if plain == original {
			layout = ""
		}
		return plain, layout
	}
	return text, ""
}

// canonical converts a cell to the form in which it is stored. It returns "" for one that cannot be stored.
func (r *reading) canonical(text string) (plain, layout string) {
	if text == "" {
		return "", ""
	}
	plain, ok := r.syntax.Parse(text)
	switch {
	case ok:
	case r.syntax.Noun == "ISBN":
		plain, ok = value.ParseISBN(text)
	default:
		plain, ok = r.syntax.Parse(value.Bare(text))
	}
	switch {
	case ok && plain == text:
		return text, ""
	case ok:
		return plain, r.syntax.Noun
	case value.IsRounded(text):
		return "", "a rounded number: format the column as text"
	}
	return "", "no valid " + r.syntax.Noun
}

// maxPlaces is the maximum number of rows that a Form names.
const maxPlaces = 10

// note counts cells of a layout, and keeps the first and the first rows.
func (r *reading) note(text, layout string, cells int, rows ...int) {
	if r.forms == nil {
		r.forms = map[string]*Form{}
	}
	if r.forms[layout] == nil {
		r.forms[layout] = &Form{Layout: layout, Text: text, place: len(r.forms)}
	}
	form := r.forms[layout]
	form.Cells += cells
	if len(form.rows) < maxPlaces {
		form.rows = append(form.rows, rows...)
	}
}

// sortedForms returns the forms, most frequent first.
func (r *reading) sortedForms() []*Form {
	return slices.SortedFunc(maps.Values(r.forms), func(a, b *Form) int {
		return cmp.Or(cmp.Compare(b.Cells, a.Cells), cmp.Compare(a.Layout, b.Layout))
	})
}
