package graphqlhttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"library-catalogue/edge/admission"
)

// TestRefusedBodiesTakeNoMemory reads large bodies that fail after their first
// bytes: no buffer is made for the rest.
func TestRefusedBodiesTakeNoMemory(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	failure := errors.New("no room")
	for _, length := range []int64{mebibyte, -1} {
		r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("0", admission.SmallBody)), iotest.ErrReader(failure)))
		r.ContentLength = length
		var buffer bytes.Buffer
		err := Limits{Body: mebibyte}.readBody(&buffer, httptest.NewRecorder(), r)
		if !errors.Is(err, failure) || buffer.Cap() > 4*admission.SmallBody {
			t.Errorf("length %d: %v, and %d bytes are held", length, err, buffer.Cap())
		}
	}
}
