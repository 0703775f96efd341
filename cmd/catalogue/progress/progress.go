// Package progress shows the progress of an import or a copy on a terminal or in a log.
package progress

import (
	"fmt"
	"io"
	"time"
)

// Time between two lines, on a terminal and elsewhere.
const (
	terminalInterval = 100 * time.Millisecond
	logInterval      = 5 * time.Second
)

// Progress shows the progress of a task in lines. On a terminal each line replaces the one before.
type Progress struct {
	out      io.Writer
	terminal bool
	task     string
	size     int64
	read     func() int64
	start    time.Time
	shown    time.Time // when the last line was written
}

// New returns the progress of a task, written to out. read returns how much of size is done.
func New(out io.Writer, terminal bool, task string, size int64, read func() int64) *Progress {
	return &Progress{out: out, terminal: terminal, task: task, size: size, read: read, start: time.Now(),
		shown: time.Now()}
}

// clearLine moves to the start of a terminal's line and clears it.
const clearLine = "\r\x1b[K"

// Step shows the number of rows done.
func (p *Progress) Step(rows int) {
	interval, before, after := logInterval, "", "\n"
	if p.terminal {
		interval, before, after = terminalInterval, clearLine, ""
	}
	if time.Since(p.shown) < interval {
		return
	}
	p.shown = time.Now()
	took := time.Since(p.start)
	left := ""
	if read, size := p.read(), p.size; read > 0 && size > 0 {
		rest := time.Duration(float64(took) * float64(size-read) / float64(read))
		left = fmt.Sprintf(", %d %%, %v left", 100*read/size, rest.Round(time.Second))
	}
	fmt.Fprintf(p.out, "%s%s: %d rows, %.0f a second%s%s", before, p.task, rows, float64(rows)/took.Seconds(), left,
		after)
}

// Done removes the line from a terminal.
func (p *Progress) Done() {
	if p.terminal {
		_, _ = io.WriteString(p.out, clearLine)
	}
}
