package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// ErrDiffers means that a finished copy differs from its source.
var ErrDiffers = errors.New("the copy differs from the source")

// Copy copies a snapshot of one catalogue into an empty one, or goes on with a copy that was interrupted. Each
// batch of rows is one transaction. At the end it compares all rows of both, by their number and SHA-256. It
// calls progress after each batch with the number of rows so far, and how many of them were stored before.
//
// It returns db.ErrNotEmpty, db.ErrTargetChanged or db.ErrSourceChanged if the target holds anything else, and
// ErrDiffers.
func Copy(ctx context.Context, from, to *db.Store, progress func(rows, before int)) (manifest Manifest, err error) {
	err = from.ReadTransaction(ctx, func(reading context.Context, snapshot *db.Snapshot) error {
		revision, err := snapshot.Revision(reading)
		if err != nil {
			return err
		}
		c := &copier{to: to, progress: progress}
		if c.steps, err = to.BeginCopy(ctx, revision); err != nil {
			return err
		}
		copied := Manifest{}
		for _, t := range tables {
			if copied[t.name()], err = t.copy(ctx, snapshot, c); err != nil {
				return err
			}
		}
		manifest = copied
		return c.steps.Step(ctx, func(ctx context.Context) error {
			stored, err := writeTar(ctx, to.Now(ctx), io.Discard, newHeader())
			if err != nil {
				return err
			}
			if err := copied.compare(stored); err != nil {
				return fmt.Errorf("%w: there are %w", ErrDiffers, err)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return manifest, nil
}

// copier is a copy that is under way.
type copier struct {
	to           *db.Store
	steps        *db.Copying
	progress     func(rows, before int)
	rows, before int
}

func (t tableOf[T]) copy(ctx context.Context, snapshot *db.Snapshot, c *copier) (content Content, err error) {
	stored, err := t.rows(c.to.Now(ctx)).Page(ctx, &model.Page{Order: model.Order{IDDescending: true}, Limit: 1})
	if err != nil {
		return content, err
	}
	var last model.ID
	if len(stored) > 0 {
		last = t.id(stored[0])
	}
	sum := sha256.New()
	var line []byte
	err = t.rows(snapshot).Stream(ctx, &model.Page{}, batchRows, func(_ context.Context, rows []*T) error {
		missing := len(rows)
		for i, row := range rows {
			if line, err = t.line(line[:0], t.fields, row); err != nil {
				return err
			}
			sum.Write(line)
			if t.id(row) <= last {
				missing = len(rows) - 1 - i
			}
		}
		content.Rows += len(rows)
		c.rows += len(rows)
		c.before += len(rows) - missing
		if missing > 0 {
			err := c.steps.Step(ctx, func(ctx context.Context) error {
				return t.table(c.to).Restore(ctx, t.fields, rows[len(rows)-missing:])
			})
			if err != nil {
				return err
			}
		}
		c.progress(c.rows, c.before)
		return nil
	})
	content.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return content, err
}
