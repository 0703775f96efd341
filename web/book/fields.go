package book

import (
	"strconv"

	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// bookField is a writable field of a book with its value.
type bookField struct {
	model.FieldInfo
	Value string // empty: none
	First bool   // first field of its place
}

// place is the position of a field on a book's page and in its form.
type place int

const (
	number place = iota // the ISBN of a new book
	titles              // required text of one line
	facts               // short values in a row
	prose               // text of several lines
)

// maxLineChars is the maximum length of a text with one input line.
const maxLineChars = 1000

// placeOf returns the place of a field.
func (b *wholeBook) placeOf(f bookField) place {
	switch {
	case f.Name == "isbn" && b.ID == "":
		return number
	case f.Lines():
		return prose
	case f.IsText() && !f.Nullable:
		return titles
	}
	return facts
}

// at returns the fields at a place in order of their kinds.
func (b *wholeBook) at(p place) (fields []bookField) {
	for _, kind := range []model.Kind{model.KindDate, model.KindInt, model.KindCents, model.KindText} {
		for _, f := range model.BookFields {
			field := bookField{FieldInfo: f.FieldInfo, First: p <= titles && len(fields) == 0}
			if f.Kind != kind || !f.Writable || b.placeOf(field) != p {
				continue
			}
			switch v := b.values[f.Name].(type) {
			case string:
				field.Value = v
			case float64:
				field.Value = strconv.Itoa(int(v))
			}
			fields = append(fields, field)
		}
	}
	return fields
}

// Number, Titles, Facts and Prose return the fields at a place.
func (b *wholeBook) Number() []bookField { return b.at(number) }
func (b *wholeBook) Titles() []bookField { return b.at(titles) }
func (b *wholeBook) Facts() []bookField  { return b.at(facts) }
func (b *wholeBook) Prose() []bookField  { return b.at(prose) }

// Label returns the label of the field.
func (f bookField) Label() language.Key { return language.Key(f.FieldInfo.Label) }

// Words returns the value formatted for the page, as text or HTML.
func (f bookField) Words(in *language.Language) any {
	switch {
	case f.Value == "":
	case f.Kind == model.KindDate:
		return view.Date(f.Value)
	case f.Kind == model.KindInt:
		n, _ := strconv.Atoi(f.Value) // at has formatted it
		return in.Number(n)
	case f.Kind == model.KindCents:
		return in.Price(f.Value)
	case f.Name == "language":
		return in.NameOf(f.Value)
	}
	return f.Value
}

// Input returns the value as the form shows it.
func (f bookField) Input() string {
	if f.Kind == model.KindDate {
		return view.KnownDate(f.Value)
	}
	return f.Value
}

// Lines reports whether the field is text of several lines.
func (f bookField) Lines() bool { return f.IsText() && f.Max > maxLineChars }

// IsText reports whether the field is text.
func (f bookField) IsText() bool { return f.Kind == model.KindText }

// inputs has the check of form.js, the attribute inputmode and the hint of each kind.
var inputs = map[model.Kind]struct {
	format, mode string
	hint         language.Key
}{
	model.KindDate:  {"date", "", "1969 or 1969-01-31"},
	model.KindInt:   {"number", "numeric", "A whole number: 304"},
	model.KindCents: {"price", "decimal", "15.71 or 15,71"},
}

// InputMode returns the value of the attribute inputmode, for phones.
func (f bookField) InputMode() string { return inputs[f.Kind].mode }

// Format returns the name of the check that form.js runs.
func (f bookField) Format() string { return inputs[f.Kind].format }

// Hint returns the hint above the input.
func (f bookField) Hint() language.Key {
	if hint, ok := hints[f.Name]; ok {
		return hint
	}
	return inputs[f.Kind].hint
}

// hints has the hints of texts.
var hints = map[string]language.Key{
	"author":   "Separate authors with semicolons.",
	"isbn":     "10 or 13 digits",
	"language": "German or de", "seriesNumber": "2, 1.5 or IV",
}

// maxNotation is the maximum length of a date or a number in other notations: 31 December 1999.
const maxNotation = 60

// Length returns the maximum length of the input in characters.
func (f bookField) Length() int {
	if f.IsText() {
		return int(f.Max)
	}
	return maxNotation
}
