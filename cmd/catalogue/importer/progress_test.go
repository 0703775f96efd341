package importer

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestProgress: without a terminal there is a line now and then.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		source := TextSource(strings.Repeat("x", 1000))
		p := NewProgress(&out, false, source)
		in := source.reader()
		for rows := range 4 {
			io.CopyN(io.Discard, in, 200)
			time.Sleep(2 * time.Second)
			p.step(100 * (rows + 1))
		}
		p.Done()
		if diff := cmp.Diff("import: 300 rows, 50 a second, 60 %, 4s left\n", out.String()); diff != "" {
			t.Error(diff)
		}
	})
}
