// Package importer reads files of books into a catalogue: CSV of any delimiter and
// characters, JSON and spreadsheets, packed or not.
//
// A file goes through it in this order: package source
// makes records of its bytes; a record has a cell for each field (columns.go), which is
// read as the whole column is written (readings.go, dates.go, numbers.go). survey.go decides
// all that before the first row is stored, duplicates.go which rows are left out;
// reader.go makes the rows and importer.go stores them.
package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

const (
	// BatchRows is how many rows are imported in one transaction: five statements
	// of the store for each of its steps.
	BatchRows = 500
	// batchBytes bounds a batch of long rows in memory.
	batchBytes = 4 << 20
)

// Catalogue is what books are imported into.
type Catalogue interface {
	ImportBooks(context.Context, []model.Form) (*model.ImportResult, error)
	PreviewImport() *resolvers.ImportPreview
	Atomically(context.Context, func(context.Context) error) error
}

// AsOperator returns the context of an import by a process that can open the database:
// it may write.
func AsOperator(ctx context.Context) context.Context {
	return model.WithPrincipal(ctx, model.Principal{Subject: "import"})
}

// Importer puts the rows of a file into a catalogue, for the principal of the context,
// and counts them.
type Importer struct {
	Catalogue Catalogue
	Preview   *resolvers.ImportPreview                                        // if any: nothing is stored
	Progress  func(Counts)                                                    // is told after each batch; nil: nobody is
	Reject    func(*Row) error                                                // takes a bad row; its error ends the import
	Admit     func(ctx context.Context, rows int) (release func(), err error) // waits until a batch may begin; nil: it may at once
	BatchRows int                                                             // in one transaction; 0: BatchRows
	Counts
}

// Counts are the rows by what became of them. Of those that are skipped another row of
// the file is taken.
type Counts struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Rejected  int `json:"rejected"`
	Skipped   int `json:"skipped"`
}

// Rows returns the number of all rows.
func (c Counts) Rows() int { return c.Created + c.Updated + c.Unchanged + c.Rejected + c.Skipped }

func (c Counts) String() string {
	text := fmt.Sprintf("%d rows: %d created, %d updated, %d unchanged, %d rejected", c.Rows(), c.Created, c.Updated, c.Unchanged, c.Rejected)
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	return text
}

// Import stores the rows of a file, each batch in a transaction of its own.
func (im *Importer) Import(ctx context.Context, file *File) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := file.Open(ctx)
	if err != nil {
		return err
	}
	batches := readBatches(ctx, rows, cmp.Or(im.BatchRows, BatchRows))
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b := <-batches:
			if err := im.store(ctx, file, b.rows); err != nil {
				return err
			}
			if errors.Is(b.err, io.EOF) && im.Rows() != file.Rows {
				return fmt.Errorf("the file changed while it was imported: it had %d rows, and now %d", file.Rows, im.Rows())
			}
			if errors.Is(b.err, io.EOF) {
				return nil
			}
			if b.err != nil {
				return b.err
			}
		}
	}
}

// ImportStrict stores all rows in one transaction, and nothing where one is bad:
// the error is that *Row. Where the database gives the transaction up and it is run
// again, the rows are read again.
func (im *Importer) ImportStrict(ctx context.Context, file *File) error {
	im.Reject = func(bad *Row) error { return bad }
	return im.Catalogue.Atomically(ctx, func(ctx context.Context) error {
		im.Counts = Counts{}
		return im.Import(ctx, file)
	})
}

// batch is what is imported together, and what ended the reading, if anything did.
type batch struct {
	rows []*Row
	err  error
}

// readBatches reads rows in the background: one batch is read while another is
// stored, and an import whose input does not come can still be stopped.
func readBatches(ctx context.Context, rows *Reader, count int) <-chan batch {
	out := make(chan batch)
	go func() {
		for {
			var b batch
			for size := 0; b.err == nil && len(b.rows) < count && size < batchBytes; {
				var r *Row
				if r, b.err = rows.Next(); b.err == nil {
					b.rows = append(b.rows, r)
					size += r.record.Size
				}
			}
			select {
			case out <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	return out
}

// store imports one batch.
func (im *Importer) store(ctx context.Context, file *File, rows []*Row) error {
	var forms []model.Form
	var readable []*Row
	for _, r := range rows {
		switch {
		case r.Skipped:
			im.Skipped++
		case len(r.Problems) == 0:
			forms = append(forms, r.form)
			readable = append(readable, r)
		}
	}
	importBooks := im.Catalogue.ImportBooks
	if im.Preview != nil {
		importBooks = im.Preview.ImportBooks
	}
	if im.Admit != nil {
		release, err := im.Admit(ctx, len(forms))
		if err != nil {
			return err
		}
		defer release()
	}
	result, err := importBooks(ctx, forms)
	if err != nil {
		return err
	}
	for _, rejected := range result.Rejected {
		file.reject(readable[rejected.Index], rejected.Problems)
	}
	im.Created += result.Created
	im.Updated += result.Updated
	im.Unchanged += result.Unchanged
	for _, r := range rows {
		if len(r.Problems) > 0 {
			im.Rejected++
			if err := im.Reject(r); err != nil {
				return err
			}
		}
	}
	if im.Progress != nil {
		im.Progress(im.Counts)
	}
	return nil
}
