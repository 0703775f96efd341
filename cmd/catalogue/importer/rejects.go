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

// Rejects collects bad rows: in a CSV file where there is one, else the first few
// to be shown.
type Rejects struct {
	path  string
	file  *os.File
	out   *csv.Writer
	shown []*Row
	count int
}

// Create makes the file at path, with the header of the file that is imported.
// It refuses to empty that file.
func (r *Rejects) Create(path string, imported *Source, header []string) (err error) {
	if info, err := os.Stat(path); err == nil && imported.info != nil && os.SameFile(info, imported.info) {
		return fmt.Errorf("--rejects %s is the file to import: name another", path)
	}
	r.path = path
	if r.file, err = os.Create(path); err != nil {
		return err
	}
	r.out = csv.NewWriter(r.file)
	return r.out.Write(append([]string{"row", "reason"}, header...))
}

// Add takes a bad row.
func (r *Rejects) Add(bad *Row) error {
	r.count++
	if r.out != nil {
		return r.out.Write(append([]string{strconv.Itoa(bad.Number), bad.Problem}, bad.Cells...))
	}
	if len(r.shown) < maxShown {
		r.shown = append(r.shown, bad)
	}
	return nil
}

// Close ends the file, or shows the bad rows on w.
func (r *Rejects) Close(w io.Writer) error {
	if r.out != nil {
		r.out.Flush()
		if r.count > 0 {
			fmt.Fprintf(w, "The bad rows are in %s.\n", r.path)
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
