package importer

import (
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/value"
)

// columnOf returns the name of a field's first column, or "".
func (f *File) columnOf(field string) string {
	if of := f.columns[field]; len(of) > 0 {
		return f.columnName(of[0])
	}
	return ""
}

// columnName returns the name of a column, or of several that are read as one: First+Last.
func (f *File) columnName(o origin) string {
	if len(o.columns) == 1 {
		return f.Header[o.columns[0]]
	}
	var names []string
	for _, i := range o.columns {
		names = append(names, f.Header[i])
	}
	return strings.Join(names, "+")
}

// value returns the value of a field as written, and its origin, or nil. A date counts before its year, and a value
// that can be read before one that cannot. An empty cell is an empty text, and clears an optional field; without a
// cell, with a mark of no value, or in a list with look-ups, the field is absent and keeps what is stored.
func (f *File) value(r *source.Record, field string) (v model.Value, from *origin) {
	empty, marked := false, false
	for i := range f.columns[field] {
		o := &f.columns[field][i]
		next := f.read(r, o)
		if f.isMissing(field, next) {
			empty, marked = empty || next != model.Value{}, marked || !next.Missing()
		} else if from == nil || f.isBetter(field, next, v) {
			v, from = next, o
		}
	}
	switch text, hasDefault := f.options.Defaults[field]; {
	case from != nil:
	case hasDefault:
		v = model.Text(text)
	case empty && !marked && !f.hasLookups:
		v = model.Text("")
	}
	return v, from
}

// isBetter reports whether a later value of a field counts before another.
func (f *File) isBetter(field string, v, than model.Value) bool {
	return than.Written() == "" || field == published && value.IsFuller(v.Written(), than.Written()) ||
		!f.isReadable(field, than) && f.isReadable(field, v)
}

// isReadable reports whether a value has the syntax of its field, if there is one.
func (f *File) isReadable(field string, v model.Value) bool {
	if model.ImportField(field).Syntax == nil {
		return true
	}
	plain, _ := f.readings[field].canonical(strings.TrimSpace(v.Written()))
	return plain != ""
}

// isText reports whether a field is a text without a syntax. Its default is stored as given.
func (f *File) isText(field string) bool {
	return model.ImportField(field).Kind == model.KindText && model.ImportField(field).Syntax == nil
}

// read returns the value of a column, or the joined values of several.
func (f *File) read(r *source.Record, o *origin) model.Value {
	if len(o.columns) == 1 {
		return f.cell(r, o.columns[0])
	}
	var texts []string
	for _, i := range o.columns {
		if text := strings.TrimSpace(f.cell(r, i).Written()); text != "" {
			texts = append(texts, text)
		}
	}
	return model.Text(strings.Join(texts, o.separator))
}

func (f *File) cell(r *source.Record, column int) model.Value {
	if r.Values == nil {
		return model.Text(r.Cells[column])
	}
	return r.Values[f.Header[column]]
}

// isExport reports whether the columns are named as our exports name them, by the fields or by their labels. Older
// exports end before the subtitle.
func (f *File) isExport() bool {
	var names, labels []string
	for _, field := range model.ImportFields {
		names, labels = append(names, f.columnOf(field)), append(labels, model.ImportField(field).Label)
	}
	older := slices.Index(model.ImportFields, "subtitle")
	isOf := func(fields []string) bool {
		return slices.Equal(names[:older], fields[:older]) &&
			(slices.Equal(names, fields) || strings.Join(names[older:], "") == "")
	}
	return isOf(model.ImportFields) || isOf(labels)
}

// isMissing reports whether a value counts as missing: also Calibre's date of a book without one, and marks of no
// value.
func (f *File) isMissing(field string, v model.Value) bool {
	if v.Missing() {
		return true
	}
	text, isOwn := strings.TrimSpace(v.Written()), f.readings[field].notation == own
	if value.IsEmpty(text) && !(isOwn && f.isText(field)) {
		return true
	}
	isOwn = isOwn || f.columnOf(field) == field
	switch model.ImportField(field).Kind {
	case model.KindDate:
		return value.IsNoDate(text) || value.IsCalibreNoDate(text) && !isOwn
	case model.KindInt:
		return value.IsNone(text) || value.IsUncounted(text) || text == "0" && (!isOwn || f.options.hasDefault(field))
	case model.KindCents:
		return value.IsNone(text)
	}
	return false
}
