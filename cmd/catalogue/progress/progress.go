// Package progress shows the progress of an import or a copy on a terminal or in a log.
package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressEvery is the time between two lines without a terminal.
const progressEvery = 5 * time.Second

// Progress shows the progress of a task: a bar on a terminal, lines elsewhere.
type Progress struct {
	out   io.Writer
	task  string
	size  int64
	read  func() int64
	bar   *progressbar.ProgressBar // nil without a terminal
	start time.Time
	shown time.Time // when the last line was written
}

// New returns the progress of a task, written to out. read returns how much of size is done.
func New(out io.Writer, terminal bool, task string, size int64, read func() int64) *Progress {
	p := &Progress{out: out, task: task, size: size, read: read, start: time.Now(), shown: time.Now()}
	if terminal {
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(task),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// Step shows the number of rows done.
func (p *Progress) Step(rows int) {
	read := p.read()
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%s: %d rows", p.task, rows))
		_ = p.bar.Set64(read)
		return
	}
	if time.Since(p.shown) < progressEvery {
		return
	}
	p.shown = time.Now()
	took := time.Since(p.start)
	left := ""
	if size := p.size; read > 0 && size > 0 {
		rest := time.Duration(float64(took) * float64(size-read) / float64(read))
		left = fmt.Sprintf(", %d %%, %v left", 100*read/size, rest.Round(time.Second))
	}
	fmt.Fprintf(p.out, "%s: %d rows, %.0f a second%s\n", p.task, rows, float64(rows)/took.Seconds(), left)
}

// Done removes the bar.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
