package importer

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// rejectColumns precede the columns of a bad row, in the words of the page. Several problems are separate lines in
// their cells.
var rejectColumns = []string{"Row", "Problem", "Column", "Found", "How to fix it"}

// isRejects reports whether a header is of a file of rejected rows.
func isRejects(header []string) bool {
	return len(header) > len(rejectColumns) && slices.Equal(header[:len(rejectColumns)], rejectColumns)
}

// addedColumns returns the number of columns that a file of rejected rows has before those of the first file.
func addedColumns(header []string) int {
	switch {
	case hasLookups(header):
		return len(rejectColumns) + len(lookupColumns)
	case isRejects(header):
		return len(rejectColumns)
	}
	return 0
}

// inWords replaces the names of fields in messages by those on the pages: The published at field, The Published field.
var inWords = func() *strings.Replacer {
	var pairs []string
	for _, field := range model.ImportFields {
		pairs = append(pairs, "The "+strings.ReplaceAll(field, "_", " ")+" field",
			"The "+model.ImportField(field).Label+" field")
	}
	return strings.NewReplacer(pairs...)
}()

// RejectsWriter writes the bad rows of a file as CSV.
type RejectsWriter struct {
	of  *File
	out *csv.Writer
}

// NewRejectsWriter returns a writer that has written a byte order mark, because spreadsheets expect it, and the header.
func NewRejectsWriter(of *File, out io.Writer) (*RejectsWriter, error) {
	if _, err := io.WriteString(out, "\uFEFF"); err != nil {
		return nil, err
	}
	w := &RejectsWriter{of, csv.NewWriter(out)}
	header := slices.Clone(rejectColumns)
	if of.options.Lookups {
		header = append(header, lookupColumns...)
	}
	return w, w.out.Write(append(header, of.rejectedHeader()...))
}

// Add writes a bad row.
func (w *RejectsWriter) Add(bad *Row) error {
	var reasons, columns, values, mends []string
	for _, p := range bad.Problems {
		if slices.Contains(model.ImportFields, p.Column) && !slices.Contains(w.of.Header, p.Column) {
			p.Column = model.ImportField(p.Column).Label
		}
		reasons, mends = append(reasons, inWords.Replace(p.Message.String())), append(mends, p.Mend.String())
		columns, values = append(columns, p.Column), append(values, p.Value)
	}
	cells := []string{bad.Place().String(), strings.Join(reasons, " "),
		strings.Join(columns, "\n"), strings.Join(values, "\n"), strings.Join(mends, "\n")}
	if w.of.options.Lookups {
		cells = append(cells, bad.lookupCells()...)
	}
	return w.out.Write(append(cells, w.of.rejectedCells(bad)...))
}

// Flush writes buffered rows.
func (w *RejectsWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}
