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

// Rejects collects the bad rows of a file: in a CSV file where there is one, else the
// first few to be shown.
type Rejects struct {
	of    *File
	path  string
	file  *os.File
	out   *csv.Writer
	shown []*Row
	count int
}

// NewRejects collects the bad rows of a file, in the file at path if path is not empty.
// It refuses to empty the file that is imported.
func NewRejects(of *File, path string) (r *Rejects, err error) {
	r = &Rejects{of: of, path: path}
	if path == "" {
		return r, nil
	}
	if of.source.IsFile(path) {
		return nil, fmt.Errorf("--rejects %s is the file to import: name another", path)
	}
	if r.file, err = os.Create(path); err != nil {
		return nil, err
	}
	r.out = csv.NewWriter(r.file)
	return r, r.out.Write(append(rejectColumns[:len(rejectColumns):len(rejectColumns)], of.rejectedHeader()...))
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
	var reasons, columns, values, mends []string
	for _, p := range bad.Problems {
		reasons, columns, values, mends = append(reasons, p.Message), append(columns, p.Column), append(values, p.Value), append(mends, p.Mend)
	}
	cells := []string{strconv.Itoa(bad.Number), strings.Join(reasons, " "), strings.Join(columns, "\n"), strings.Join(values, "\n"), strings.Join(mends, "\n")}
	return r.out.Write(append(cells, r.of.rejectedCells(bad)...))
}

// Close ends the file, or shows the bad rows on w.
func (r *Rejects) Close(w io.Writer) error {
	if r.out != nil {
		r.out.Flush()
		if r.count > 0 {
			fmt.Fprintf(w, "The bad rows are in %s. Mended there, they can be imported from it, with the same flags.\n", r.path)
		}
		return errors.Join(r.out.Error(), r.file.Close())
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
