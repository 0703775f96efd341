package imports

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"

	"library-catalogue/importer"
)

// rejects stores bad rows as CSV in an unlinked temporary file of limited size. An import continues if the file
// fails.
type rejects struct {
	logger *slog.Logger
	max    int64 // bytes
	count  int
	whole  bool     // no row is missing
	file   *os.File // nil without rows
	size   int64    // bytes of complete rows in file
	row    bytes.Buffer
	out    *importer.RejectsWriter // writes to row; nil after the import, because it references the sent file
}

func newRejects(of *importer.File, max int64, logger *slog.Logger) *rejects {
	r := &rejects{logger: logger, max: max, whole: true}
	r.out, _ = importer.NewRejectsWriter(of, &r.row) // writes to memory
	return r
}

// add stores a bad row if there is room.
func (r *rejects) add(bad *importer.Row) {
	r.count++
	if r.whole = r.whole && r.size < r.max; !r.whole {
		return
	}
	if err := r.write(bad); err != nil {
		r.whole = false
		r.logger.Warn("bad rows of an import are lost: the temporary file cannot be written", "error", err)
	}
}

func (r *rejects) write(bad *importer.Row) error {
	if err := errors.Join(r.out.Add(bad), r.out.Flush()); err != nil {
		return err
	}
	file := r.file
	if file == nil {
		var err error
		if file, err = os.CreateTemp("", "catalogue-rejects-"); err != nil {
			return err
		}
		if err := os.Remove(file.Name()); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	n, err := file.WriteAt(r.row.Bytes(), r.size)
	r.row.Reset()
	if err != nil && r.file == nil {
		return errors.Join(err, file.Close())
	}
	if err == nil {
		r.file, r.size = file, r.size+int64(n)
	}
	return err
}

// end releases the sent file.
func (r *rejects) end() { r.out, r.row = nil, bytes.Buffer{} }

func (r *rejects) content() io.Reader { return io.NewSectionReader(r.file, 0, r.size) }

func (r *rejects) close() {
	if r != nil && r.file != nil {
		_ = r.file.Close()
	}
}
