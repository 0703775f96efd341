package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxRow is the maximum bytes of a row. The longest valid description takes 240 kB in JSON.
const maxRow = 1 << 20

var errTooLong = errors.New("the row is longer than 1 MiB")

// lineReader reads lines, first those in putBack.
type lineReader struct {
	in      *bufio.Reader
	end     byte // line end: \n, which may follow \r, or \r
	number  int  // lines read so far
	putBack []line
}

// line is a line with its line end.
type line struct {
	text    []byte
	number  int
	tooLong bool // text has only the first maxRow bytes
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
