package progress

import (
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
		read := int64(0)
		p := New(&out, false, "import", 1000, func() int64 { return read })
		for rows := range 4 {
			read += 200
			time.Sleep(2 * time.Second)
			p.Step(100 * (rows + 1))
		}
		p.Done()
		if diff := cmp.Diff("import: 300 rows, 50 a second, 60 %, 4s left\n", out.String()); diff != "" {
			t.Error(diff)
		}
	})
}
