package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressEvery is how often an import says how far it is where there is no
// terminal to draw on.
const progressEvery = 5 * time.Second

// progress says how far an import is: by a bar on a terminal, by lines elsewhere.
type progress struct {
	out   io.Writer
	size  int64 // of the file in bytes; -1 where nobody knows
	read  atomic.Int64
	bar   *progressbar.ProgressBar // nil without a terminal
	start time.Time
	said  time.Time
}

func newProgress(out io.Writer, size int64) *progress {
	p := &progress{out: out, size: size, start: time.Now(), said: time.Now()}
	if isTerminal(out) {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription("import"),
			progressbar.OptionShowBytes(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// count counts what is read of in, from its start.
func (p *progress) count(in io.Reader) io.Reader {
	p.read.Store(0)
	return io.TeeReader(in, p)
}

// Write counts.
func (p *progress) Write(b []byte) (int, error) {
	p.read.Add(int64(len(b)))
	return len(b), nil
}

// step is called when so many rows are done.
func (p *progress) step(rows int) {
	read := p.read.Load()
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("import: %d rows", rows))
		_ = p.bar.Set64(read)
		return
	}
	if time.Since(p.said) < progressEvery {
		return
	}
	p.said = time.Now()
	took := time.Since(p.start)
	left := ""
	if p.size > 0 && read > 0 {
		rest := time.Duration(float64(took) * float64(p.size-read) / float64(read))
		left = fmt.Sprintf(", %d %%, %v left", 100*read/p.size, rest.Round(time.Second))
	}
	fmt.Fprintf(p.out, "import: %d rows, %.0f a second%s\n", rows, float64(rows)/took.Seconds(), left)
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
