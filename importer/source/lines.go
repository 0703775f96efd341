package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

const (
	// maxRow is the maximum bytes of a row. The longest valid description takes 240 kB in JSON.
	maxRow = 1 << 20
	// maxColumns is the maximum number of columns, as in Excel. Each one is compared with the names of all fields.
	maxColumns = 16_384
)

var errTooLong = errors.New("the row is longer than 1 MiB")

// lineReader reads lines, first those that were unread. A line ends with LF, CRLF or CR; a file may mix them.
// csvReader joins lines again if a lone CR is a part of a cell.
type lineReader struct {
	in      *bufio.Reader
	number  int    // lines read so far
	putBack []line // a stack: next returns the last one first
	unended bool   // the last line has no line end
}

// line is a line with its line end.
type line struct {
	text    []byte
	number  int
	tooLong bool // text has only the first maxRow bytes
}

func newLineReader(in io.Reader) *lineReader {
	l := &lineReader{in: bufio.NewReaderSize(in, 64<<10)}
	if mark, _ := l.in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		l.in.Discard(len(byteOrderMark))
	}
	return l
}

// next returns the next line, or io.EOF.
func (l *lineReader) next() (out line, err error) {
	if last := len(l.putBack) - 1; last >= 0 {
		out, l.putBack = l.putBack[last], l.putBack[:last]
		return out, nil
	}
	l.number++
	out.number = l.number
	for ended := false; !ended; {
		if _, err := l.in.Peek(1); err != nil {
			if errors.Is(err, io.EOF) && len(out.text) > 0 {
				l.unended = true
				return out, nil
			}
			return out, err
		}
		part, _ := l.in.Peek(l.in.Buffered())
		if i := bytes.IndexAny(part, "\r\n"); i >= 0 {
			ended, part = true, part[:i+1]
		}
		out.text = append(out.text, part...)
		l.in.Discard(len(part))
		if bytes.HasSuffix(out.text, []byte("\r")) {
			if next, _ := l.in.Peek(1); string(next) == "\n" {
				out.text = append(out.text, '\n')
				l.in.Discard(1)
			}
		}
		if len(out.text) > maxRow {
			out.text, out.tooLong = out.text[:maxRow], true
		}
	}
	return out, nil
}

// unread makes next return lines again. It does not copy the lines that wait from earlier calls.
func (l *lineReader) unread(lines []line) {
	for _, line := range slices.Backward(lines) {
		l.putBack = append(l.putBack, line)
	}
}

// nextFull returns the next line that is not empty.
func (l *lineReader) nextFull() (line, error) {
	for {
		out, err := l.next()
		if err != nil || len(out.content()) > 0 {
			return out, err
		}
	}
}

// content returns the line without its line end.
func (l line) content() []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
}

// endsInCR reports whether the line end is a lone CR.
func (l line) endsInCR() bool { return bytes.HasSuffix(l.text, []byte("\r")) }
