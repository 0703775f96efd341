package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/survey"
)

// header returns how to find the header.
func (f *File) header() source.Header {
	return source.Header{Row: f.options.HeaderRow, Encoding: f.options.Encoding, Sheet: f.options.Sheet, None: f.options.NoHeader, Matched: func(names []string) int {
		c := chooser{header: names[:min(len(names), maxRanked)], options: f.options}
		if c.takeNamed() {
			c.guess()
		}
		if !f.options.NoHeader && f.isBook(names) {
			return min(len(c.found), 1)
		}
		return len(c.found)
	}}
}

// findColumns detects the format, and finds the columns of the fields.
func (f *File) findColumns(ctx context.Context) (err error) {
	switch {
	case f.isRejects(ctx):
		f.options.Format, f.options.HeaderRow, f.options.Delimiter = source.FormatCSV, 1, ','
	case f.options.Sheet != "" && !f.IsSpreadsheet():
		return errors.New("the sheet option applies to spreadsheets only, and the file is none: leave it out")
	}
	if f.format, err = f.Format(ctx, f.options.Format, f.options.Delimiter, f.header()); err != nil {
		return err
	}
	switch isCSV := f.format.Name == source.CSV; {
	case !isCSV && f.options.Delimiter != 0:
		return fmt.Errorf("the delimiter option applies to CSV only, and the file is %s", f.Kind())
	case !isCSV && f.options.NoHeader:
		return fmt.Errorf("the no header option applies to CSV and spreadsheets only, and the file is %s", f.Kind())
	case !isCSV && f.options.HeaderRow != 0:
		return fmt.Errorf("the header row option applies to CSV and spreadsheets only, and the file is %s", f.Kind())
	}
	records, err := f.records(ctx)
	if err != nil {
		return err
	}
	if f.format.Name == source.CSV {
		f.rejects = slices.Equal(f.Header, append(slices.Clone(rejectColumns), jsonColumn))
	}
	f.seen = len(f.Header)
	if f.format.Name == source.CSV && !f.rejects {
		if err := f.choose(ctx); err != nil || !f.hasNoHeader() {
			return err
		}
		f.isHeaderGuessed, f.options.NoHeader, f.format.NoHeader = true, true, true
		f.Header = nil
		if _, err = f.records(ctx); err != nil {
			return err
		}
		f.seen = len(f.Header)
		return f.choose(ctx)
	}
	keys := map[string]bool{}
	for n := range keyRows {
		r, err := records.Next()
		if errors.Is(err, io.EOF) && n == 0 && !f.format.IsJSON() {
			return fmt.Errorf("the file has no record of %s", f.format.Name)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		f.parseRejected(&r)
		for key := range r.Values {
			if len(keys) < maxKeys && len(key) <= source.MaxName {
				keys[key] = true
			}
		}
	}
	f.Header = append([]string{}, slices.Sorted(maps.Keys(keys))...) // not nil
	if err := f.choose(ctx); err != nil {
		return err
	}
	f.seen = len(f.Header)
	for _, field := range model.ImportFields { // later rows may have other keys
		name, isAsked := f.options.Columns[field]
		if !isAsked {
			name = field
		}
		if name != "" && f.likely[field] == 0 && !slices.Contains(f.Header, name) && (!isAsked || f.columns[field] == nil) {
			f.columns[field] = append(f.columns[field], len(f.Header))
			f.Header = append(f.Header, name)
		}
	}
	return nil
}

// HasGuessedHeader reports whether no row has known names of columns, so that the first full one was taken for the header.
func (f *File) HasGuessedHeader() bool {
	return !f.isJSON() && !f.isHeaderGiven && !f.options.NoHeader && f.header().Matched(f.Header) < minKnown
}

// hasNoHeader reports whether the first row is a book: none of its cells is a known name, and one is a number, a date or
// a code as those below it.
func (f *File) hasNoHeader() bool {
	if f.options.NoHeader || f.isHeaderGiven || f.format.Before > 0 || len(f.options.Columns) > 0 || len(f.Header) < 3 {
		return false
	}
	isBook := f.isBook(f.Header)
	for _, name := range f.Header[:min(len(f.Header), maxRanked)] {
		parsed := survey.ParseName(name)
		if !isBook && slices.ContainsFunc(model.ImportFields, func(field string) bool { return parsed.Points(field) != 0 }) {
			return false
		}
	}
	for i, name := range f.Header[:min(len(f.Header), len(f.profiles))] {
		if survey.IsTyped(name, f.options.LastYear) && (f.profiles[i].IsTyped() || f.profiles[i].Filled == 0) {
			return true
		}
	}
	return false
}

// isBook reports whether several of the first cells are numbers, dates or codes, and not several are names of columns.
func (f *File) isBook(row []string) bool {
	names, typed := 0, 0
	for _, cell := range row[:min(len(row), maxRanked)] {
		switch {
		case survey.IsName(cell):
			names++
		case survey.IsTyped(cell, f.options.LastYear):
			typed++
		}
	}
	return typed > 1 && names < 2
}

// sampledRows is the number of rows, from the first, whose cells are evidence for the fields of the columns.
const sampledRows = 1000

// hasFixedFields reports whether the format says which field is which, so that others are never guessed.
func (f *File) hasFixedFields() bool {
	return f.isMARC() || f.format.Name == source.BibTeX || f.format.Name == source.RIS
}

// isMARC reports whether the records are of MARC, also in JSON: then their other subfields have names like 300$c.
func (f *File) isMARC() bool {
	return f.format.IsMARC() || f.format.IsJSON() && slices.ContainsFunc(f.Header, marcTag.MatchString)
}

// choose finds the columns of the fields by their names, and if these do not suffice, also by the cells of the first rows.
func (f *File) choose(ctx context.Context) error {
	c := chooser{header: f.Header, options: f.options}
	if mustGuess := c.takeNamed(); !f.hasFixedFields() && (mustGuess || c.open() != nil) {
		if err := f.sample(ctx); err != nil {
			return err
		}
		c.profiles = f.profiles
		if mustGuess {
			c.guess()
		}
		c.findCandidates()
	}
	f.columns, f.joins, f.maybe, f.likely = c.found, c.joins, c.candidates, c.likely
	for field := range f.likely {
		f.columns[field] = f.maybe[field][:1]
	}
	return nil
}

// sample describes the cells of the first rows.
func (f *File) sample(ctx context.Context) error {
	f.profiles = make([]*survey.Profile, min(len(f.Header), maxRanked))
	for i := range f.profiles {
		f.profiles[i] = &survey.Profile{Name: f.Header[i]}
	}
	records, err := f.records(ctx)
	for range sampledRows {
		var r source.Record
		if err == nil {
			r, err = records.Next()
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if f.parseRejected(&r); r.Problem != "" {
			continue
		}
		for i, profile := range f.profiles {
			profile.Add(f.cell(&r, i).Written(), f.options.LastYear)
		}
	}
	return nil
}
