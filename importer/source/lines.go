package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxRow is how long a row may be, in bytes. The longest valid description,
// 20,000 characters, takes at most 240 kB in JSON.
const maxRow = 1 << 20

var errTooLong = errors.New("the row is longer than 1 MiB")

// lineReader reads the lines of a file, and lines that were put back.
type lineReader struct {
	in      *bufio.Reader
	end     byte // of a line: \n, which may follow an \r, or \r
	number  int  // lines read so far
	putBack []line
}

// line is a line with its end.
type line struct {
	text    []byte
	number  int
	tooLong bool // text is only its first maxRow bytes
}

func newLineReader(in io.Reader, end byte) *lineReader {
	l := &lineReader{in: bufio.NewReaderSize(in, 64<<10), end: end}
	if mark, _ := l.in.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		l.in.Discard(len(byteOrderMark))
	}
	return l
}

// next returns the next line, or io.EOF.
func (l *lineReader) next() (out line, err error) {
	if len(l.putBack) > 0 {
		out, l.putBack = l.putBack[0], l.putBack[1:]
		return out, nil
	}
	l.number++
	out.number = l.number
	for {
		part, err := l.in.ReadSlice(l.end)
		out.text = append(out.text, part...)
		if len(out.text) > maxRow {
			out.text, out.tooLong = out.text[:maxRow], true
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(out.text) > 0:
			return out, nil
		}
		return out, err
	}
}

// nextFull is next without empty lines.
func (l *lineReader) nextFull() (line, error) {
	for {
		out, err := l.next()
		if err != nil || len(out.content()) > 0 {
			return out, err
		}
	}
}

// content is the line without its end.
func (l line) content() []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
}
