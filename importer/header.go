package importer

import (
	"context"
	"io"
	"maps"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/importer/source"
	"library-catalogue/importer/survey"
)

// header returns how to find the header.
func (f *File) header() source.Header {
	o := &f.options
	return source.Header{Row: o.HeaderRow, Encoding: o.Encoding, Sheet: o.Sheet, None: o.NoHeader,
		Matched: func(names []string) int {
			c := newChooser(names[:min(len(names), maxRanked)], o)
			if c.takeNamed() {
				c.guess()
			}
			if !o.NoHeader && f.isBook(names) {
				return min(len(c.found), 1)
			}
			return len(c.found)
		}}
}

// findFormat detects the format, and refuses options of another one.
func (f *File) findFormat(ctx context.Context) (err error) {
	o, isSheet := &f.options, f.IsSpreadsheet()
	isRejected := f.hasRejects(ctx)
	switch {
	case isSheet && o.Format != "" && o.Format != source.FormatXLSX:
		return model.Messagef("the file is a spreadsheet, and the format option is %s: set it to xlsx or auto",
			o.Format)
	case !isSheet && o.Format == source.FormatXLSX && !isRejected:
		return model.Messagef("the file is not a spreadsheet (.xlsx): set the format option to auto")
	case isSheet && o.Delimiter != 0:
		return f.misplaced("delimiter", "CSV only")
	case isSheet && o.Encoding != "":
		return model.Messagef("the encoding option applies to texts only, and the file is %s: leave it out", f.Kind())
	case isSheet, isRejected: // a sheet was converted, and begins with the header
		o.Format, o.HeaderRow, o.Delimiter, o.NoHeader = source.FormatCSV, 1, ',', o.NoHeader && !isRejected
	case o.Sheet != "":
		return model.Messagef("the sheet option applies to spreadsheets only, and the file is none: leave it out")
	}
	if f.format, err = f.Format(ctx, o.Format, o.Delimiter, f.header()); err != nil || f.format.Name == source.CSV {
		return err
	}
	switch {
	case o.Delimiter != 0:
		return f.misplaced("delimiter", "CSV only")
	case o.NoHeader:
		return f.misplaced("no header", "CSV and spreadsheets only")
	case o.HeaderRow != 0:
		return f.misplaced("header row", "CSV and spreadsheets only")
	}
	return nil
}

// misplaced returns the error of an option of other formats.
func (f *File) misplaced(option, formats string) error {
	return model.Messagef("the %s option applies to %s, and the file is %s", option, formats, f.Kind())
}

// findColumns finds the columns of the fields.
func (f *File) findColumns(ctx context.Context) error {
	if _, err := f.records(ctx); err != nil {
		return err
	}
	isCSV := f.format.Name == source.CSV
	f.rejects = isCSV && slices.Equal(f.Header, append(slices.Clone(rejectColumns), jsonColumn))
	f.seen = len(f.Header)
	if f.isJSON() {
		return f.findKeys(ctx)
	}
	f.hasLookups = hasLookups(f.Header)
	f.options.Lookups = f.options.Lookups || f.hasLookups
	if f.isISBNList() {
		f.options.NoHeader, f.format.NoHeader, f.Header = true, true, []string{"isbn"}
	}
	if err := f.choose(ctx); err != nil || !f.hasNoHeader() {
		return err
	}
	f.isHeaderGuessed, f.options.NoHeader, f.format.NoHeader, f.Header = true, true, true, nil
	if _, err := f.records(ctx); err != nil {
		return err
	}
	f.seen = len(f.Header)
	return f.choose(ctx)
}

// findKeys finds the keys of the first rows, and the fields among them. Later rows may have a field by its own name.
func (f *File) findKeys(ctx context.Context) error {
	keys, rows := map[string]bool{}, 0
	err := f.eachRecord(ctx, func(r *source.Record) error {
		for key := range r.Values {
			if len(keys) < maxKeys && len(key) <= source.MaxName {
				keys[key] = true
			}
		}
		if rows++; rows == keyRows {
			return io.EOF
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case rows == 0 && !f.format.IsJSON():
		return model.Messagef("the file has no record of %s", f.format.Name)
	}
	f.Header = append([]string{}, slices.Sorted(maps.Keys(keys))...) // not nil
	if err := f.choose(ctx); err != nil {
		return err
	}
	f.seen = len(f.Header)
	for _, field := range model.ImportFields {
		name, isGiven := f.options.nameOf(field)
		isFound := f.candidates.isAnswered(field) || isGiven && f.columns[field] != nil
		if name != "" && !isFound && !slices.Contains(f.Header, name) {
			f.columns[field] = append(f.columns[field], origin{columns: []int{len(f.Header)}})
			f.Header = append(f.Header, name)
		}
	}
	return nil
}

// HasGuessedHeader reports whether no row has known names of columns, so that the first full one was taken for the
// header.
func (f *File) HasGuessedHeader() bool {
	return !f.isJSON() && !f.isHeaderGiven && !f.options.NoHeader && f.header().Matched(f.Header) < minKnown
}

// hasNoHeader reports whether the first row is a book: none of its cells is a known name, and one is a number, a date
// or a code as those below it.
func (f *File) hasNoHeader() bool {
	if f.options.NoHeader || f.isHeaderGiven || f.format.Before > 0 || len(f.options.Columns) > 0 ||
		len(f.Header) < 3 && !hasISBN(f.Header) {
		return false
	}
	isBook := f.isBook(f.Header)
	for _, name := range f.Header[:min(len(f.Header), maxRanked)] {
		parsed := survey.ParseName(name)
		if !isBook && slices.ContainsFunc(model.ImportFields, func(field string) bool {
			return parsed.Points(field) != 0
		}) {
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

// sampledRows is the number of first rows with cells that are evidence for the fields of the columns.
const sampledRows = 1000

// hasFixedFields reports whether the format says which field is which, so that others are never guessed.
func (f *File) hasFixedFields() bool {
	return f.isMARC() || f.format.Name == source.BibTeX || f.format.Name == source.RIS
}

// isMARC reports whether the records are of MARC, also in JSON: then their other subfields have names like 300$c.
func (f *File) isMARC() bool {
	return f.format.IsMARC() || f.format.IsJSON() && slices.ContainsFunc(f.Header, marcTag.MatchString)
}

// choose finds the columns of the fields by their names, and if these do not suffice, also by the cells of the first
// rows.
func (f *File) choose(ctx context.Context) error {
	c := newChooser(f.Header, &f.options)
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
	f.columns, f.candidates = c.found, c.candidates
	for field, of := range f.candidates {
		if of[0].isAnswer { // to be surveyed
			f.columns[field] = []origin{{columns: []int{of[0].column}}}
		}
	}
	return nil
}

// sample describes the cells of the first rows.
func (f *File) sample(ctx context.Context) error {
	f.profiles = make([]*survey.Profile, min(len(f.Header), maxRanked))
	for i := range f.profiles {
		f.profiles[i] = &survey.Profile{Name: f.Header[i]}
	}
	rows := 0
	return f.eachRecord(ctx, func(r *source.Record) error {
		for i, profile := range f.profiles {
			if r.Problem == "" {
				profile.Add(f.cell(r, i).Written(), f.options.LastYear)
			}
		}
		if rows++; rows == sampledRows {
			return io.EOF
		}
		return nil
	})
}
