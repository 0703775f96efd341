package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxRow is how long a row may be, in bytes.
const maxRow = 1 << 20

var (
	errLong   = errors.New("the row is longer than 1 MiB")
	errQuotes = errors.New("the quotes are wrong: a cell that begins with one ends with one, and one inside is written twice")
)

// lines gives the lines of a file, and what it gave again.
type lines struct {
	in     *bufio.Reader
	number int // of lines read
	again  []line
}

// line is a line with its end.
type line struct {
	text   []byte
	number int
	long   bool // text is only its first maxRow bytes
}

func newLines(in io.Reader) *lines {
	l := &lines{in: bufio.NewReaderSize(in, 64<<10)}
	if mark, _ := l.in.Peek(3); string(mark) == "\uFEFF" { // UTF-8's byte order mark
		l.in.Discard(3)
	}
	return l
}

func (l *lines) next() (out line, err error) {
	if len(l.again) > 0 {
		out, l.again = l.again[0], l.again[1:]
		return out, nil
	}
	l.number++
	out.number = l.number
	for {
		part, err := l.in.ReadSlice('\n')
		out.text = append(out.text, part...)
		if len(out.text) > maxRow {
			out.text, out.long = out.text[:maxRow], true
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(out.text) > 0:
			return out, nil
		}
		return out, err
	}
}

// content is the line without its end.
func (l line) content() []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(l.text, []byte("\n")), []byte("\r"))
}

// record reads the cells of the CSV record (RFC 4180) that begins with first.
// They keep their bytes, line ends in them too, which encoding/csv changes. A
// quote in a cell that does not begin with one is text.
//
// Where the record is malformed, only its first line is given up: the lines
// after it are read again, as records of their own, so that a quote that nobody
// closed costs no good row.
func (l *lines) record(first line) (cells []string, size int, err error) {
	rest := first.text
	size = len(rest)
	var more []line // after the first
	malformed := func(err error) ([]string, int, error) {
		l.again = append(more, l.again...)
		return []string{string(first.content())}, len(first.text), err
	}
	if first.long {
		return malformed(errLong)
	}
	for {
		if !bytes.HasPrefix(rest, []byte{'"'}) {
			cell, after, found := bytes.Cut(rest, []byte{','})
			if !found {
				return append(cells, string(line{text: rest}.content())), size, nil
			}
			cells, rest = append(cells, string(cell)), after
			continue
		}
		rest = rest[1:]
		var cell []byte
		for {
			before, after, found := bytes.Cut(rest, []byte{'"'})
			cell = append(cell, before...)
			if !found {
				next, err := l.next()
				if err == io.EOF {
					return malformed(errQuotes)
				}
				if err != nil {
					return nil, 0, err
				}
				more = append(more, next)
				rest = next.text
				if size += len(rest); size > maxRow || next.long {
					return malformed(errLong)
				}
				continue
			}
			rest = after
			if !bytes.HasPrefix(rest, []byte{'"'}) {
				break
			}
			cell, rest = append(cell, '"'), rest[1:]
		}
		cells = append(cells, string(cell))
		if len(line{text: rest}.content()) == 0 {
			return cells, size, nil
		}
		if rest[0] != ',' {
			return malformed(errQuotes)
		}
		rest = rest[1:]
	}
}
