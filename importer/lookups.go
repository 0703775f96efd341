package importer

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/importer/source"
	"library-catalogue/importer/value"
	"library-catalogue/task"
)

// Find returns the books that have an ISBN, best first, or says why there is none. It runs concurrently.
type Find func(isbn string) (books []*model.FoundBook, problem string)

// MaxLookups is the number of concurrent look-ups for a list. It leaves places for other callers.
const MaxLookups = 2

// lookupColumns follow rejectColumns in a list with look-ups: the sources by field, or why there is none, and the
// values. An own value of the list counts before them.
var lookupColumns = func() []string {
	columns := []string{"Looked up in"}
	for _, field := range model.ImportFields {
		columns = append(columns, "Looked up: "+model.ImportField(field).Label)
	}
	return columns
}()

// hasLookups reports whether a header is of a list with look-ups.
func hasLookups(header []string) bool {
	all := slices.Concat(rejectColumns, lookupColumns)
	return len(header) > len(all) && slices.Equal(header[:len(all)], all)
}

// isISBNList reports whether a file has one column without a name, because its first row has the digits of an ISBN. The
// number may be misspelt.
func (f *File) isISBNList() bool {
	digits := 0
	for _, sign := range strings.Join(f.Header, ",") {
		if unicode.IsDigit(sign) {
			digits++
		}
	}
	return digits >= 9 && len(f.Header) == 1 && !f.isHeaderGiven && !f.options.NoHeader
}

// hasISBN reports whether one of some cells is an ISBN.
func hasISBN(cells []string) bool {
	return slices.ContainsFunc(cells, func(cell string) bool {
		_, isISBN := value.ParseISBN(cell)
		return isISBN
	})
}

// ForLookups returns the options to survey a list for LookUp.
func (o Options) ForLookups() Options {
	o.Lookups, o.Defaults = true, nil // a value of a record counts before a default
	return o
}

// ErrNoISBNs is the error of look-ups for a file that they cannot complete.
var ErrNoISBNs = errors.New(
	"look-ups need a table with a column of ISBNs: name it with the map option, isbn=COLUMN")

// CanLookUp reports whether a file is a table with a column of ISBNs, so that LookUp can complete it.
func (f *File) CanLookUp() bool { return !f.isJSON() && f.columns["isbn"] != nil }

// HasLookups reports whether look-ups have completed the file.
func (f *File) HasLookups() bool { return f.hasLookups }

// LookUp calls each with all rows of a list, in order, for a RejectsWriter. Rows that lack a required value have the
// values that find returns. The file was surveyed with Options.ForLookups.
func (f *File) LookUp(ctx context.Context, find Find, each func(*Row) error) error {
	if !f.CanLookUp() {
		return ErrNoISBNs
	}
	rows, err := f.Open(ctx)
	var begun []lookup
	for err == nil {
		var row *Row
		if row, err = rows.Next(); err != nil {
			break
		}
		next := lookup{row: row}
		if row.needsLookup() {
			next.done = task.Go(ctx, func() error {
				row.lookUp(find)
				return nil
			})
		}
		if begun = append(begun, next); len(begun) == MaxLookups {
			err, begun = begun[0].end(each), begun[1:]
		}
	}
	for _, l := range begun {
		if failed := l.end(each); failed != nil {
			err = failed
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// lookup is a row in work.
type lookup struct {
	row  *Row
	done <-chan error // nil: no look-up
}

// end waits for the look-up, and passes the row on.
func (l lookup) end(each func(*Row) error) error {
	if l.done != nil {
		if err := <-l.done; err != nil {
			return err
		}
	}
	return each(l.row)
}

// needsLookup reports whether a row lacks a required value, and was not found before.
func (r *Row) needsLookup() bool {
	isMissing := func(field string) bool {
		return !model.ImportField(field).Nullable && r.form[field].Missing()
	}
	return len(r.Problems) == 0 && !r.Skipped && len(r.Sources) == 0 &&
		slices.ContainsFunc(model.ImportFields, isMissing)
}

func (r *Row) lookUp(find Find) {
	if r.unfound = "The row has no valid ISBN."; r.Value("isbn") == "" {
		return
	}
	var books []*model.FoundBook
	books, r.unfound = find(r.Value("isbn"))
	values, sources := Fill(r.form, model.ImportFields, books)
	switch r.Sources = sources; {
	case len(sources) > 0:
		r.unfound = ""
	case len(books) > 0:
		r.unfound = "The record has none of the missing values."
	}
	maps.Copy(r.found, values)
	maps.Copy(r.form, values)
}

// wholes has the field of which another is a part. The part is only taken from a record with the same whole.
var wholes = map[string]string{"subtitle": "name", "series_number": "series", category: genre}

// Fill returns values for those of some fields that a book lacks, each from the first found book that has it, and their
// sources by field. It has nothing for a field with a value.
func Fill(
	book model.Form, fields []string, found []*model.FoundBook,
) (values model.Form, sources map[string]string) {
	values, sources = model.Form{}, map[string]string{}
	text := func(field string) string { return cmp.Or(book[field].Written(), values[field].Written()) }
	for _, f := range found {
		for _, field := range model.ImportFields { // a whole before its parts
			whole := wholes[field]
			isPart := whole == "" || collate.Identity(text(whole)) == collate.Identity(f.Form[whole].Written())
			if slices.Contains(fields, field) && text(field) == "" && isPart && !f.Form[field].Missing() {
				values[field], sources[field] = f.Form[field], f.Source
			}
		}
	}
	return values, sources
}

// found returns the value that a look-up has found for a field, or "".
func (f *File) found(r *source.Record, field string) string {
	if !f.hasLookups {
		return ""
	}
	return r.Cells[len(rejectColumns)+1+slices.Index(model.ImportFields, field)]
}

// readSources reads the cell with the sources of a row's values, or why there is none.
func (r *Row) readSources() {
	cell := r.record.Cells[len(rejectColumns)]
	for _, pair := range strings.Split(cell, "; ") {
		if field, from, ok := strings.Cut(pair, ": "); ok && !r.found[field].Missing() {
			r.Sources[field] = from
		}
	}
	if len(r.Sources) == 0 {
		r.unfound = cell
	}
}

// lookupCells returns the cells of a row in lookupColumns.
func (r *Row) lookupCells() []string {
	var pairs, values []string
	for _, field := range model.ImportFields {
		if from := r.Sources[field]; from != "" {
			pairs = append(pairs, field+": "+from)
		}
		values = append(values, r.found[field].Written())
	}
	return append([]string{cmp.Or(strings.Join(pairs, "; "), r.unfound)}, values...)
}
