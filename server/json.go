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
	if !json.Valid(data) || s.next() != '{' {
		return nil, errNotObject
	}
	return s.object(0)
}

// jsonScanner goes through a text that is known to be JSON.
type jsonScanner struct {
	data   []byte
	at     int
	limits Limits
	base   int
	values int
}

func (s *jsonScanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\r' || s.data[s.at] == '\t') {
		s.at++
	}
}

// next gives the byte after white space.
func (s *jsonScanner) next() byte {
	s.space()
	return s.data[s.at]
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
		return string(unquote(s.text())), nil
	}
	start := s.at
	for s.at < len(s.data) && bytes.IndexByte([]byte(" \n\r\t,]}"), s.data[s.at]) < 0 {
		s.at++
	}
	switch word := s.data[start:s.at]; word[0] {
	case 'n':
		return nil, nil
	case 't', 'f':
		return word[0] == 't', nil
	default:
		return json.Number(word), nil
	}
}

func (s *jsonScanner) array(depth int) ([]any, error) {
	items := []any{}
	s.at++
	for s.next() != ']' {
		item, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
		if s.next() == ',' {
			s.at++
		}
	}
	s.at++
	return items, nil
}

func (s *jsonScanner) object(depth int) (map[string]any, error) {
	members := map[string]any{}
	s.at++
	for s.next() != '}' {
		key := string(unquote(s.text()))
		if _, there := members[key]; there {
			return nil, fmt.Errorf("the key %.50q is there twice", key)
		}
		s.space()
		s.at++ // the colon
		value, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		members[key] = value
		if s.next() == ',' {
			s.at++
		}
	}
	s.at++
	return members, nil
}

// text goes past a string and gives it as it is written.
func (s *jsonScanner) text() []byte {
	s.space()
	start := s.at
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.data[start:s.at]
}

// unquote gives the text of a string of JSON.
func unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is one
	return []byte(text)
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
