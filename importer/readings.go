package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// reading is how the cells of one field are read in the whole file.
type reading struct {
	kind     model.Kind
	order    string // a value of DateOrders
	comma    bool   // is the decimal separator of amounts
	excel    bool   // numbers are days of Excel
	lastYear int    // latest year of two digits
	dates    dateSurvey
	amounts  amountSurvey
	forms    map[string]*Form // by layout: cells that are not in the catalogue's notation
}

// Form is a notation of cells that differs from the catalogue's.
type Form struct {
	Layout string // its name
	Text   string // the first cell
	Value  string // the first cell in the catalogue's notation
	Cells  int
	place  int // position of the first cell among those of all forms
}

// survey adds a cell to the statistics for decide.
func (r *reading) survey(row int, text string) {
	switch r.kind {
	case model.KindDate:
		r.dates.add(row, strings.TrimSpace(text), r.lastYear)
	case model.KindCents:
		r.amounts.add(strings.TrimSpace(text))
	}
	for _, order := range []string{r.order, datesMDY, datesDMY} {
		as := reading{kind: r.kind, order: order, excel: true, lastYear: r.lastYear}
		value, layout := as.read(text)
		if _, ok := model.ParseDate(value); ok {
			r.dates.hasDates = true
		}
		if layout != "" {
			r.note(text, layout, 1)
			return
		}
	}
}

// decide chooses the date order and the decimal separator of a column. It is called after the survey. With a
// question it also chooses one of the answers.
func (r *reading) decide(column string) (q *Question) {
	if r.kind == model.KindDate && r.order == datesAuto {
		r.order, q = r.dates.order(column, r.lastYear)
	}
	r.comma, r.excel = r.amounts.comma(), r.dates.hasExcelDays()
	surveyed := r.forms
	r.forms = nil
	byPlace := func(a, b *Form) int { return cmp.Compare(a.place, b.place) }
	for _, f := range slices.SortedFunc(maps.Values(surveyed), byPlace) {
		if _, layout := r.read(f.Text); layout != "" {
			r.note(f.Text, layout, f.Cells)
		}
	}
	return q
}

// read converts a cell to the catalogue's notation, and returns the layout of a converted cell. It returns an
// unreadable cell unchanged.
func (r *reading) read(text string) (value, layout string) {
	text = strings.TrimSpace(text)
	switch r.kind {
	case model.KindDate:
		if _, ok := model.ParseDate(text); ok || r.order == datesISO {
			return text, ""
		}
		if day, ok := excelDay(text, r.lastYear); ok && r.excel {
			return day.String(), "day of Excel"
		}
		if day, layout, ok := parseDate(text, r.order, r.lastYear); ok {
			return day.String(), layout
		}
	case model.KindCents:
		if plain, ok := parseAmount(text, r.comma); ok && plain != text {
			if r.comma {
				return plain, "amount with a decimal comma"
			}
			return plain, "amount"
		}
	case model.KindInt:
		if plain, ok := parsePages(text); ok && plain != text {
			return plain, "number"
		}
	}
	return text, ""
}

// note counts cells of a layout, and keeps the first.
func (r *reading) note(text, layout string, cells int) {
	if r.forms == nil {
		r.forms = map[string]*Form{}
	}
	if r.forms[layout] == nil {
		r.forms[layout] = &Form{Layout: layout, Text: text, place: len(r.forms)}
	}
	r.forms[layout].Cells += cells
}

// sortedForms returns the forms, most frequent first.
func (r *reading) sortedForms() []*Form {
	return slices.SortedFunc(maps.Values(r.forms), func(a, b *Form) int {
		return cmp.Or(cmp.Compare(b.Cells, a.Cells), cmp.Compare(a.Layout, b.Layout))
	})
}
