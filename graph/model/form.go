package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Form is an input as it was written, as JSON or as the cells of a table. It
// makes typed inputs of its fields, by name as in the database, and keeps in
// their Problems what cannot be read.
type Form map[string]Value

// Value is one field of a Form. The zero Value is a field that is not there.
type Value struct {
	kind valueKind
	text string
}

type valueKind int

const (
	absent valueKind = iota
	null
	text
	number
	other // true, false, an array or an object
)

// Text makes a Value of a cell.
func Text(s string) Value { return Value{text, s} }

// ErrNotObject says that a text is JSON, but no object.
var ErrNotObject = errors.New("not a JSON object")

// ParseForm reads a JSON object (RFC 8259), strictly: valid UTF-8, no half of a
// surrogate pair, nothing after the object.
func ParseForm(data []byte) (Form, error) {
	if err := CheckJSON(data); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var fields map[string]json.RawMessage
	if err := decoder.Decode(&fields); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return nil, ErrNotObject
		}
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("text after the JSON object")
	}
	if fields == nil {
		return nil, ErrNotObject
	}
	form := make(Form, len(fields))
	for name, raw := range fields {
		form[name] = valueOf(raw)
	}
	return form, nil
}

func valueOf(raw json.RawMessage) Value {
	switch raw[0] {
	case 'n':
		return Value{kind: null}
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s) // the decoder has accepted it
		return Value{text, s}
	case 't', 'f', '[', '{':
		return Value{kind: other}
	}
	return Value{number, string(raw)}
}

// CheckJSON finds what encoding/json would silently replace: bytes that are not
// UTF-8, and escapes that are one half of a surrogate pair.
func CheckJSON(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("invalid UTF-8")
	}
	for {
		_, escape, found := bytes.Cut(data, []byte{'\\'})
		if !found || len(escape) == 0 {
			return nil
		}
		data = escape[1:]
		unit, ok := codeUnit(escape)
		if !ok || unit < 0xD800 || unit > 0xDFFF {
			continue
		}
		data = escape[5:]
		if unit > 0xDBFF || len(data) == 0 || data[0] != '\\' {
			return errHalf
		}
		if low, ok := codeUnit(data[1:]); !ok || low < 0xDC00 || low > 0xDFFF {
			return errHalf
		}
		data = data[6:]
	}
}

var errHalf = errors.New("half of a surrogate pair")

// codeUnit reads the uXXXX of an escape.
func codeUnit(data []byte) (uint64, bool) {
	if len(data) < 5 || data[0] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(data[1:5]), 16, 16)
	return unit, err == nil
}

// CreateBook makes the input for a new book.
func (f Form) CreateBook() (in CreateBookInput) {
	in.Problems = bookDefinitions.readInput(f, &in)
	return in
}

// CreateGenre is as CreateBook.
func (f Form) CreateGenre() (in CreateGenreInput) {
	in.Problems = genreDefinitions.readInput(f, &in)
	return in
}

// CreateCategory is as CreateBook.
func (f Form) CreateCategory() (in CreateCategoryInput) {
	in.Problems = categoryDefinitions.readInput(f, &in)
	return in
}

// ReplaceBook makes the patch of a PUT: everything required must be there, what is
// optional or KeptByPUT and absent keeps its value.
func (f Form) ReplaceBook() *BookPatch {
	p := new(BookPatch)
	p.Problems = bookDefinitions.read(f, true, p)
	return p
}

// ReplaceGenre is as ReplaceBook.
func (f Form) ReplaceGenre() *GenrePatch {
	p := new(GenrePatch)
	p.Problems = genreDefinitions.read(f, true, p)
	return p
}

// ReplaceCategory is as ReplaceBook.
func (f Form) ReplaceCategory() *CategoryPatch {
	p := new(CategoryPatch)
	p.Problems = categoryDefinitions.read(f, true, p)
	return p
}

// Missing reports whether nothing was given: no field, null, or nothing but space.
func (v Value) Missing() bool {
	return v.kind <= null || v.kind == text && strings.TrimSpace(v.text) == ""
}

// Written returns a text or a number as it was written; of anything else "".
func (v Value) Written() string { return v.text }

// requiredField reads a field that must be there. read returns the message of what
// is wrong, if anything.
func requiredField[T any](f Form, p *FieldErrors, field string, read func(Value) (T, string)) (out T) {
	v := f[field]
	problem := MustBeRequired
	if !v.Missing() {
		out, problem = read(Value{v.kind, strings.TrimSpace(v.text)})
	}
	if problem != "" {
		p.Add(field, problem)
	}
	return out
}

func readText(v Value) (string, string) {
	if v.kind != text {
		return "", MustBeString
	}
	return v.text, ""
}

func readInteger(v Value) (int, string) {
	digits := v.text
	if whole, fraction, ok := strings.Cut(v.text, "."); ok && v.kind == number && strings.Trim(fraction, "0") == "" {
		digits = whole // 200.0 is an integer in JSON
	}
	n, err := strconv.Atoi(digits)
	if v.kind == other || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, MustBeInteger
	}
	return n, "" // what is too big for an int is the biggest, and past every bound
}

func readBigInt(v Value) (int64, string) {
	n, err := strconv.ParseInt(v.text, 10, 64)
	if v.kind != number || err != nil {
		return 0, MustBeInteger
	}
	return n, ""
}

func readID(v Value) (ID, string) {
	n, problem := readInteger(v)
	if n == 0 {
		n = -1 // which no row has either; 0 is an id that is not given
	}
	return ID(n), problem
}

func readPrice(v Value) (Cents, string) {
	c, ok := ParseCents(v.text)
	if v.kind == other || !ok {
		return 0, MustBeNumber
	}
	return c, ""
}

func readDate(v Value) (Date, string) {
	d, ok := ParseDate(v.text)
	if v.kind != text || !ok {
		return Date{}, MustBeDate
	}
	return d, ""
}

func readTimestamp(v Value) (Timestamp, string) {
	t, err := time.Parse(timestampLayout, v.text)
	if v.kind != text || err != nil {
		return 0, "The %s field must be a moment like " + timestampLayout + "."
	}
	return Timestamp(t.UnixMicro()), ""
}

// written returns a value as it could have been written. The generated code makes
// pointers, lists of one type and scalars of what it reads.
func written(value any) any {
	switch v := value.(type) {
	case []any, json.Number:
		return v
	case fmt.Stringer:
		if reflect.ValueOf(v).Kind() != reflect.Pointer {
			return v.String()
		}
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return written(v.Elem().Interface())
		}
		return nil
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		all := make([]any, v.Len())
		for i := range all {
			all[i] = written(v.Index(i).Interface())
		}
		return all
	}
	return value
}
