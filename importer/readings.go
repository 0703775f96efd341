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
	*model.FieldInfo
	notation notation
	lastYear int // latest year of two digits

	// The cells of the column decide these.
	order    string   // a value of DateOrders
	excel    bool     // numbers are days of Excel
	comma    bool     // the comma is the decimal separator
	unit     string   // the unknown unit of the numbers of pages, or the unknown currency
	isDotted bool     // texts of catalogue cards end in a dot
	inverted bool     // family names are first
	persons  []string // the first cells with names of persons
	dates    value.DateSurvey
	amounts  value.AmountSurvey
	units    value.UnitSurvey
	cards    value.CardSurvey
	tags     value.TagSurvey
	forms    map[string]*Form // cells by layout that are not in the catalogue's notation
}

// Limits of the cells that decide whether the family names are first.
const (
	maxNames = 1000 // cells
	maxName  = 1000 // bytes of a cell
)

// Form is a notation of cells that differs from the catalogue's.
type Form struct {
	Layout string          `json:"layout"` // its name
	Text   string          `json:"text"`   // the first cell
	Value  string          `json:"value"`  // the first cell in the catalogue's notation
	Cells  int             `json:"rows"`
	Places []model.Message `json:"places"` // places of the first cells, if these are not readable
	rows   []int           // arguments of File.place
	place  int             // position of the first cell among the first cells of all forms
}

// survey adds a cell to the statistics for decide. row is an argument of File.place.
func (r *reading) survey(row int, text string) {
	orders := []string{r.order}
	switch trimmed := strings.TrimSpace(text); r.Kind {
	case model.KindDate:
		r.dates.Add(row, trimmed, r.lastYear)
		orders = append(orders, value.DatesMDY, value.DatesDMY)
	case model.KindCents:
		r.amounts.Add(row, trimmed)
	case model.KindInt:
		r.units.Add(row, trimmed)
	}
	if r.notation.isCard() {
		r.cards.Add(text)
	}
	if r.notation.isTags() {
		r.tags.Add(text)
		return // decide notes its cells
	}
	if r.notation.isPersons() && len(r.persons) < maxNames && len(text) < maxName {
		r.persons = append(r.persons, text)
	}
	as := *r
	as.excel, as.inverted, as.isDotted = true, r.notation.isPersons(), true
	for _, order := range orders {
		as.order = order
		if _, layout := as.read(text); layout != "" {
			r.note(text, layout, 1, row)
			return
		}
	}
}

// decide chooses the date order, the decimal separator and the unit of a field's column, after the survey. With a
// question it also chooses the first answer.
func (f *File) decide(field string) (q *Question) {
	r, column := f.readings[field], f.columnOf(field)
	if r.Kind == model.KindDate && r.order == value.DatesAuto {
		order, isClear := r.dates.Order()
		if r.order = order; !isClear {
			q = f.dateQuestion(column, &r.dates)
		}
	}
	if r.Kind == model.KindCents {
		comma, isClear := r.amounts.Comma()
		if r.comma = comma; f.options.Decimal != "" {
			r.comma = f.options.Decimal == decimalComma
		} else if !isClear {
			q = f.decimalQuestion(column, &r.amounts)
		}
	}
	r.excel = r.dates.HasExcelDays()
	r.isDotted = r.cards.IsDotted()
	r.inverted = r.notation.isPersons() && authors.IsInverted(slices.Values(r.persons))
	surveyed := slices.SortedFunc(maps.Values(r.forms), func(a, b *Form) int { return cmp.Compare(a.place, b.place) })
	r.forms = nil
	for _, form := range surveyed {
		if _, layout := r.read(form.Text); layout != "" {
			r.note(form.Text, layout, form.Cells, form.rows...)
		}
	}
	for _, text := range r.tags.Texts {
		if _, layout := r.read(text); layout != "" {
			r.note(text, layout, r.tags.Cells[text])
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
	text, ok := strings.TrimSpace(original), false
	switch {
	case r.Syntax != nil:
		return r.canonical(text)
	case r.Kind == model.KindText:
		return r.text(original)
	case r.Kind == model.KindDate:
		return r.date(text)
	case r.Kind == model.KindInt:
		plain, ok = value.ParsePages(text, r.unit)
		layout = "number"
	case r.Kind == model.KindCents:
		plain, ok = value.ParseAmount(text, r.comma, r.unit)
		if layout = "amount"; r.comma {
			layout = "amount with a decimal comma"
		}
	}
	if !ok || plain == text {
		return text, ""
	}
	return plain, layout
}

func (r *reading) date(text string) (plain, layout string) {
	day, layout, ok := r.dates.Parse(text, r.order, r.lastYear)
	if _, isISO := model.ParseDate(text); r.order == value.DatesISO || isISO && layout != value.Buddhist {
		return text, ""
	}
	if day, isDay := value.ExcelDay(text, r.lastYear); isDay && r.excel {
		return day.String(), "day of Excel"
	}
	if !ok {
		return text, ""
	}
	return day.String(), layout
}

// text reads a text as its notation says.
func (r *reading) text(original string) (plain, layout string) {
	if r.notation == own {
		return original, ""
	}
	plain = original
	become := func(text, by string) {
		if text != plain {
			plain, layout = text, by
		}
	}
	become(value.WithoutFormula(original), "formula")
	list, isList := value.ParseList(strings.TrimSpace(original))
	if isList {
		become(list, "list")
	}
	if r.notation.isTags() {
		before := plain
		become(r.tags.First(plain, r.notation.isHeading()), "first of several")
		isList = isList && plain == before
	}
	switch {
	case isList:
	case r.notation == marcPersons:
		become(authors.ReadMARC(original), "catalogue card")
	case r.notation == imprint:
		become(value.PublisherOf(original), "place, publisher and year")
	case r.notation.isCard():
		become(value.TrimCard(plain, r.isDotted, r.notation.isHeading()), cmp.Or(layout, "catalogue card"))
	}
	if r.inverted {
		become(authors.ReadColumn(plain), "family name first")
	}
	if plain == original {
		layout = ""
	}
	return plain, layout
}

// canonical converts a cell to the form in which it is stored. It returns "" for one that cannot be stored.
func (r *reading) canonical(text string) (plain, layout string) {
	if text == "" {
		return "", ""
	}
	plain, ok := r.Syntax.Parse(text)
	switch {
	case ok:
	case r.Syntax.Noun == "ISBN":
		plain, ok = value.ParseISBN(text)
	default:
		plain, ok = r.Syntax.Parse(value.Bare(text))
	}
	switch {
	case ok && plain == text:
		return text, ""
	case ok:
		return plain, r.Syntax.Noun
	case value.IsRounded(text):
		return "", "a rounded number: format the column as text"
	}
	return "", "no valid " + r.Syntax.Noun
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
