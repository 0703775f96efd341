package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestProgress: a terminal has one line, which ends cleared; elsewhere there is a line now and then.
func TestProgress(t *testing.T) {
	for terminal, want := range map[bool]string{
		false: "import: 300 rows, 50 a second, 60 %, 4s left\n",
		true: "\r\x1b[Kimport: 100 rows, 50 a second, 20 %, 8s left\r\x1b[Kimport: 200 rows, 50 a second, 40 %, 6s left" +
			"\r\x1b[Kimport: 300 rows, 50 a second, 60 %, 4s left\r\x1b[Kimport: 400 rows, 50 a second, 80 %, 2s left\r\x1b[K",
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			read := int64(0)
			p := New(&out, terminal, "import", 1000, func() int64 { return read })
			for rows := range 4 {
				read += 200
				time.Sleep(2 * time.Second)
				p.Step(100 * (rows + 1))
				p.Step(100 * (rows + 1)) // at once
			}
			p.Done()
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("terminal %v: %s", terminal, diff)
			}
		})
	}
}
