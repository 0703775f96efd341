package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"library-catalogue/graph/model"
)

// errNotObject says that a text is no JSON object.
var errNotObject = errors.New("not a JSON object")

// errTooLarge says that a value is over a limit.
type errTooLarge string

func (e errTooLarge) Error() string { return string(e) }

// object reads a JSON object (RFC 8259), strictly: valid UTF-8, no half of a
// surrogate pair, nothing after it, no key twice in an object. Its members may
// hold as many values as the limits say, nested so many levels deep below base.
// Numbers stay as they are written.
func (l Limits) object(data []byte, base int) (map[string]any, error) {
	if err := model.CheckJSON(data); err != nil {
		return nil, err
	}
	s := jsonScanner{data: data, limits: l, base: base}
	if s.next() != '{' {
		return nil, errNotObject
	}
	members, err := s.object(0)
	if err == nil {
		if s.next(); s.at < len(data) {
			err = errNotObject
		}
	}
	if err != nil && !json.Valid(data) { // which goes before whatever else is wrong with it
		return nil, errNotObject
	}
	return members, err
}

// jsonScanner goes through a text, which it finds out to be JSON or not.
type jsonScanner struct {
	data   []byte
	at     int
	limits Limits
	base   int
	values int
}

// next gives the byte after white space, or 0, which begins nothing, at the end.
func (s *jsonScanner) next() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// more tells whether an array or object has one more item before its closing
// bracket, and goes past the comma or the bracket.
func (s *jsonScanner) more(items int, closing byte) (bool, error) {
	switch c := s.next(); {
	case c == closing:
		s.at++
		return false, nil
	case items == 0:
		return true, nil
	case c == ',':
		s.at++
		return true, nil
	}
	return false, errNotObject
}

func (s *jsonScanner) value(depth int) (any, error) {
	if s.values++; s.values > s.limits.Values {
		return nil, errTooLarge(fmt.Sprintf("The request has too many values: %d are allowed.", s.limits.Values))
	}
	if depth > s.base+s.limits.VariableDepth {
		return nil, errTooLarge(fmt.Sprintf("The values of the request are too deep: %d levels are allowed.", s.limits.VariableDepth))
	}
	switch s.next() {
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	case '"':
		return s.text()
	}
	start := s.at
	for s.at < len(s.data) && bytes.IndexByte([]byte(" \n\r\t,]}"), s.data[s.at]) < 0 {
		s.at++
	}
	switch word := s.data[start:s.at]; string(word) {
	case "null":
		return nil, nil
	case "true", "false":
		return word[0] == 't', nil
	default:
		if !json.Valid(word) {
			return nil, errNotObject
		}
		return json.Number(word), nil
	}
}

func (s *jsonScanner) array(depth int) ([]any, error) {
	items := []any{}
	s.at++
	for {
		if more, err := s.more(len(items), ']'); !more {
			return items, err
		}
		item, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
}

func (s *jsonScanner) object(depth int) (map[string]any, error) {
	members := map[string]any{}
	s.at++
	for {
		if more, err := s.more(len(members), '}'); !more {
			return members, err
		}
		key, err := s.text()
		if err != nil {
			return nil, err
		}
		if _, there := members[key]; there {
			return nil, fmt.Errorf("the key %.50q is there twice", key)
		}
		if s.next() != ':' {
			return nil, errNotObject
		}
		s.at++
		if members[key], err = s.value(depth + 1); err != nil {
			return nil, err
		}
	}
}

// text reads a string.
func (s *jsonScanner) text() (string, error) {
	if s.next() != '"' {
		return "", errNotObject
	}
	start, escaped := s.at, false
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			quoted := s.data[start:s.at]
			if !escaped {
				return string(quoted[1 : len(quoted)-1]), nil
			}
			var text string
			if json.Unmarshal(quoted, &text) != nil {
				return "", errNotObject
			}
			return text, nil
		case c == '\\':
			escaped = true
			s.at++
		case c < ' ':
			return "", errNotObject
		}
	}
	return "", errNotObject
}

// appendCanonical appends a value as object gives it, as JSON with the members of
// objects in order of their names, so that equal values have equal texts.
func appendCanonical(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case json.Number:
		return append(dst, v...)
	case string:
		return model.AppendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		dst = append(dst, '{')
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(model.AppendString(dst, name), ':')
			dst = appendCanonical(dst, v[name])
		}
		return append(dst, '}')
	}
	panic(fmt.Sprintf("%T is no value of JSON", value))
}
