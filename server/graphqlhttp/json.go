package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"library-catalogue/graph/model"
)

// newDecoder returns a decoder that does not check characters and duplicate names.
func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// members yields the names and values of a valid JSON object, and nothing of another value. A value is valid until
// the next one. encoding/json would ignore the case of the names of a struct.
func members(object jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		if object == nil { // most requests have no extensions
			return
		}
		d := newDecoder(object)
		if d.PeekKind() != jsontext.KindBeginObject {
			return
		}
		_, _ = d.ReadToken()
		for d.PeekKind() == jsontext.KindString {
			token, _ := d.ReadToken()
			name := token.String()
			if value, _ := d.ReadValue(); !yield(name, value) {
				return
			}
		}
	}
}

// readObject reads a JSON object (RFC 8259) strictly. It refuses invalid UTF-8, half surrogate
// pairs, trailing data, duplicate keys, and values beyond the limits. The depth counts from base.
//
// It returns the canonical text: without white space, members sorted by name, only necessary
// escapes, numbers unchanged.
func readObject(data []byte, base int) (canonical jsontext.Value, err error) {
	if err := model.CheckJSON(data); err != nil {
		return nil, err
	}
	if err := checkObject(newDecoder(data), base); err != nil {
		if !json.Valid(data) { // report the syntax error first
			return nil, errNotJSON
		}
		return nil, err
	}
	canonical, err = jsontext.AppendFormat(make([]byte, 0, len(data)), data, jsontext.ReorderRawObjects(true))
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok &&
		errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
		return nil, fmt.Errorf("the key %.50q is given twice", syntactic.JSONPointer.LastToken())
	}
	return canonical, err
}

// checkObject reads an object token by token and stops at the first limit that it exceeds.
func checkObject(d *jsontext.Decoder, base int) error {
	if d.PeekKind() != jsontext.KindBeginObject {
		return errNotObject
	}
	for values := -1; ; { // without the object itself
		depth := d.StackDepth()
		kind, length := d.StackIndex(depth) // names and values before this token
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil, depth == 0 && length > 0: // trailing data
			return errNotObject
		case token.Kind() == jsontext.KindEndObject || token.Kind() == jsontext.KindEndArray:
			continue
		case kind == jsontext.KindBeginObject && length%2 == 0:
			if length/2 == maxMembers {
				return tooLargeError(
					fmt.Sprintf("An object of the request has too many members: at most %d are allowed.", maxMembers))
			}
			continue
		}
		if values++; values > maxValues {
			return tooLargeError(fmt.Sprintf("The request has too many values: at most %d are allowed.", maxValues))
		}
		if depth > base+maxValueDepth {
			return tooLargeError(
				fmt.Sprintf("The values of the request are nested too deeply: at most %d levels are allowed.",
					maxValueDepth))
		}
	}
}

// scalar returns the value of a JSON text, or nil for an object or a list.
func scalar(raw jsontext.Value) any {
	switch raw.Kind() {
	case jsontext.KindString:
		text, _ := jsontext.AppendUnquote(nil, raw) // it is valid
		return string(text)
	case jsontext.KindTrue, jsontext.KindFalse:
		return raw.Kind() == jsontext.KindTrue
	case jsontext.KindNumber:
		return json.Number(raw)
	default:
		return nil
	}
}
