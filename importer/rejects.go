package importer

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// rejectColumns precede the columns of a bad row. Several problems are separate lines in their cells.
var rejectColumns = []string{"row", "reason", "column", "value", "mend"}

// RejectsWriter writes the bad rows of a file as CSV.
type RejectsWriter struct {
	of  *File
	out *csv.Writer
}

// NewRejectsWriter returns a writer that has written the header.
func NewRejectsWriter(of *File, out io.Writer) (*RejectsWriter, error) {
	w := &RejectsWriter{of, csv.NewWriter(out)}
	return w, w.out.Write(append(rejectColumns[:len(rejectColumns):len(rejectColumns)], of.rejectedHeader()...))
}

// Add writes a bad row.
func (w *RejectsWriter) Add(bad *Row) error {
	var reasons, columns, values, mends []string
	for _, p := range bad.Problems {
		reasons, columns, values, mends = append(reasons, p.Message), append(columns, p.Column), append(values, p.Value), append(mends, p.Mend)
	}
	number := bad.Number
	if w.of.IsSpreadsheet() {
		_, number = w.of.SheetRow(number)
	}
	cells := []string{strconv.Itoa(number), strings.Join(reasons, " "), strings.Join(columns, "\n"), strings.Join(values, "\n"), strings.Join(mends, "\n")}
	return w.out.Write(append(cells, w.of.rejectedCells(bad)...))
}

// Flush writes buffered rows.
func (w *RejectsWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}
