package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"library-catalogue/importer"
	"library-catalogue/importer/source"
)

// maxShown is how many bad rows are printed: mostly all rows of a file have the same fault.
const maxShown = 5

// rejects collects the bad rows of a file: in a CSV file, or without one the first few to print.
type rejects struct {
	path  string
	file  *os.File // nil without a path
	out   *importer.RejectsWriter
	shown []*importer.Row
	count int
}

// newRejects creates the CSV file at path unless path is empty. It replaces a file only with force, and
// never the file in that is imported.
func newRejects(in *source.Source, of *importer.File, path string, force bool) (r *rejects, err error) {
	r = &rejects{path: path}
	if path == "" {
		return r, nil
	}
	if in.IsFile(path) {
		return nil, fmt.Errorf("--rejects %s is the file to import: choose another name", path)
	}
	if err := refuseExisting(path, force); err != nil {
		return nil, fmt.Errorf("--rejects: %w", err)
	}
	if r.file, err = os.Create(path); err != nil {
		return nil, err
	}
	r.out, err = importer.NewRejectsWriter(of, r.file)
	return r, err
}

func (r *rejects) add(bad *importer.Row) error {
	r.count++
	if r.file != nil {
		return r.out.Add(bad)
	}
	if len(r.shown) < maxShown {
		r.shown = append(r.shown, bad)
	}
	return nil
}

// close completes the file, or prints the bad rows to w. Without bad rows it removes the file.
func (r *rejects) close(w io.Writer) error {
	if r.file == nil {
		return r.print(w)
	}
	info, err := r.file.Stat()
	err = errors.Join(err, r.out.Flush(), r.file.Close())
	if err == nil && r.count == 0 && info.Mode().IsRegular() {
		return os.Remove(r.path)
	}
	if r.count > 0 {
		fmt.Fprintf(w, "The bad rows are in %s. Correct them there, and import that file with the same flags, but "+
			"another file for --rejects.\n", r.path)
	}
	return err
}

// discard removes the file, so that the import can be run again.
func (r *rejects) discard() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.path)
	}
}

func (r *rejects) print(w io.Writer) error {
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
