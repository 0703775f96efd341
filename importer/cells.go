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

// columnName returns the name of a column.
func (f *File) columnName(i int) string {
	if i >= joined {
		var names []string
		for _, part := range f.joins[i-joined].parts {
			names = append(names, f.Header[part])
		}
		return strings.Join(names, "+")
	}
	return f.Header[i]
}

// value returns the value of a field as written, and the index of its column, or -1. A date counts before its year, and a
// value that can be read before one that cannot. An empty cell is an empty text, and clears an optional field; without a
// cell, or with a mark of no value, the field is absent and keeps what is stored.
func (f *File) value(r *source.Record, field string) (v model.Value, column int) {
	column = -1
	empty, marked := false, false
	for _, i := range f.columns[field] {
		next := f.cell(r, i)
		if f.isMissing(field, next) {
			empty, marked = empty || next != model.Value{}, marked || !next.Missing()
			continue
		}
		isFuller := column >= 0 && field == published && value.IsFuller(next.Written(), v.Written())
		if column < 0 || v.Written() == "" || isFuller || !f.isReadable(field, v) && f.isReadable(field, next) {
			v, column = next, i
		}
	}
	switch text, ok := f.options.Defaults[field]; {
	case column >= 0:
	case ok:
		v = model.Text(text)
	case empty && !marked:
		v = model.Text("")
	}
	return v, column
}

// isReadable reports whether a value has the syntax of its field, if there is one.
func (f *File) isReadable(field string, v model.Value) bool {
	if model.ImportField(field).Syntax == nil {
		return true
	}
	plain, _ := f.readings[field].canonical(strings.TrimSpace(v.Written()))
	return plain != ""
}

// isText reports whether a field is a text without a syntax, whose default is stored as it is given.
func (f *File) isText(field string) bool {
	return model.ImportField(field).Kind == model.KindText && model.ImportField(field).Syntax == nil
}

func (f *File) cell(r *source.Record, column int) model.Value {
	if column >= joined {
		var texts []string
		for _, part := range f.joins[column-joined].parts {
			if text := strings.TrimSpace(f.cell(r, part).Written()); text != "" {
				texts = append(texts, text)
			}
		}
		return model.Text(strings.Join(texts, f.joins[column-joined].separator))
	}
	if r.Values == nil {
		return model.Text(r.Cells[column])
	}
	return r.Values[f.Header[column]]
}

// isExport reports whether the columns are those of our exports: all fields, by their names or by their labels.
func (f *File) isExport() bool {
	lacks := func(name func(field string) string) bool {
		return slices.ContainsFunc(model.ImportFields, func(field string) bool { return f.columnOf(field) != name(field) })
	}
	return !lacks(func(field string) string { return field }) || !lacks(func(field string) string { return model.ImportField(field).Label })
}

// isMissing reports whether a value counts as missing: also Calibre's date of a book without one, and marks of no value.
func (f *File) isMissing(field string, v model.Value) bool {
	if v.Missing() {
		return true
	}
	text := strings.TrimSpace(v.Written())
	if value.IsEmpty(text) && !(f.isText(field) && f.readings[field].isOwn) {
		return true
	}
	isOwn := f.columnOf(field) == field || f.readings[field].isOwn
	_, hasDefault := f.options.Defaults[field]
	switch model.ImportField(field).Kind {
	case model.KindDate:
		return value.IsNoDate(text) || value.IsCalibreNoDate(text) && !isOwn
	case model.KindInt:
		return value.IsNone(text) || value.IsUncounted(text) || text == "0" && (!isOwn || hasDefault)
	case model.KindCents:
		return value.IsNone(text)
	}
	return false
}
