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

// unchecked has a text read whose characters and names are checked elsewhere.
var unchecked = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// decoders are used again: a new one allocates the state of its checks.
var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(bytes.NewReader(nil)) }}

// readObject reads a JSON object as checkJSON does and returns its canonical text.
func (l Limits) readObject(data []byte, base int) (jsontext.Value, error) {
	if err := l.checkJSON(data, base); err != nil {
		return nil, err
	}
	return canonical(data)
}

// checkJSON demands a JSON object (RFC 8259), strictly: valid UTF-8, no half of a
// surrogate pair, nothing after it, no key twice in an object. Its members may
// hold as many values as the limits say, nested so many levels deep below base.
func (l Limits) checkJSON(data []byte, base int) error {
	if err := model.CheckJSON(data); err != nil {
		return err
	}
	d := decoders.Get().(*jsontext.Decoder)
	defer decoders.Put(d)
	d.Reset(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true))
	err := l.checkObject(d, base)
	if err != nil && !json.Valid(data) { // which goes before whatever else is wrong with it
		return errNotObject
	}
	return err
}

// canonical returns the text of an object that checkJSON accepts: without white
// space, with the members of each object in order of their names, and with escapes
// only where JSON wants them. Numbers stay as they are written.
func canonical(object []byte) (jsontext.Value, error) {
	options := append([]jsontext.Options{jsontext.ReorderRawObjects(true)}, unchecked...)
	return jsontext.AppendFormat(make([]byte, 0, len(object)), object, options...)
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
		case errors.Is(err, jsontext.ErrDuplicateName):
			syntactic, _ := errors.AsType[*jsontext.SyntacticError](err)
			return fmt.Errorf("the key %.50q is there twice", syntactic.JSONPointer.LastToken())
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

// members ranges over the names and the values of an object that checkJSON accepts.
func members(object jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) {
		d := decoders.Get().(*jsontext.Decoder)
		defer decoders.Put(d)
		d.Reset(bytes.NewBuffer(object), unchecked...)
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
