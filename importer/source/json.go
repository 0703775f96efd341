package source

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
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

// jsonArray reads the records of a file that is one JSON array. An element that is no object is a bad record;
// a syntax error ends the reading, because elements after it have no certain beginning.
type jsonArray struct {
	text  *elementReader
	in    *jsontext.Decoder
	begun bool
}

func newJSONArray(in io.Reader) *jsonArray {
	text := &elementReader{in: newLineReader(in).in, line: 1}
	// ParseJSON checks the characters and the names of each element.
	return &jsonArray{text: text, in: jsontext.NewDecoder(text, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))}
}

// Next implements RecordReader.
func (r *jsonArray) Next() (Record, error) {
	if !r.begun {
		r.begun = true
		if _, err := r.in.ReadToken(); err != nil {
			return Record{}, r.failed(err)
		}
	}
	if r.in.PeekKind() == jsontext.KindEndArray {
		_, err := r.in.ReadToken()
		if err == nil {
			_, err = r.in.ReadToken()
		}
		switch {
		case err == nil:
			return Record{}, errors.New("data follows the JSON array")
		case errors.Is(err, io.EOF):
			return Record{}, io.EOF
		}
		return Record{}, r.failed(err)
	}
	text, err := r.in.ReadValue()
	if err != nil {
		return Record{}, r.failed(err)
	}
	end := r.in.InputOffset()
	out := Record{Line: r.text.lineAt(end - int64(len(text))), Cells: []string{string(text)}, Size: len(text)}
	r.text.pass(end)
	out.ParseJSON(text, "element")
	return out, nil
}

// failed returns the error of the array for one of its decoder.
func (r *jsonArray) failed(err error) error {
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case r.text.err != nil:
		return r.text.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the JSON array is truncated")
	case isSyntax:
		return fmt.Errorf("the JSON array is broken in line %d: %w", r.text.lineAt(syntax.ByteOffset), syntax.Err)
	}
	return err
}

// elementReader reads a text for a decoder that takes one element after another. It counts lines, and fails
// at an element longer than maxRow.
type elementReader struct {
	in    io.Reader
	err   error   // from in
	from  int64   // offset of the end of the last element
	until int64   // offset of the end of what was read
	line  int     // at from
	ends  []int64 // offsets of the line ends between from and until
}

// Read implements io.Reader. The decoder calls it only when all that it holds belongs to one element.
func (r *elementReader) Read(p []byte) (n int, err error) {
	if r.until-r.from > maxRow {
		r.err = fmt.Errorf("the element of the JSON array after line %d is longer than 1 MiB", r.line)
		return 0, r.err
	}
	n, err = r.in.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			r.ends = append(r.ends, r.until+int64(i))
		}
	}
	r.until += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// lineAt returns the line of an offset between from and until.
func (r *elementReader) lineAt(offset int64) int {
	n, _ := slices.BinarySearch(r.ends, offset)
	return r.line + n
}

// pass ends an element.
func (r *elementReader) pass(end int64) {
	line := r.lineAt(end)
	r.ends = slices.Delete(r.ends, 0, line-r.line)
	r.from, r.line = end, line
}
