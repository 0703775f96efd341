package imports

import (
	"io"
	"os"

	"library-catalogue/importer"
)

// rejects are the bad rows of a file, as CSV in a temporary file without a name.
type rejects struct {
	of    *importer.File
	space int64 // left for more
	count int
	whole bool // all are there
	file  *os.File
	out   *importer.RejectsWriter
}

func newRejects(of *importer.File, space int64) *rejects {
	return &rejects{of: of, space: space, whole: true}
}

// create makes the temporary file.
func (r *rejects) create() (err error) {
	if r.file, err = os.CreateTemp("", "catalogue-rejects-"); err != nil {
		return err
	}
	if err = os.Remove(r.file.Name()); err == nil {
		r.out, err = importer.NewRejectsWriter(r.of, writerFunc(r.write))
	}
	return err
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// write writes, and notes how much.
func (r *rejects) write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	r.space -= int64(n)
	return n, err
}

// add takes a bad row, unless there is no space.
func (r *rejects) add(bad *importer.Row) error {
	if r.count++; r.count == 1 {
		if err := r.create(); err != nil {
			return err
		}
	}
	if r.whole = r.whole && r.space > 0; !r.whole {
		return nil
	}
	return r.out.Add(bad)
}

func (r *rejects) flush() error {
	if r.out == nil {
		return nil
	}
	return r.out.Flush()
}

// content returns the CSV from its start.
func (r *rejects) content() io.ReadSeeker {
	size, _ := r.file.Seek(0, io.SeekEnd) // which a file can
	return io.NewSectionReader(r.file, 0, size)
}

// close removes the file.
func (r *rejects) close() {
	if r != nil && r.file != nil {
		_ = r.file.Close()
	}
}
