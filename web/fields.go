package web

import (
	"strconv"

	"library-catalogue/graph/model"
)

// bookField is a field of a book that people read and write, with its value.
type bookField struct {
	model.FieldInfo
	Value string // "" where there is none
}

// place is where a field stands on the page of a book and in its form.
type place int

const (
	titles place = iota // one line of text that every book has
	facts               // something short, in a row with others
	prose               // a text of several lines
)

// maxLine is how many characters a text may have that is written in one line.
const maxLine = 1000

func (f bookField) place() place {
	switch {
	case f.IsText() && f.Max > maxLine:
		return prose
	case f.IsText() && !f.Nullable:
		return titles
	}
	return facts
}

// at returns the fields that stand at a place, by their kinds.
func (b *wholeBook) at(p place) (fields []bookField) {
	for _, kind := range []model.Kind{model.KindDate, model.KindInt, model.KindCents, model.KindText} {
		for _, f := range model.BookFields {
			field := bookField{FieldInfo: f.FieldInfo}
			if f.Kind != kind || !f.Writable || field.place() != p {
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

// Titles, Facts and Prose return the fields at these places.
func (b *wholeBook) Titles() []bookField { return b.at(titles) }
func (b *wholeBook) Facts() []bookField  { return b.at(facts) }
func (b *wholeBook) Prose() []bookField  { return b.at(prose) }

// Words returns the value as people read it.
func (f bookField) Words() string {
	switch f.Kind {
	case model.KindDate:
		return date(f.Value)
	case model.KindInt:
		n, _ := strconv.Atoi(f.Value) // as at has written it
		return number(n)
	}
	return f.Value
}

// Lines reports whether the field is a text of several lines.
func (f bookField) Lines() bool { return f.place() == prose }

// IsText reports whether the field is a text, in any script.
func (f bookField) IsText() bool { return f.Kind == model.KindText }

// InputMode returns the keyboard that a phone shows.
func (f bookField) InputMode() string {
	return map[model.Kind]string{model.KindInt: "numeric", model.KindCents: "decimal"}[f.Kind]
}

// Placeholder returns an example of the field's values.
func (f bookField) Placeholder() string {
	return map[model.Kind]string{model.KindDate: "1969-01-31", model.KindCents: "15.71"}[f.Kind]
}

// Hint returns what to know before writing.
func (f bookField) Hint() string {
	return map[string]string{"author": "Several authors in one line, commas between."}[f.Name]
}

// Length returns how many characters the longest value has.
func (f bookField) Length() int {
	switch f.Kind {
	case model.KindDate:
		return len("1969-01-31")
	case model.KindCents:
		return len(model.Cents(f.Max).String())
	case model.KindInt:
		return len(strconv.FormatInt(f.Max, 10))
	}
	return int(f.Max)
}
