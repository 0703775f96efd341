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

// libraryFormat returns the name of the format of a text that begins as MARC or citations do, or "".
func libraryFormat(start []byte) string {
	_, isISO2709 := marc.IsISO2709(start)
	switch {
	case isISO2709:
		return ISO2709
	case marc.IsXML(start):
		return MARCXML
	case marc.IsText(start):
		return MARCMaker
	case citation.IsRIS(start):
		return RIS
	case citation.IsBibTeX(start):
		return BibTeX
	}
	return ""
}

// marcRecords reads the records of MARC. Their values are those of marc.Record.Values.
type marcRecords struct {
	in interface{ Next() (marc.Record, error) }
}

func newMARCRecords(in io.Reader, format string) marcRecords {
	switch format {
	case ISO2709:
		return marcRecords{marc.NewReader(in)}
	case MARCXML:
		return marcRecords{marc.NewXMLReader(in)}
	}
	return marcRecords{marc.NewTextReader(in)}
}

func (r marcRecords) Next() (Record, error) {
	record, err := r.in.Next()
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
		r.Problem, r.Mend = "The record is marked as deleted (leader, position 5).", "Leave it out, or mark it as a new record (n)."
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
type citations struct {
	in interface {
		Next() (citation.Entry, error)
	}
}

func newCitations(in io.Reader, format string) citations {
	if format == RIS {
		return citations{citation.NewRISReader(in)}
	}
	return citations{citation.NewBibTeXReader(in)}
}

func (r citations) Next() (Record, error) {
	entry, err := r.in.Next()
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
