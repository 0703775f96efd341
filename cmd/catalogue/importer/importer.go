// Package importer reads books from CSV and JSON Lines files into a catalogue.
package importer

import (
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

// Importer puts the rows of a file into a catalogue, and counts them.
type Importer struct {
	Catalogue *resolvers.Resolver
	Progress  *Progress        // nil: none is shown
	Reject    func(*Row) error // takes a bad row; its error ends the import
	Counts
}

// Counts are the rows by what became of them.
type Counts struct{ Created, Updated, Unchanged, Rejected int }

// Rows returns the number of all rows.
func (c Counts) Rows() int { return c.Created + c.Updated + c.Unchanged + c.Rejected }

func (c Counts) String() string {
	return fmt.Sprintf("%d rows: %d created, %d updated, %d unchanged, %d rejected", c.Rows(), c.Created, c.Updated, c.Unchanged, c.Rejected)
}

// Import stores the rows, each batch in a transaction of its own.
func (im *Importer) Import(ctx context.Context, rows *Reader) error {
	ctx, stop := context.WithCancel(im.context(ctx))
	defer stop()
	batches := readBatches(ctx, rows)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case b := <-batches:
			if err := im.store(ctx, b.rows); err != nil {
				return err
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
// the error is that *Row. Where the database gives the transaction up and it is
// run again, the rows are read again by open. rows may be nil.
func (im *Importer) ImportStrict(ctx context.Context, rows *Reader, open func() (*Reader, error)) error {
	im.Reject = func(bad *Row) error { return bad }
	return im.Catalogue.Atomically(im.context(ctx), func(ctx context.Context) (err error) {
		if rows == nil {
			if rows, err = open(); err != nil {
				return err
			}
		}
		im.Counts = Counts{}
		err = im.Import(ctx, rows)
		rows = nil
		return err
	})
}

// context returns the context of an import: a process that can open the database may write.
func (im *Importer) context(ctx context.Context) context.Context {
	return im.Catalogue.WithLoaders(model.WithPrincipal(ctx, model.Principal{Subject: "import"}))
}

// batch is what is imported together, and what ended the reading, if anything did.
type batch struct {
	rows []*Row
	err  error
}

// readBatches reads rows in the background: one batch is read while another is
// stored, and an import whose input does not come can still be stopped.
func readBatches(ctx context.Context, rows *Reader) <-chan batch {
	out := make(chan batch)
	go func() {
		for {
			var b batch
			for size := 0; b.err == nil && len(b.rows) < BatchRows && size < batchBytes; {
				var r *Row
				if r, b.err = rows.Next(); b.err == nil {
					b.rows = append(b.rows, r)
					size += r.size
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
func (im *Importer) store(ctx context.Context, rows []*Row) error {
	var forms []model.Form
	var readable []*Row
	for _, r := range rows {
		if r.Problem == "" {
			forms = append(forms, r.form)
			readable = append(readable, r)
		}
	}
	result, err := im.Catalogue.ImportBooks(ctx, forms)
	if err != nil {
		return err
	}
	for _, rejected := range result.Rejected {
		readable[rejected.Index].Problem = rejected.Reason()
	}
	im.Created += result.Created
	im.Updated += result.Updated
	im.Unchanged += result.Unchanged
	for _, r := range rows {
		if r.Problem != "" {
			im.Rejected++
			if err := im.Reject(r); err != nil {
				return err
			}
		}
	}
	if im.Progress != nil {
		im.Progress.step(im.Rows())
	}
	return nil
}
