package source

import (
	"bufio"
	"errors"
	"io"
)

// jsonLines reads the records of a JSON Lines file: an object a line.
type jsonLines struct{ *lineReader }

// Next implements RecordReader.
func (r jsonLines) Next() (Record, error) {
	first, err := r.nextFull()
	if err != nil {
		return Record{}, err
	}
	out := Record{Line: first.number, Cells: []string{string(first.content())}, Size: len(first.text)}
	if first.tooLong {
		out.Problem, out.Mend = sentence(errTooLong), mendLength
	} else {
		out.ParseJSON(first.content(), "line")
	}
	return out, nil
}

// jsonArray reads the records of a file that is one JSON array.
type jsonArray struct {
	in         *bufio.Reader
	line       int
	begun, end bool
}

func newJSONArray(in io.Reader) *jsonArray {
	return &jsonArray{in: newLineReader(in, '\n').in, line: 1}
}

var errArrayEnd = errors.New("the JSON array has no end: the rest of the file is missing")

// Next implements RecordReader.
func (r *jsonArray) Next() (Record, error) {
	for {
		b, err := r.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && !r.end:
			return Record{}, errArrayEnd
		case err != nil:
			return Record{}, err
		case b == '\n':
			r.line++
		case b == ' ', b == '\t', b == '\r':
		case r.end:
			return Record{}, errors.New("there is more in the file after the JSON array")
		case b == '[' && !r.begun:
			r.begun = true
		case b == ']':
			r.end = true
		case b == ',':
		default:
			return r.element(b)
		}
	}
}

// element reads the element that begins with b: an object or array to the bracket that
// closes it, anything else to the comma or bracket after it.
func (r *jsonArray) element(b byte) (out Record, err error) {
	out.Line = r.line
	var text []byte
	depth, inString, escaped := 0, false, false
	for {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = b == '\\', b != '"'
		case b == '"':
			inString = true
		case b == '{', b == '[':
			depth++
		case depth == 0 && (b == ',' || b == ']'):
			err = r.in.UnreadByte()
			return r.parsed(out, text), err
		case b == '}', b == ']':
			depth--
		}
		if b == '\n' {
			r.line++
		}
		if out.Size++; out.Size <= maxRow {
			text = append(text, b)
		}
		if depth == 0 && (b == '}' || b == ']') && !inString {
			return r.parsed(out, text), nil
		}
		if b, err = r.in.ReadByte(); errors.Is(err, io.EOF) {
			err = errArrayEnd
		}
		if err != nil {
			return Record{}, err
		}
	}
}

// parsed is the record of an element.
func (r *jsonArray) parsed(out Record, text []byte) Record {
	out.Cells = []string{string(text)}
	if out.Size > maxRow {
		out.Problem, out.Mend = sentence(errTooLong), mendLength
	} else {
		out.ParseJSON(text, "element")
	}
	return out
}
