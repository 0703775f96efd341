package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

const (
	// batchRows is how many rows are imported in one transaction, batchBytes how
	// many bytes of them are held in memory.
	batchRows  = 500
	batchBytes = 4 << 20
	// shownRejects is how many bad rows are shown.
	shownRejects = 5
)

// importer puts the rows of a file into a catalogue.
type importer struct {
	catalogue *resolvers.Resolver
	progress  *progress
	reject    func(*row) error // takes a bad row; its error ends the import
	counts
}

// counts say what became of rows.
type counts struct{ created, updated, unchanged, rejected int }

func (c counts) rows() int { return c.created + c.updated + c.unchanged + c.rejected }

func (c counts) String() string {
	return fmt.Sprintf("%d rows: %d created, %d updated, %d unchanged, %d rejected", c.rows(), c.created, c.updated, c.unchanged, c.rejected)
}

// run imports the rows, each batch in a transaction of its own.
func (im *importer) run(ctx context.Context, rows *rowReader) error {
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
			if b.err == io.EOF {
				return nil
			}
			if b.err != nil {
				return b.err
			}
		}
	}
}

// runStrict imports all rows in one transaction, and nothing where one is bad:
// the error is that *row. Where the database wants the transaction to be run
// again, the rows are read again by open.
func (im *importer) runStrict(ctx context.Context, rows *rowReader, open func() (*rowReader, error)) error {
	im.reject = func(bad *row) error { return bad }
	return im.catalogue.Atomically(im.context(ctx), func(ctx context.Context) (err error) {
		if rows == nil {
			if rows, err = open(); err != nil {
				return err
			}
		}
		im.counts = counts{}
		err = im.run(ctx, rows)
		rows = nil
		return err
	})
}

// context is that of an import's requests: whoever can open the database may write.
func (im *importer) context(ctx context.Context) context.Context {
	return im.catalogue.WithLoaders(model.WithPrincipal(ctx, model.Principal{Subject: "import"}))
}

// batch is what is imported together, and what ended the reading, if anything did.
type batch struct {
	rows []*row
	err  error
}

// readBatches reads rows in the background: one batch while another is stored,
// and so that input which does not come keeps nobody from stopping.
func readBatches(ctx context.Context, rows *rowReader) <-chan batch {
	out := make(chan batch)
	go func() {
		for {
			var b batch
			for size := 0; b.err == nil && len(b.rows) < batchRows && size < batchBytes; {
				var r *row
				if r, b.err = rows.next(); b.err == nil {
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
func (im *importer) store(ctx context.Context, rows []*row) error {
	var forms []model.Form
	var readable []*row
	for _, r := range rows {
		if r.problem == "" {
			forms = append(forms, r.form)
			readable = append(readable, r)
		}
	}
	result, err := im.catalogue.ImportBooks(ctx, forms)
	if err != nil {
		return err
	}
	for _, rejected := range result.Rejected {
		readable[rejected.Index].problem = rejected.Reason()
	}
	im.created += result.Created
	im.updated += result.Updated
	im.unchanged += result.Unchanged
	for _, r := range rows {
		if r.problem != "" {
			im.rejected++
			if err := im.reject(r); err != nil {
				return err
			}
		}
	}
	im.progress.step(im.rows())
	return nil
}

// rejects takes bad rows: into a CSV file where there is one, else the first few
// to be shown.
type rejects struct {
	path  string
	file  *os.File
	out   *csv.Writer
	shown []*row
	count int
}

// create makes the file, with the header of the file that is imported.
func (r *rejects) create(path, imported string, header []string) (err error) {
	if same(path, imported) {
		return fmt.Errorf("--rejects %s is the file to import: name another", path)
	}
	r.path = path
	if r.file, err = os.Create(path); err != nil {
		return err
	}
	r.out = csv.NewWriter(r.file)
	return r.out.Write(append([]string{"row", "reason"}, header...))
}

func same(a, b string) bool {
	aInfo, aErr := os.Stat(a)
	bInfo, bErr := os.Stat(b)
	return aErr == nil && bErr == nil && os.SameFile(aInfo, bInfo)
}

func (r *rejects) add(bad *row) error {
	r.count++
	if r.out != nil {
		return r.out.Write(append([]string{strconv.Itoa(bad.number), bad.problem}, bad.cells...))
	}
	if len(r.shown) < shownRejects {
		r.shown = append(r.shown, bad)
	}
	return nil
}

// close ends the file, or shows the bad rows on w.
func (r *rejects) close(w io.Writer) error {
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
