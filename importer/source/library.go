package source

import (
	"errors"
	"io"
	"maps"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/citation"
	"library-catalogue/graph/model/marc"
)

// library is a format of libraries and citations.
type library struct {
	format  string
	begins  func(start []byte) bool
	records func(in io.Reader) RecordReader
}

// libraries are the formats that a text shows by its beginning.
var libraries = []library{
	{ISO2709, isISO2709, func(in io.Reader) RecordReader { return marcRecords(marc.NewReader(in).Next) }},
	{MARCXML, marc.IsXML, func(in io.Reader) RecordReader { return marcRecords(marc.NewXMLReader(in).Next) }},
	{MARCMaker, marc.IsText, func(in io.Reader) RecordReader { return marcRecords(marc.NewTextReader(in).Next) }},
	{RIS, citation.IsRIS, func(in io.Reader) RecordReader { return citations(citation.NewRISReader(in).Next) }},
	{BibTeX, citation.IsBibTeX,
		func(in io.Reader) RecordReader { return citations(citation.NewBibTeXReader(in).Next) }},
}

func isISO2709(start []byte) bool {
	_, ok := marc.IsISO2709(start)
	return ok
}

// marcRecords reads the records of MARC, with the values of marc.Record.Values.
type marcRecords func() (marc.Record, error)

// Next implements RecordReader.
func (next marcRecords) Next() (Record, error) {
	record, err := next()
	if damaged, ok := errors.AsType[*marc.RecordError](err); ok {
		return Record{Cells: []string{"{}"}, Problem: sentence(damaged), Mend: "Export the record again."}, nil
	}
	if err != nil {
		return Record{}, err
	}
	out := recordOf(record.Values())
	out.refuse(record)
	return out, nil
}

// refuse adds the problem of a record that is no book of MARC 21.
func (r *Record) refuse(record marc.Record) {
	switch {
	case record.IsUNIMARC():
		r.Problem, r.Mend = "The record is UNIMARC, which is not read.", "Export the records as MARC 21."
	case record.IsDeleted():
		r.Problem, r.Mend = "The record is marked as deleted (leader, position 5).",
			"Leave it out, or mark it as a new record (n)."
	}
}

// formOf returns the form of values by key.
func formOf(values map[string]string) model.Form {
	form := make(model.Form, len(values))
	for key, text := range values {
		form[key] = model.Text(text)
	}
	return form
}

// recordOf returns the record of values by key.
func recordOf(values map[string]string) Record {
	text := []byte("{")
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = model.AppendString(append(model.AppendString(text, key), ':'), values[key])
	}
	text = append(text, '}')
	return Record{Cells: []string{string(text)}, Values: formOf(values), Size: len(text)}
}

// citations reads the entries of BibTeX and RIS.
type citations func() (citation.Entry, error)

// Next implements RecordReader.
func (next citations) Next() (Record, error) {
	entry, err := next()
	if err != nil {
		return Record{}, err
	}
	record := Record{Cells: []string{"{}"}}
	if entry.Problem == "" {
		record = recordOf(entry.Values)
	} else {
		record.Problem, record.Mend = sentence(errors.New(entry.Problem)), "Mend the entry, or export it again."
	}
	record.Line, record.Size = entry.Line, entry.Size
	return record, nil
}
