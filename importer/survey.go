package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
)

// Options override what Survey detects.
type Options struct {
	Format     string            // source.FormatCSV, FormatJSON or FormatXLSX; "" means detect
	Delimiter  byte              // of CSV; 0 means detect
	Columns    map[string]string // by field: name of its column
	Defaults   map[string]string // by field: value of an empty or missing cell
	Dates      string            // a value of DateOrders; "" means auto
	Duplicates string            // a value of DuplicateRules; "" means ask
	LastYear   int               // latest year of two digits
	MaxRows    int               // maximum rows of the file; 0 means no limit
}

// File is a surveyed file of books. Survey has read it to its end; Open reads it again for its rows.
type File struct {
	*source.Text
	Header []string // names of the columns; for JSON the keys of the first rows
	Rows   int      // good and bad

	source   *source.Source
	format   source.Format
	options  Options
	columns  columns
	rejects  bool // the last column holds rejected JSON rows
	readings map[string]*reading
	dropped  []duplicate // rows that are not imported, in order
}

// Limits of the search for JSON keys.
const (
	keyRows = 1000
	maxKeys = 1000
)

// Survey reads a file to its end and decides how its rows are read. The error is a *Question if an option can
// decide; the returned file then has what is known.
func Survey(ctx context.Context, in *source.Source, o Options) (*File, error) {
	if o.Dates == "" {
		o.Dates = datesAuto
	}
	text, err := in.Text(ctx)
	if err != nil {
		return nil, err
	}
	f := &File{Text: text, source: in, options: o, readings: map[string]*reading{}}
	switch isSheet := f.Sheet != ""; {
	case isSheet && o.Format != "" && o.Format != source.FormatXLSX:
		return f, fmt.Errorf("the file is a spreadsheet, and the format option is %s: set it to xlsx or auto", o.Format)
	case !isSheet && o.Format == source.FormatXLSX:
		return f, errors.New("the file is not a spreadsheet (.xlsx): set the format option to auto")
	case isSheet && o.Delimiter != 0:
		return f, errDelimiter(f.Kind())
	case isSheet: // it was converted
		f.options.Format, f.options.Delimiter = source.FormatCSV, ','
	}
	for _, field := range model.ImportFields {
		f.readings[field] = &reading{kind: model.ImportField(field).Kind, order: o.Dates, lastYear: o.LastYear}
	}
	if err := f.findColumns(ctx); err != nil {
		return f, err
	}
	keys, err := f.surveyRows(ctx)
	if err != nil {
		return f, err
	}
	for _, field := range model.ImportFields {
		if err := f.readings[field].decide(f.columnOf(field)); err != nil {
			return f, err
		}
	}
	return f, f.findDuplicates(ctx, keys)
}

func errDelimiter(kind string) error {
	return fmt.Errorf("the delimiter option applies to CSV only, and the file is %s", kind)
}

// findColumns detects the format, and finds the columns of the fields.
func (f *File) findColumns(ctx context.Context) (err error) {
	f.format, err = f.Format(ctx, f.options.Format, f.options.Delimiter, func(header []string) int {
		found, _, _ := findColumns(header, f.options.Columns, f.options.Defaults)
		return len(found)
	})
	if err != nil {
		return err
	}
	if f.options.Delimiter != 0 && f.format.Name != source.CSV {
		return errDelimiter(f.Kind())
	}
	records, err := f.records(ctx)
	if err != nil {
		return err
	}
	if f.format.Name == source.CSV {
		f.rejects = slices.Equal(f.Header, append(slices.Clone(rejectColumns), jsonColumn))
	}
	if f.format.Name == source.CSV && !f.rejects {
		var missing []string
		f.columns, missing, err = findColumns(f.Header, f.options.Columns, f.options.Defaults)
		if err == nil && len(missing) > 0 {
			err = missingError(f.Header, missing)
		}
		return err
	}
	keys := map[string]bool{}
	for range keyRows {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		f.parseRejected(&r)
		for key := range r.Values {
			if len(keys) < maxKeys {
				keys[key] = true
			}
		}
	}
	f.Header = slices.Sorted(maps.Keys(keys))
	f.columns, _, err = findColumns(f.Header, f.options.Columns, f.options.Defaults)
	return err
}

// records returns a reader at the first record.
func (f *File) records(ctx context.Context) (source.RecordReader, error) {
	records, header, err := f.Records(ctx, f.format)
	if f.Header == nil {
		f.Header = header
	}
	return records, err
}

// parseRejected parses the last cell of a record in a file of rejected JSON rows.
func (f *File) parseRejected(r *source.Record) {
	if f.rejects && r.Problem == "" {
		r.ParseJSON([]byte(r.Cells[len(r.Cells)-1]), "cell "+jsonColumn)
	}
}

// columnOf returns the name of a field's column, or "".
func (f *File) columnOf(field string) string {
	if i, ok := f.columns[field]; ok {
		return f.Header[i]
	}
	return ""
}

// value returns the value of a field as written.
func (f *File) value(r *source.Record, field string) (v model.Value) {
	i, ok := f.columns[field]
	if r.Values == nil && ok {
		v = model.Text(r.Cells[i])
	}
	if r.Values != nil && ok {
		v = r.Values[f.Header[i]]
	}
	if r.Values != nil && v.Missing() && f.options.Columns[field] == "" {
		v = r.Values[field] // the first rows may lack this key
	}
	if text, ok := f.options.Defaults[field]; ok && v.Missing() {
		v = model.Text(text)
	}
	return v
}

// surveyRows surveys the cells of all rows, and returns the keys of the rows.
func (f *File) surveyRows(ctx context.Context) (*keys, error) {
	records, err := f.records(ctx)
	if err != nil {
		return nil, err
	}
	keys := newKeys()
	for {
		r, err := records.Next()
		if errors.Is(err, io.EOF) {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		if f.Rows++; f.options.MaxRows > 0 && f.Rows > f.options.MaxRows {
			return nil, fmt.Errorf("the file has more than %d rows: send it in parts", f.options.MaxRows)
		}
		if f.parseRejected(&r); r.Problem != "" {
			continue
		}
		for _, field := range model.ImportFields {
			text := f.value(&r, field).Written()
			f.readings[field].survey(f.Rows, text)
			keys.value(field, strings.TrimSpace(text))
		}
		keys.add(f.Rows)
	}
}
