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

// Copy copies a snapshot of one catalogue into an empty one, or goes on with a copy that was interrupted. It
// stores rows in steps of one transaction each. At the end it compares all rows of both, by their number and
// SHA-256. It calls progress after each step with the number of rows so far, and how many were stored before.
//
// It returns db.ErrNotEmpty, db.ErrTargetChanged or db.ErrSourceChanged if the target holds anything else, and
// ErrDiffers.
func Copy(ctx context.Context, from, to *db.Store, progress func(rows, before int)) (manifest Manifest, err error) {
	err = from.ReadTransaction(ctx, model.NoReplica, func(reading context.Context, snapshot *db.Snapshot) error {
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
			stored, err := writeTar(ctx, to.Unchecked(ctx), io.Discard, newHeader())
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

// A step of a copy stores so many rows, or fewer that are so long. A small step is slow on SQLite, because each
// commit writes most pages of the indexes.
const (
	stepRows = 5000
	stepSize = 16 << 20 // bytes of the rows' lines
)

// copier is a copy that is under way.
type copier struct {
	to           *db.Store
	steps        *db.Copying
	progress     func(rows, before int)
	rows, before int
}

func (t tableOf[T]) copy(ctx context.Context, snapshot *db.Snapshot, c *copier) (content Content, err error) {
	stored, err := t.rows(c.to.Unchecked(ctx)).Page(ctx, &model.Page{Order: model.Order{IDDescending: true}, Limit: 1})
	if err != nil {
		return content, err
	}
	var last model.ID
	if len(stored) > 0 {
		last = t.id(stored[0])
	}
	sum := sha256.New()
	var missing []*T
	var size int
	flush := func() error {
		if len(missing) > 0 {
			err := c.steps.Step(ctx, func(ctx context.Context) error {
				return t.table(c.to).Restore(ctx, t.fields, missing)
			})
			if err != nil {
				return err
			}
		}
		missing, size = nil, 0
		c.progress(c.rows, c.before)
		return nil
	}
	var line []byte
	err = t.rows(snapshot).Stream(ctx, &model.Page{}, batchRows, func(_ context.Context, rows []*T) error {
		for _, row := range rows {
			if line, err = t.line(line[:0], t.fields, row); err != nil {
				return err
			}
			sum.Write(line)
			if t.id(row) > last {
				missing = append(missing, row)
				size += len(line)
			} else {
				c.before++
			}
		}
		content.Rows += len(rows)
		c.rows += len(rows)
		if len(missing) == 0 || len(missing) >= stepRows || size >= stepSize {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	content.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return content, err
}
