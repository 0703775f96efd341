// Package importer imports files of books: CSV of any delimiter and encoding, JSON, spreadsheets, MARC and citations,
// also compressed.
//
// An import has these steps:
//
//  1. Package source splits the bytes into records.
//  2. Survey reads the file once (survey.go lists its steps). It finds the column of each field (columns.go), the
//     notation of each column (readings.go) and duplicate rows (duplicates.go).
//  3. Reader converts records to rows (reader.go).
//  4. Importer stores the rows (importer.go).
//
// Look-ups can complete the rows of a list before that, as a file of rejected rows (lookups.go).
package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"library-catalogue/graph/model"
	"library-catalogue/task"
)

const (
	// BatchRows is the default number of rows in one transaction.
	BatchRows = 500
	// batchBytes limits the memory of a batch of long rows.
	batchBytes = 4 << 20
)

// ImportBooks imports rows.
type ImportBooks = func(context.Context, []model.Form) (*model.ImportResult, error)

// Catalogue stores imported books. PreviewImport returns an ImportBooks that stores nothing, but sees the rows of
// its earlier calls.
type Catalogue interface {
	ImportBooks(context.Context, []model.Form) (*model.ImportResult, error)
	PreviewImport() ImportBooks
	Atomically(context.Context, func(context.Context) error) error
}

// AsOperator returns a context that may write. It is for a process that opens the database itself.
func AsOperator(ctx context.Context) context.Context {
	return model.WithCaller(ctx, model.Caller{Subject: "import"})
}

// Importer stores the rows of a file in a catalogue, as the caller of the context, and counts them.
type Importer struct {
	Catalogue Catalogue
	DryRun    bool         // store nothing
	Strict    bool         // one transaction; a bad row is the error
	Progress  func(Counts) // called after each batch, unless nil
	// called for each changed book of a dry run, unless nil
	Change func(*Row, model.BookChange)
	// called for each bad row; an error ends the import
	Reject func(*Row) error
	// waits for a permit for a batch; nil: no wait
	Admit     func(ctx context.Context, rows int) (release func(), err error)
	BatchRows int // rows in one transaction; 0 means BatchRows
	Counts

	importBooks ImportBooks // stores rows, or previews that
}

// Counts are the numbers of rows by result. A skipped row is the duplicate of another row of the file. Namesakes are
// the books that a dry run would create while their name is stored with another author.
type Counts struct {
	Created   int `json:"created"`
	Namesakes int `json:"namesakes"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Rejected  int `json:"rejected"`
	Skipped   int `json:"skipped"`
}

// Rows returns the number of all rows.
func (c Counts) Rows() int { return c.Created + c.Updated + c.Unchanged + c.Rejected + c.Skipped }

func (c Counts) String() string {
	text := fmt.Sprintf("%s: %d created, %d updated, %d unchanged, %d rejected", CountRows(c.Rows()), c.Created,
		c.Updated, c.Unchanged, c.Rejected)
	if c.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", c.Skipped)
	}
	if c.Namesakes > 0 {
		text += fmt.Sprintf("; name stored with another author: %d of the created", c.Namesakes)
	}
	return text
}

// CountRows returns a number of rows in words.
func CountRows(n int) model.Message {
	if n == 1 {
		return model.Messagef("1 row")
	}
	return model.Messagef("%d rows", n)
}

// Outcome is how much of a file an ended import has stored.
type Outcome int

// The outcomes.
const (
	NothingStored Outcome = iota // after a dry run, or a strict import that failed
	SomeStored                   // the counted rows
	AllStored
	Unconfirmed // all rows or none: the database did not confirm the commit of a strict import
)

// Outcome returns the outcome of Import, which returned err.
func (im *Importer) Outcome(err error) Outcome {
	switch {
	case im.DryRun:
		return NothingStored
	case err == nil:
		return AllStored
	case !im.Strict:
		return SomeStored
	case model.IsInDoubt(err):
		return Unconfirmed
	}
	return NothingStored
}

// Import stores the rows of a file, with one transaction for each batch, or for all if it is strict. If the database
// retries a transaction of all rows, they are read again. The changes are one change set.
func (im *Importer) Import(ctx context.Context, file *File) error {
	ctx = model.WithChangeSet(ctx)
	im.importBooks = im.Catalogue.ImportBooks
	if im.DryRun {
		im.importBooks = im.Catalogue.PreviewImport()
	}
	if !im.Strict || im.DryRun {
		return im.importRows(ctx, file)
	}
	im.Reject = func(bad *Row) error { return bad }
	return im.Catalogue.Atomically(ctx, func(ctx context.Context) error {
		im.Counts = Counts{}
		return im.importRows(ctx, file)
	})
}

func (im *Importer) importRows(ctx context.Context, file *File) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := file.Open(ctx)
	if err != nil {
		return err
	}
	batches, read := readBatches(ctx, rows, cmp.Or(im.BatchRows, BatchRows))
	defer func() { // before the caller closes the file
		stop()
		<-read
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-read: // before the last batch
			return err
		case b := <-batches:
			if err := im.store(ctx, file, b.rows); err != nil {
				return err
			}
			switch isEnd := errors.Is(b.err, io.EOF); {
			case isEnd && im.Rows() != file.Rows:
				return model.Messagef("the file changed during the import: it had %s, and now has %d",
					CountRows(file.Rows),
					im.Rows())
			case isEnd:
				return nil
			case b.err != nil:
				return b.err
			}
		}
	}
}

// batch is a batch of rows, and the error that ended reading, if any.
type batch struct {
	rows []*Row
	err  error
}

// readBatches reads rows in the background, so that one batch is read while another is stored. read gets an error
// if it panics.
func readBatches(ctx context.Context, rows *Reader, count int) (batches <-chan batch, read <-chan error) {
	out := make(chan batch)
	return out, task.Go(ctx, func() error {
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
				return ctx.Err()
			}
			if b.err != nil {
				return b.err
			}
		}
	})
}

func (im *Importer) store(ctx context.Context, file *File, rows []*Row) error {
	if err := ctx.Err(); err != nil { // a stopped import begins no batch
		return err
	}
	var forms []model.Form
	var readable []*Row
	for _, r := range rows {
		if !r.Skipped && len(r.Problems) == 0 {
			forms = append(forms, r.form)
			readable = append(readable, r)
		}
	}
	if im.Admit != nil {
		release, err := im.Admit(ctx, len(forms))
		if err != nil {
			return err
		}
		defer release()
	}
	result, err := im.importBooks(ctx, forms)
	if err != nil {
		return err
	}
	if q := file.categoryQuestion(result, im.DryRun); q != nil && im.Rows() == 0 {
		return Questions{q}
	}
	for _, change := range result.Changes {
		if im.Change != nil {
			im.Change(readable[change.Index], change)
		}
	}
	for _, rejected := range result.Rejected {
		file.reject(readable[rejected.Index], rejected.Problems)
	}
	return im.count(rows, result)
}

// count counts the rows of a batch, and passes on the bad ones.
func (im *Importer) count(rows []*Row, result *model.ImportResult) error {
	im.Created += result.Created
	im.Namesakes += result.Namesakes
	im.Updated += result.Updated
	im.Unchanged += result.Unchanged
	for _, r := range rows {
		switch {
		case r.Skipped:
			im.Skipped++
		case len(r.Problems) > 0:
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
