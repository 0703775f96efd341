package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// findList detects where the records are in a JSON text that begins with an object and may be cut:
//
//  1. In the array whose first object has most known names: more than the outer object, and as many as the outer object
//     with its nested objects. Its arrays are none of its names, because they may be lists of authors.
//  2. In the objects of the text, if the outer object has known names or is not alone: one in each line, or a stream.
//  3. In the members of an object. All of them have known names, or all have the same names.
//  4. In the array whose first object has most names, and as many as the outer object.
//
// Several such places are an error.
func findList(start []byte, h Header) (Format, error) {
	f := Format{Name: JSONArray}
	s := scanner{in: newDecoder(bytes.NewReader(start)), header: h}
	names, err := s.object(nil)
	isWhole := err == nil
	withoutArrays := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(s.arrays, func(a array) bool { return len(a.path) == 1 && a.path[0] == name })
	})
	most := h.Matched(withoutArrays) - 1
	most = max(most, h.Matched(slices.DeleteFunc(withoutArrays, isNested)))
	if f.Path, err = widest(s.arrays, most, h.Matched); f.Path != nil {
		return f, err
	}
	in := newDecoder(bytes.NewReader(start))
	isAlone := in.SkipValue() != nil || len(bytes.TrimSpace(start[in.InputOffset():])) == 0
	line, _, _ := bytes.Cut(start, []byte("\n"))
	isLine := jsontext.Value(line).IsValid()
	names = slices.DeleteFunc(names, isNested)
	switch isBook := h.Matched(names) > 1; {
	case (isBook || !isAlone) && isWhole && !isLine:
		f.IsStream = true
		return f, nil
	case isBook || !isAlone:
	case len(s.keyed) > 1:
		return f, severalLists(s.keyed[0], s.keyed[1])
	case len(s.keyed) == 1:
		f.Path, f.IsKeyed = s.keyed[0], true
		return f, nil
	default:
		f.Path, err = widest(s.arrays, max(minNames, len(names))-1, func(names []string) int { return len(names) })
		if f.Path != nil || err != nil {
			return f, err
		}
	}
	f.Name = JSONLines
	if !isLine && jsontext.Value(start).IsValid() {
		err = errors.New("the file is one JSON value without a list of books: " +
			"write an array of objects, or one object in each line")
	}
	return f, err
}

// isNested reports whether a name is one of a nested object.
func isNested(name string) bool { return strings.Contains(name, ".") }

// minNames is the minimum number of names of a record in a list without known names.
const minNames = 3

// widest returns the path of the array whose first object has most points: more than minPoints. Two such arrays are an
// error.
func widest(arrays []array, minPoints int, points func(names []string) int) (path []string, err error) {
	for _, a := range arrays {
		switch n := points(a.names); {
		case n > minPoints:
			path, minPoints, err = a.path, n, nil
		case n == minPoints && path != nil:
			err = severalLists(path, a.path)
		}
	}
	return path, err
}

func severalLists(first, second []string) error {
	return fmt.Errorf("the file has several lists of books, such as %.60q and %.60q: put all books in one list",
		strings.Join(first, "."), strings.Join(second, "."))
}

// array is an array whose first element is an object.
type array struct {
	path  []string // keys that lead to it
	names []string // names of its first object and of nested objects, these after a point
}

const (
	maxObjects = 1000 // objects that are compared with books
	maxPath    = 6    // keys that lead to a list or a name
)

// scanner reads the objects at the start of a JSON text, which may be cut.
type scanner struct {
	in     *jsontext.Decoder
	header Header
	count  int // objects
	arrays []array
	keyed  [][]string // paths of objects whose members are all records
}

// object reads an object, and returns its names and the names of nested objects, these after a point. It returns io.EOF
// after maxObjects, as if the text were cut.
func (s *scanner) object(path []string) (names []string, err error) {
	if s.count++; s.count > maxObjects {
		return nil, io.EOF
	}
	_, err = s.in.ReadToken() // {
	members, records, alike, keyed := 0, 0, 0, len(s.keyed)
	var first []string // names of the first member
	for err == nil && s.in.PeekKind() == jsontext.KindString {
		token, _ := s.in.ReadToken()
		name := token.String()
		names = append(names, name)
		members++
		inner := append(slices.Clone(path), name)
		hasLists := len(inner) < maxPath && len(name) <= MaxName
		kind := s.in.PeekKind()
		if kind == jsontext.KindBeginArray && hasLists {
			err = s.array(inner)
			continue
		}
		if kind != jsontext.KindBeginObject || len(inner) > maxPath {
			err = s.in.SkipValue()
			continue
		}
		before, arrays := len(s.keyed), s.arrays
		var nested []string
		nested, err = s.object(inner)
		if hasLists {
			names = appendJoined(names, name, nested)
		} else { // it counts as a record by its key only
			s.arrays = arrays
		}
		if members == 1 {
			first = nested
		}
		if len(nested) >= minNames && slices.Equal(nested, first) {
			alike++
		}
		if s.header.Matched(nested) > 1 && len(s.keyed) == before {
			records++
		} else if err != nil && records > 0 {
			members-- // the start of the text ends in it
		}
	}
	if records > 0 && records == members || len(s.keyed) == keyed && alike > 1 && alike == members {
		s.keyed = append(s.keyed, append([]string{}, path...))
	}
	if err == nil {
		_, err = s.in.ReadToken() // }
	}
	return names, err
}

// appendJoined appends the names of the members of a nested object.
func appendJoined(names []string, name string, members []string) []string {
	for _, member := range members {
		if joined, ok := joinNames(name, member); ok {
			names = append(names, joined)
		}
	}
	return names
}

// array reads an array. Objects in it have no records as members.
func (s *scanner) array(path []string) error {
	_, err := s.in.ReadToken() // [
	if s.in.PeekKind() == jsontext.KindBeginObject {
		keyed := s.keyed
		var names []string
		names, err = s.object(path)
		s.keyed = keyed
		s.arrays = append(s.arrays, array{path, names})
	}
	for err == nil && s.in.PeekKind() != jsontext.KindEndArray {
		err = s.in.SkipValue()
	}
	if err == nil {
		_, err = s.in.ReadToken() // ]
	}
	return err
}

// MaxName is the maximum number of bytes of a column's name that is a key behind the keys of the objects around it:
// volumeInfo.title. A longer one is left out, because it would stand before each name of its object.
const MaxName = 250

// joinNames joins the names of an object and of one of its members.
func joinNames(object, member string) (name string, ok bool) {
	if len(object)+len(member) >= MaxName {
		return "", false
	}
	return object + "." + member, true
}
