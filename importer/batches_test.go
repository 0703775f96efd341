package importer

import (
	"context"
	"errors"
	"testing"

	"library-catalogue/graph/model"
)

// TestPanickingReader gets the error of a reader that panics in a goroutine of its own.
func TestPanickingReader(t *testing.T) {
	t.Parallel()
	batches, read := readBatches(t.Context(), nil, 1)
	select {
	case b := <-batches:
		t.Errorf("got %+v", b)
	case err := <-read:
		if !model.IsCode(err, model.Internal) {
			t.Errorf("%v, want an Internal error", err)
		}
	}
}

// TestStoppedImportBeginsNoBatch has no catalogue that could take one.
func TestStoppedImportBeginsNoBatch(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := (&Importer{}).store(ctx, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("the batch ended with %v", err)
	}
}
