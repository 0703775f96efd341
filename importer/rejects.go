package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// maxShown is how many bad rows are shown: what is wrong with a file is mostly
// wrong with all of its rows.
const maxShown = 5

// rejectColumns stand before the columns of a bad row. Of several problems each has a
// line in their cells.
var rejectColumns = []string{"row", "reason", "column", "value", "mend"}

// RejectsWriter writes the bad rows of a file as CSV.
type RejectsWriter struct {
	of  *File
	out *csv.Writer
}

// NewRejectsWriter begins such a file, by the names of its columns.
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
	cells := []string{strconv.Itoa(bad.Number), strings.Join(reasons, " "), strings.Join(columns, "\n"), strings.Join(values, "\n"), strings.Join(mends, "\n")}
	return w.out.Write(append(cells, w.of.rejectedCells(bad)...))
}

// Flush writes what is still in memory.
func (w *RejectsWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// Rejects collects the bad rows of a file: in a CSV file where there is one, else the
// first few to be shown.
type Rejects struct {
	path  string
	file  *os.File
	out   *RejectsWriter
	shown []*Row
	count int
}

// NewRejects collects the bad rows of a file, in the file at path if path is not empty.
// It refuses to empty the file that is imported.
func NewRejects(of *File, path string) (r *Rejects, err error) {
	r = &Rejects{path: path}
	if path == "" {
		return r, nil
	}
	if of.source.IsFile(path) {
		return nil, fmt.Errorf("--rejects %s is the file to import: name another", path)
	}
	if r.file, err = os.Create(path); err != nil {
		return nil, err
	}
	r.out, err = NewRejectsWriter(of, r.file)
	return r, err
}

// Add takes a bad row.
func (r *Rejects) Add(bad *Row) error {
	r.count++
	if r.out == nil {
		if len(r.shown) < maxShown {
			r.shown = append(r.shown, bad)
		}
		return nil
	}
	return r.out.Add(bad)
}

// Close ends the file, or shows the bad rows on w.
func (r *Rejects) Close(w io.Writer) error {
	if r.out != nil {
		err := r.out.Flush()
		if r.count > 0 {
			fmt.Fprintf(w, "The bad rows are in %s. Mended there, they can be imported from it, with the same flags.\n", r.path)
		}
		return errors.Join(err, r.file.Close())
	}
	var b strings.Builder
	for _, bad := range r.shown {
		fmt.Fprintln(&b, bad)
	}
	if more := r.count - len(r.shown); more > 0 {
		fmt.Fprintf(&b, "%d more rows are bad; --rejects FILE writes them all to a file.\n", more)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
