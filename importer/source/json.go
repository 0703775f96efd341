package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/textline"
)

// jsonLines reads the records of a JSON Lines file: an object a line. It skips columns before the object, which dumps
// of Open Library have.
type jsonLines struct{ *textline.Reader }

func (r jsonLines) Next() (Record, error) {
	first, err := r.NextFull()
	if err != nil {
		return Record{}, err
	}
	text := first.Content()
	if at := bytes.Index(text, []byte("\t{")); bytes.HasPrefix(text, []byte(dumpStart)) && at > 0 {
		text = text[at+1:]
	}
	out := Record{Line: first.Number, Cells: []string{string(text)}, Size: len(first.Text)}
	if first.TooLong {
		out.Problem, out.Mend = sentence(errTooLong), mendLength
	} else {
		out.ParseJSON(text, "line")
	}
	return out, nil
}

// dumpStart begins each line in a dump of Open Library.
const dumpStart = "/type/"

// jsonArray reads the records of a file that is one JSON array, or has it under the keys of Path, or is an object of
// records, or records after each other. An element that is not an object is a bad record. A syntax error ends the
// reading, because the start of the next element is unknown.
type jsonArray struct {
	text *elementReader
	in   *jsontext.Decoder
	Format
	begun bool
}

func newJSONArray(in io.Reader, f Format) *jsonArray {
	text := &elementReader{in: textline.WithoutMark(in), line: 1}
	// ParseJSON checks the characters and the names of each element.
	return &jsonArray{text: text, in: newDecoder(text), Format: f}
}

func newDecoder(in io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// begin reads the start of the array.
func (r *jsonArray) begin() error {
	for _, key := range r.Path {
		token, err := r.in.ReadToken() // {
		if err == nil && token.Kind() == jsontext.KindBeginArray {
			_, err = r.in.ReadToken() // the first object of the array
		}
		for err == nil {
			var token jsontext.Token
			if token, err = r.in.ReadToken(); err != nil || token.String() == key {
				break
			}
			err = r.in.SkipValue()
			r.text.pass(r.in.InputOffset())
		}
		if err != nil {
			return err
		}
	}
	if r.IsStream {
		return nil
	}
	_, err := r.in.ReadToken() // [, or { of records by key
	return err
}

// end reads what follows the array.
func (r *jsonArray) end() error {
	_, err := r.in.ReadToken() // ]
	for err == nil && r.in.StackDepth() > 0 {
		r.text.pass(r.in.InputOffset())
		parent, _ := r.in.StackIndex(r.in.StackDepth())
		next := r.in.PeekKind()
		switch isObject := next == jsontext.KindBeginObject; {
		case isObject && parent == jsontext.KindBeginArray:
			return model.Messagef("the JSON has several lists of books: put all books in one array")
		case isObject && r.IsKeyed:
			return model.Messagef("the JSON has other objects behind the books: put all books in one object")
		case isObject, next == jsontext.KindBeginArray:
			err = r.in.SkipValue()
		default:
			_, err = r.in.ReadToken()
		}
	}
	if err != nil {
		return r.failed(err)
	}
	switch _, err = r.in.ReadToken(); {
	case err == nil:
		return model.Messagef("data follows the JSON array")
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return r.failed(err)
}

func (r *jsonArray) Next() (Record, error) {
	if !r.begun {
		r.begun = true
		if err := r.begin(); err != nil {
			return Record{}, r.failed(err)
		}
	}
	switch kind := r.in.PeekKind(); {
	case kind == jsontext.KindEndArray, r.IsKeyed && kind == jsontext.KindEndObject:
		return Record{}, r.end()
	case r.IsKeyed:
		if _, err := r.in.ReadToken(); err != nil {
			return Record{}, r.failed(err)
		}
	}
	text, err := r.in.ReadValue()
	if r.IsStream && errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Record{}, io.EOF
	}
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
		return model.Messagef("the JSON array is truncated")
	case isSyntax:
		return fmt.Errorf("the JSON array is broken in line %d: %w", r.text.lineAt(syntax.ByteOffset), syntax.Err)
	}
	return err
}

// recordSeparator begins each text of a JSON text sequence (RFC 7464). JSON has it nowhere else.
const recordSeparator = 0x1e

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
		r.err = model.Messagef("the element of the JSON array after line %d is longer than 1 MiB", r.line)
		return 0, r.err
	}
	n, err = r.in.Read(p)
	for i, b := range p[:n] {
		switch b {
		case '\n':
			r.ends = append(r.ends, r.until+int64(i))
		case recordSeparator:
			p[i] = ' '
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
	r.ends = r.ends[line-r.line:] // without a copy: a read may end many elements
	r.from, r.line = end, line
}
