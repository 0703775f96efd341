package archive

import (
	"context"
	"errors"
	"io"

	"library-catalogue/db"
)

// Copy copies a snapshot of one catalogue into another, which must be empty. It has the guarantees of Restore.
func Copy(ctx context.Context, from, to *db.Store) (Manifest, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := from.ReadTransaction(ctx, func(ctx context.Context, snapshot *db.Snapshot) error {
			_, err := writeTar(ctx, snapshot, w, newHeader())
			return err
		})
		w.CloseWithError(err)
		written <- err
	}()
	manifest, err := restoreTar(ctx, to, r)
	if err != nil {
		cancel()
		r.CloseWithError(err)
	}
	if failed := <-written; failed != nil && errors.Is(err, failed) {
		err = failed // without the reader's wrapping
	}
	return manifest, err
}
