package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// checkRejects returns an error if newRejects may not create the file at path: it is the file in that is imported, it
// exists and force is not set, or its folder is missing.
func checkRejects(in *source.Source, path string, force bool) error {
	if in.IsFile(path) {
		return fmt.Errorf("--rejects %s is the file to import: choose another name", path)
	}
	_, err := os.Stat(filepath.Dir(path))
	if err := cmp.Or(refuseExisting(path, force), err); err != nil {
		return fmt.Errorf("--rejects: %w", err)
	}
	return nil
}

// newRejects creates the CSV file at path, or replaces it, unless path is empty.
func newRejects(of *importer.File, path string) (r *rejects, err error) {
	r = &rejects{path: path}
	if path == "" {
		return r, nil
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
