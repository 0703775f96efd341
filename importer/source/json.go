package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonLines reads the records of a JSON Lines file: an object a line. Columns before it are skipped, as in the dumps
// of Open Library.
type jsonLines struct{ *lineReader }

func (r jsonLines) Next() (Record, error) {
	first, err := r.nextFull()
	if err != nil {
		return Record{}, err
	}
	text := first.content()
	if at := bytes.Index(text, []byte("\t{")); bytes.HasPrefix(text, []byte(dumpStart)) && at > 0 {
		text = text[at+1:]
	}
	out := Record{Line: first.number, Cells: []string{string(text)}, Size: len(first.text)}
	if first.tooLong {
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
	text := &elementReader{in: newLineReader(in).in, line: 1}
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
		if kind, _ := r.in.StackIndex(r.in.StackDepth()); kind == jsontext.KindBeginArray && r.in.PeekKind() == jsontext.KindBeginObject {
			return errors.New("the JSON has several lists of books: put all books in one array")
		}
		if kind, _ := r.in.StackIndex(r.in.StackDepth()); r.IsKeyed && kind == jsontext.KindBeginObject && r.in.PeekKind() == jsontext.KindBeginObject {
			return errors.New("the JSON has other objects behind the books: put all books in one object")
		}
		if r.in.PeekKind() == jsontext.KindBeginArray || r.in.PeekKind() == jsontext.KindBeginObject {
			err = r.in.SkipValue()
			continue
		}
		_, err = r.in.ReadToken()
	}
	if err != nil {
		return r.failed(err)
	}
	switch _, err = r.in.ReadToken(); {
	case err == nil:
		return errors.New("data follows the JSON array")
	case errors.Is(err, io.EOF):
		return io.EOF
	}
	return r.failed(err)
}

// findArray returns the keys that lead to an array of objects in the object at the start of a text, if more names of
// its first object are known than of the outer object, and as many as of that with its nested objects. Arrays of the outer
// object are none of its names, because they may be lists of authors. Otherwise it returns nil. Several such arrays are an error.
func findArray(start []byte, h Header) (path []string, err error) {
	first := map[string][]string{} // by path: the names of the first object
	paths := map[string][]string{}
	outer, _ := walk(objects(start), nil, func(at, names []string) {
		key := strings.Join(at, "\x00")
		first[key], paths[key] = names, at
	})
	outer = slices.DeleteFunc(outer, func(name string) bool { return paths[name] != nil }) // lists, of authors too
	most := h.Matched(outer) - 1
	outer = slices.DeleteFunc(outer, func(name string) bool { return strings.Contains(name, ".") })
	most = max(most, h.Matched(outer))
	for _, key := range slices.Sorted(maps.Keys(first)) {
		switch n := h.Matched(first[key]); {
		case n > most:
			path, most, err = paths[key], n, nil
		case n == most && path != nil:
			err = severalLists(path, paths[key])
		}
	}
	return path, err
}

// findObjects reports whether the records are the members of an object in the object at the start of a text, and the keys
// that lead to it, or whether they are objects that follow each other over several lines. Records have at least two known
// names. Several such objects are an error.
func findObjects(start []byte, h Header) (path []string, isKeyed, isStream bool, err error) {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	isLine := jsontext.Value(line).IsValid()
	in := newDecoder(bytes.NewReader(start))
	isFollowed := in.SkipValue() == nil && len(bytes.TrimSpace(start[in.InputOffset():])) > 0
	outer, walkErr := walk(objects(start), nil, func([]string, []string) {})
	outer = slices.DeleteFunc(outer, func(name string) bool { return strings.Contains(name, ".") })
	if h.Matched(outer) > 1 || isFollowed {
		return nil, false, walkErr == nil && !isLine, nil
	}
	paths, _, _ := findKeyed(objects(start), nil, h)
	switch {
	case len(paths) == 0:
		path, err = widestArray(start)
		return path, false, false, err
	case len(paths) > 1:
		return nil, false, false, severalLists(paths[0], paths[1])
	}
	return paths[0], true, false, nil
}

// minNames is the minimum number of names of a record in a list without known names.
const minNames = 3

// widestArray returns the keys that lead to the array whose first object has most names, and as many as the object at the start
// of a text has above it. It serves lists without known names. Two such arrays are an error.
func widestArray(start []byte) (path []string, err error) {
	most := minNames - 1
	var other []string
	outer, _ := walk(objects(start), nil, func(at, names []string) {
		switch {
		case len(names) > most:
			path, other, most = at, nil, len(names)
		case len(names) == most && path != nil:
			other = at
		}
	})
	outer = slices.DeleteFunc(outer, func(name string) bool { return strings.Contains(name, ".") })
	if path == nil || len(outer) > most {
		return nil, nil
	}
	if other != nil {
		return nil, severalLists(path, other)
	}
	return path, nil
}

func severalLists(first, second []string) error {
	return fmt.Errorf("the file has several lists of books, such as %.60q and %.60q: put all books in one list",
		strings.Join(first, "."), strings.Join(second, "."))
}

// maxObjects is the maximum number of objects at the start of a text that are compared with books.
const maxObjects = 1000

// objectDecoder reads the objects at the start of a text, which may be cut.
type objectDecoder struct {
	*jsontext.Decoder
	count int
}

func objects(start []byte) *objectDecoder {
	return &objectDecoder{Decoder: newDecoder(bytes.NewReader(start))}
}

// begin reads the start of an object. It returns io.EOF after maxObjects, as if the text were cut.
func (d *objectDecoder) begin() error {
	if d.count++; d.count > maxObjects {
		return io.EOF
	}
	_, err := d.ReadToken()
	return err
}

// findKeyed reads an object, which may be cut. It returns the paths of the objects whose members are all records, and the
// names of the object.
func findKeyed(in *objectDecoder, path []string, h Header) (paths [][]string, names []string, err error) {
	members, records, alike := 0, 0, 0
	var first []string // names of the first record
	err = in.begin()
	for err == nil && in.PeekKind() == jsontext.KindString {
		token, _ := in.ReadToken()
		name := token.String()
		names = append(names, name)
		members++
		if in.PeekKind() != jsontext.KindBeginObject || len(path) == maxPath {
			err = in.SkipValue()
			continue
		}
		var inner [][]string
		var nested []string
		inner, nested, err = findKeyed(in, append(slices.Clone(path), name), h)
		names = appendJoined(names, name, nested)
		if members == 1 {
			first = nested
		}
		if len(nested) >= minNames && slices.Equal(nested, first) {
			alike++
		}
		if h.Matched(nested) > 1 && len(inner) == 0 {
			records++
		} else if err != nil && records > 0 {
			members-- // the start of the text ends in it
		}
		paths = append(paths, inner...)
	}
	if records > 0 && records == members || len(paths) == 0 && alike > 1 && alike == members {
		paths = append(paths, append([]string{}, path...))
	}
	if err == nil {
		_, err = in.ReadToken() // }
	}
	return paths, names, err
}

// maxPath is the maximum number of keys that lead to a list or a name.
const maxPath = 6

// MaxName is the maximum number of bytes of a column's name that is a key, with those of the objects that it is in:
// volumeInfo.title. A longer one is left out, because it would stand before each name of its object.
const MaxName = 250

// joinNames joins the names of an object and of one of its members.
func joinNames(object, member string) (name string, ok bool) {
	if len(object)+len(member) >= MaxName {
		return "", false
	}
	return object + "." + member, true
}

// appendJoined adds the names of an object's members.
func appendJoined(names []string, object string, members []string) []string {
	for _, member := range members {
		if name, ok := joinNames(object, member); ok {
			names = append(names, name)
		}
	}
	return names
}

// walk reads an object and returns its names, with those of nested objects after a point. It calls fn with the path of
// each array and the names of its first object.
func walk(in *objectDecoder, path []string, fn func(path, names []string)) (names []string, err error) {
	err = in.begin()
	for err == nil && in.PeekKind() == jsontext.KindString {
		token, _ := in.ReadToken()
		name := token.String()
		names = append(names, name)
		inner := append(slices.Clone(path), name)
		switch kind := in.PeekKind(); {
		case len(inner) >= maxPath, len(name) > MaxName:
			err = in.SkipValue()
		case kind == jsontext.KindBeginObject:
			var nested []string
			nested, err = walk(in, inner, fn)
			names = appendJoined(names, name, nested)
		case kind == jsontext.KindBeginArray:
			_, err = in.ReadToken()
			if in.PeekKind() == jsontext.KindBeginObject {
				var first []string
				first, err = walk(in, inner, fn)
				fn(inner, first)
			}
			for err == nil && in.PeekKind() != jsontext.KindEndArray {
				err = in.SkipValue()
			}
			if err == nil {
				_, err = in.ReadToken() // ]
			}
		default:
			err = in.SkipValue()
		}
	}
	if err == nil {
		_, err = in.ReadToken() // }
	}
	return names, err
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
		return errors.New("the JSON array is truncated")
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
		r.err = fmt.Errorf("the element of the JSON array after line %d is longer than 1 MiB", r.line)
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
