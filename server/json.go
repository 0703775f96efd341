package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

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
// member is given each of them, before it is known whether all is well.
func (l Limits) object(data []byte, base int, member func(key string, value []byte)) error {
	if err := model.CheckJSON(data); err != nil {
		return err
	}
	s := jsonScanner{data: data, limits: l, base: base}
	if !json.Valid(data) || s.next() != '{' {
		return errNotObject
	}
	return s.object(0, member)
}

// decodeObject makes Go values of an object, or nil of null. Numbers stay as
// they are written.
func decodeObject(data []byte) (object map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&object)
	return object, err
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

func (s *jsonScanner) value(depth int) error {
	if s.values++; s.values > s.limits.Values {
		return errTooLarge(fmt.Sprintf("The request has too many values: %d are allowed.", s.limits.Values))
	}
	if depth > s.base+s.limits.VariableDepth {
		return errTooLarge(fmt.Sprintf("The values of the request are too deep: %d levels are allowed.", s.limits.VariableDepth))
	}
	switch s.next() {
	case '{':
		return s.object(depth, nil)
	case '[':
		s.at++
		for s.next() != ']' {
			if err := s.value(depth + 1); err != nil {
				return err
			}
			if s.next() == ',' {
				s.at++
			}
		}
		s.at++
	case '"':
		s.text()
	default: // a number or a word
		for s.at < len(s.data) && bytes.IndexByte([]byte(" \n\r\t,]}"), s.data[s.at]) < 0 {
			s.at++
		}
	}
	return nil
}

// manyKeys is from how many keys on an object's are looked up in a map.
const manyKeys = 16

// keySeed makes the hashes of keys ones that no client can foresee.
var keySeed = maphash.MakeSeed()

func (s *jsonScanner) object(depth int, member func(key string, value []byte)) error {
	var room [manyKeys]uint64
	few := room[:0] // hashes of the keys
	var many map[uint64]struct{}
	s.at++
	for s.next() != '}' {
		key := unquote(s.text())
		hash := maphash.Bytes(keySeed, key)
		if _, there := many[hash]; there || slices.Contains(few, hash) {
			return fmt.Errorf("the key %.50q is there twice", key)
		}
		switch {
		case many != nil:
			many[hash] = struct{}{}
		case len(few) < manyKeys:
			few = append(few, hash)
		default:
			many = map[uint64]struct{}{hash: {}}
			for _, earlier := range few {
				many[earlier] = struct{}{}
			}
		}
		s.space()
		s.at++ // the colon
		s.space()
		start := s.at
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if member != nil {
			member(string(key), s.data[start:s.at])
		}
		if s.next() == ',' {
			s.at++
		}
	}
	s.at++
	return nil
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
