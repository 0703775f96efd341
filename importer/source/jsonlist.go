package source

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// findArray returns the keys that lead to an array of objects in the object at the start of a text, if more names of
// its first object are known than of the outer object, and as many as of that with its nested objects. Arrays of the outer
// object are none of its names, because they may be lists of authors. Otherwise it returns nil. Several such arrays are an error.
func findArray(start []byte, h Header) (path []string, err error) {
	first := map[string][]string{} // by path: the names of the first object
	paths := map[string][]string{}
	outer, _ := walk(objects(start), nil, func(at, names []string) {
		key := strings.Join(at, "\x00")
		first[key], paths[key] = names, at
	})
	outer = slices.DeleteFunc(outer, func(name string) bool { return paths[name] != nil }) // lists, of authors too
	most := h.Matched(outer) - 1
	outer = slices.DeleteFunc(outer, func(name string) bool { return strings.Contains(name, ".") })
	most = max(most, h.Matched(outer))
	for _, key := range slices.Sorted(maps.Keys(first)) {
		switch n := h.Matched(first[key]); {
		case n > most:
			path, most, err = paths[key], n, nil
		case n == most && path != nil:
			err = severalLists(path, paths[key])
		}
	}
	return path, err
}

// findObjects reports whether the records are the members of an object in the object at the start of a text, and the keys
// that lead to it, or whether they are objects that follow each other over several lines. Records have at least two known
// names. Several such objects are an error.
func findObjects(start []byte, h Header) (path []string, isKeyed, isStream bool, err error) {
	line, _, _ := bytes.Cut(start, []byte("\n"))
	isLine := jsontext.Value(line).IsValid()
	in := newDecoder(bytes.NewReader(start))
	isFollowed := in.SkipValue() == nil && len(bytes.TrimSpace(start[in.InputOffset():])) > 0
	outer, walkErr := walk(objects(start), nil, func([]string, []string) {})
	outer = slices.DeleteFunc(outer, func(name string) bool { return strings.Contains(name, ".") })
	if h.Matched(outer) > 1 || isFollowed {
		return nil, false, walkErr == nil && !isLine, nil
	}
	paths, _, _ := findKeyed(objects(start), nil, h)
	switch {
	case len(paths) == 0:
		path, err = widestArray(start)
		return path, false, false, err
	case len(paths) > 1:
		return nil, false, false, severalLists(paths[0], paths[1])
	}
	return paths[0], true, false, nil
}

// minNames is the minimum number of names of a record in a list without known names.
const minNames = 3

// widestArray returns the keys that lead to the array whose first object has most names, and as many as the object at the start
// of a text has above it. It serves lists without known names. Two such arrays are an error.
func widestArray(start []byte) (path []string, err error) {
	most := minNames - 1
	var other []string
	outer, _ := walk(objects(start), nil, func(at, names []string) {
		switch {
		case len(names) > most:
			path, other, most = at, nil, len(names)
		case len(names) == most && path != nil:
			other = at
		}
	})
	outer = slices.DeleteFunc(outer, func(name string) bool { return strings.Contains(name, ".") })
	if path == nil || len(outer) > most {
		return nil, nil
	}
	if other != nil {
		return nil, severalLists(path, other)
	}
	return path, nil
}

func severalLists(first, second []string) error {
	return fmt.Errorf("the file has several lists of books, such as %.60q and %.60q: put all books in one list",
		strings.Join(first, "."), strings.Join(second, "."))
}

// maxObjects is the maximum number of objects at the start of a text that are compared with books.
const maxObjects = 1000

// objectDecoder reads the objects at the start of a text, which may be cut.
type objectDecoder struct {
	*jsontext.Decoder
	count int
}

func objects(start []byte) *objectDecoder {
	return &objectDecoder{Decoder: newDecoder(bytes.NewReader(start))}
}

// begin reads the start of an object. It returns io.EOF after maxObjects, as if the text were cut.
func (d *objectDecoder) begin() error {
	if d.count++; d.count > maxObjects {
		return io.EOF
	}
	_, err := d.ReadToken()
	return err
}

// findKeyed reads an object, which may be cut. It returns the paths of the objects whose members are all records, and the
// names of the object.
func findKeyed(in *objectDecoder, path []string, h Header) (paths [][]string, names []string, err error) {
	members, records, alike := 0, 0, 0
	var first []string // names of the first record
	err = in.begin()
	for err == nil && in.PeekKind() == jsontext.KindString {
		token, _ := in.ReadToken()
		name := token.String()
		names = append(names, name)
		members++
		if in.PeekKind() != jsontext.KindBeginObject || len(path) == maxPath {
			err = in.SkipValue()
			continue
		}
		var inner [][]string
		var nested []string
		inner, nested, err = findKeyed(in, append(slices.Clone(path), name), h)
		names = appendJoined(names, name, nested)
		if members == 1 {
			first = nested
		}
		if len(nested) >= minNames && slices.Equal(nested, first) {
			alike++
		}
		if h.Matched(nested) > 1 && len(inner) == 0 {
			records++
		} else if err != nil && records > 0 {
			members-- // the start of the text ends in it
		}
		paths = append(paths, inner...)
	}
	if records > 0 && records == members || len(paths) == 0 && alike > 1 && alike == members {
		paths = append(paths, append([]string{}, path...))
	}
	if err == nil {
		_, err = in.ReadToken() // }
	}
	return paths, names, err
}

// maxPath is the maximum number of keys that lead to a list or a name.
const maxPath = 6

// MaxName is the maximum number of bytes of a column's name that is a key, with those of the objects that it is in:
// volumeInfo.title. A longer one is left out, because it would stand before each name of its object.
const MaxName = 250

// joinNames joins the names of an object and of one of its members.
func joinNames(object, member string) (name string, ok bool) {
	if len(object)+len(member) >= MaxName {
		return "", false
	}
	return object + "." + member, true
}

// appendJoined adds the names of an object's members.
func appendJoined(names []string, object string, members []string) []string {
	for _, member := range members {
		if name, ok := joinNames(object, member); ok {
			names = append(names, name)
		}
	}
	return names
}

// walk reads an object and returns its names, with those of nested objects after a point. It calls fn with the path of
// each array and the names of its first object.
func walk(in *objectDecoder, path []string, fn func(path, names []string)) (names []string, err error) {
	err = in.begin()
	for err == nil && in.PeekKind() == jsontext.KindString {
		token, _ := in.ReadToken()
		name := token.String()
		names = append(names, name)
		inner := append(slices.Clone(path), name)
		switch kind := in.PeekKind(); {
		case len(inner) >= maxPath, len(name) > MaxName:
			err = in.SkipValue()
		case kind == jsontext.KindBeginObject:
			var nested []string
			nested, err = walk(in, inner, fn)
			names = appendJoined(names, name, nested)
		case kind == jsontext.KindBeginArray:
			_, err = in.ReadToken()
			if in.PeekKind() == jsontext.KindBeginObject {
				var first []string
				first, err = walk(in, inner, fn)
				fn(inner, first)
			}
			for err == nil && in.PeekKind() != jsontext.KindEndArray {
				err = in.SkipValue()
			}
			if err == nil {
				_, err = in.ReadToken() // ]
			}
		default:
			err = in.SkipValue()
		}
	}
	if err == nil {
		_, err = in.ReadToken() // }
	}
	return names, err
}
