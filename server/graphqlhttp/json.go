package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"library-catalogue/graph/model"
)

// errNotObject says that a text is no JSON object.
var errNotObject = errors.New("not a JSON object")

// errTooLarge says that a value is over a limit.
type errTooLarge string

func (e errTooLarge) Error() string { return string(e) }

// newDecoder returns a decoder of a text whose characters and names are checked elsewhere.
func newDecoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// readObject reads a JSON object (RFC 8259), strictly: valid UTF-8, no half of a
// surrogate pair, nothing after it, no key twice in an object. Its members may
// hold as many values as the limits say, nested so many levels deep below base.
//
// It returns the object's canonical text: without white space, with the members of
// each object in order of their names, and with escapes only where JSON wants
// them. Numbers stay as they are written.
func (l Limits) readObject(data []byte, base int) (canonical jsontext.Value, err error) {
	if err := model.CheckJSON(data); err != nil {
		return nil, err
	}
	if err := l.checkObject(newDecoder(data), base); err != nil {
		if !json.Valid(data) { // which goes before whatever else is wrong with it
			return nil, errNotObject
		}
		return nil, err
	}
	canonical, err = jsontext.AppendFormat(make([]byte, 0, len(data)), data, jsontext.ReorderRawObjects(true))
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
		return nil, fmt.Errorf("the key %.50q is there twice", syntactic.JSONPointer.LastToken())
	}
	return canonical, err
}

// checkObject reads an object token by token, for as long as it is within the limits,
// and counts its values for these.
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
