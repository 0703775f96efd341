package source

import (
	"io"
	"testing"

	"library-catalogue/graph/model"
)

// TestPanickingPipe gets an error from a pipe whose reader panics in a goroutine of its own.
func TestPanickingPipe(t *testing.T) {
	t.Parallel()
	var pipe io.Reader = readerFunc(func([]byte) (int, error) { panic("on purpose") })
	if _, err := Open(t.Context(), "-", pipe); !model.IsCode(err, model.Internal) {
		t.Errorf("%v, want an Internal error", err)
	}
}
