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
	"unicode/utf8"
)

// Form is an input from JSON or from the cells of a table, by database names. Its methods return
// typed inputs and collect errors in their Problems.
type Form map[string]Value

// Value is a field of a Form. The zero Value is an absent field.
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

// Text returns the Value of a cell.
func Text(s string) Value { return Value{text, s} }

// ErrNotObject reports JSON that is not an object.
var ErrNotObject = errors.New("not a JSON object")

// ParseForm reads a JSON object (RFC 8259) strictly. It refuses invalid UTF-8, half surrogate pairs
// and trailing data.
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
		_ = json.Unmarshal(raw, &s) // it is valid
		return Value{text, s}
	case 't', 'f', '[', '{':
		return Value{kind: other}
	}
	return Value{number, string(raw)}
}

// CheckJSON refuses what encoding/json silently replaces: invalid UTF-8 and escaped half surrogate
// pairs.
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

// Missing reports whether the value is absent, null or blank.
func (v Value) Missing() bool {
	return v.kind <= null || v.kind == text && strings.TrimSpace(v.text) == ""
}

// Written returns a text or a number as written, and "" for other values.
func (v Value) Written() string { return v.text }

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
