// Package textline reads lines that end with LF, CRLF or CR, which a file may mix, and tables of pairs.
package textline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// MaxBytes is the maximum number of bytes of a line. The longest valid description takes 240 kB in JSON.
const MaxBytes = 1 << 20

// ByteOrderMark may precede a text in UTF-8.
const ByteOrderMark = "\uFEFF"

// Reader reads lines, first the unread ones. A line ends with LF, CRLF or CR; a file may mix them. The zero value has
// no lines.
type Reader struct {
	in      *bufio.Reader
	number  int    // lines read so far
	putBack []Line // a stack: Next returns the last one first
	unended bool   // the last line has no line end
}

// Line is a line with its line end.
type Line struct {
	Text    []byte
	Number  int  // from 1
	TooLong bool // Text has only the first MaxBytes bytes
}

// NewReader returns a reader behind the byte order mark.
func NewReader(in io.Reader) *Reader { return &Reader{in: WithoutMark(in)} }

// WithoutMark returns a reader of a text behind its byte order mark.
func WithoutMark(in io.Reader) *bufio.Reader {
	buffered := bufio.NewReaderSize(in, 64<<10)
	if mark, _ := buffered.Peek(len(ByteOrderMark)); string(mark) == ByteOrderMark {
		buffered.Discard(len(ByteOrderMark))
	}
	return buffered
}

// Next returns the next line, or io.EOF.
func (l *Reader) Next() (out Line, err error) {
	if last := len(l.putBack) - 1; last >= 0 {
		out, l.putBack = l.putBack[last], l.putBack[:last]
		return out, nil
	}
	if l.in == nil {
		return out, io.EOF
	}
	l.number++
	out.Number = l.number
	for ended := false; !ended; {
		if _, err := l.in.Peek(1); err != nil {
			if errors.Is(err, io.EOF) && len(out.Text) > 0 {
				l.unended = true
				return out, nil
			}
			return out, err
		}
		part, _ := l.in.Peek(l.in.Buffered())
		if i := bytes.IndexAny(part, "\r\n"); i >= 0 {
			ended, part = true, part[:i+1]
		}
		out.Text = append(out.Text, part...)
		l.in.Discard(len(part))
		if bytes.HasSuffix(out.Text, []byte("\r")) {
			if next, _ := l.in.Peek(1); string(next) == "\n" {
				out.Text = append(out.Text, '\n')
				l.in.Discard(1)
			}
		}
		if len(out.Text) > MaxBytes {
			out.Text, out.TooLong = out.Text[:MaxBytes], true
		}
	}
	return out, nil
}

// Unread makes Next return lines again. It does not copy the lines that wait from earlier calls.
func (l *Reader) Unread(lines []Line) {
	for _, line := range slices.Backward(lines) {
		l.putBack = append(l.putBack, line)
	}
}

// NextFull returns the next line that is not empty.
func (l *Reader) NextFull() (Line, error) {
	for {
		out, err := l.Next()
		if err != nil || len(out.Content()) > 0 {
			return out, err
		}
	}
}

// Content returns the line without its line end.
func (l Line) Content() []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(l.Text, []byte("\n")), []byte("\r"))
}

// EndsInCR reports whether the line end is a lone CR.
func (l Line) EndsInCR() bool { return bytes.HasSuffix(l.Text, []byte("\r")) }

// IsUnended reports whether the line that was read last ends the text without a line end.
func (l *Reader) IsUnended() bool { return l.unended && len(l.putBack) == 0 }

// Pairs returns the table of a text with pairs key:value between white space.
func Pairs(text string) map[string]string {
	table := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		key, value, _ := strings.Cut(pair, ":")
		table[key] = value
	}
	return table
}
