package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"library-catalogue/graph/model"
)

// errNotObject says that a text is no JSON object.
var errNotObject = errors.New("not a JSON object")

// errTooLarge says that a value is over a limit.
type errTooLarge string

func (e errTooLarge) Error() string { return string(e) }

// decoder reads a JSON text in memory, whose characters and names are checked elsewhere.
type decoder struct {
	jsontext.Decoder
	text bytes.Buffer // which the Decoder reads without a copy
}

// decoders are used again: a request is read by five, of 1.4 kB each.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

var unchecked = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// newDecoder returns a decoder of text, for use until release.
func newDecoder(text []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.text = *bytes.NewBuffer(text)
	d.Reset(&d.text, unchecked...)
	return d
}

func (d *decoder) release() {
	d.text = bytes.Buffer{}
	d.Reset(&d.text) // which lets go of the text
	decoders.Put(d)
}

// readObject reads a JSON object (RFC 8259), strictly: valid UTF-8, no half of a
// surrogate pair, nothing after it, no key twice in an object. Its members may
// hold as many values as the limits say, nested so many levels deep below base.
//
// It returns the object's canonical text: without white space, with the members of
// each object in order of their names, and with escapes only where JSON wants
// them. Numbers stay as they are written.
func (l Limits) readObject(data []byte, base int) (jsontext.Value, error) {
	if err := model.CheckJSON(data); err != nil {
		return nil, err
	}
	d := newDecoder(data)
	defer d.release()
	if err := l.checkObject(&d.Decoder, base); err != nil {
		if !json.Valid(data) { // which goes before whatever else is wrong with it
			return nil, errNotObject
		}
		return nil, err
	}
	canonical, err := jsontext.AppendFormat(make([]byte, 0, len(data)), data, jsontext.ReorderRawObjects(true))
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
		return nil, fmt.Errorf("the key %.50q is there twice", syntactic.JSONPointer.LastToken())
	}
	return canonical, err
}

// checkObject reads an object token by token, for as long as it is within the limits.
func (l Limits) checkObject(d *jsontext.Decoder, base int) error {
	if d.PeekKind() != jsontext.KindBeginObject {
		return errNotObject
	}
	for values := -1; ; { // the object itself is not counted
		depth := d.StackDepth()
		kind, length := d.StackIndex(depth) // names and values before this token
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil, depth == 0 && length > 0: // something follows the object
			return errNotObject
		case token.Kind() == jsontext.KindEndObject || token.Kind() == jsontext.KindEndArray:
			continue
		case kind == jsontext.KindBeginObject && length%2 == 0:
			if n := l.members(); length/2 == int64(n) {
				return errTooLarge(fmt.Sprintf("An object of the request has too many members: %d are allowed.", n))
			}
			continue
		}
		if values++; values > l.Values {
			return errTooLarge(fmt.Sprintf("The request has too many values: %d are allowed.", l.Values))
		}
		if depth > base+l.VariableDepth {
			return errTooLarge(fmt.Sprintf("The values of the request are too deep: %d levels are allowed.", l.VariableDepth))
		}
	}
}

// members ranges over the names and the values of an object that readObject has
// returned.
func members(object jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		d := newDecoder(object)
		defer d.release()
		_, _ = d.ReadToken() // the opening brace
		for d.PeekKind() == jsontext.KindString {
			token, _ := d.ReadToken()
			name := token.String()
			value, _ := d.ReadValue()
			if !yield(name, value) {
				return
			}
		}
	}
}

// unquote returns the string of a JSON text.
func unquote(quoted jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, quoted) // it was looked at before
	return string(text)
}
