package graphqlhttp

import (
	"encoding/json"
	"strings"

	"library-catalogue/graph/model"
)

// jsonReader goes through a JSON text.
type jsonReader struct {
	text string
	at   int
}

// next gives the byte after white space, or 0, which begins nothing, at the end.
func (r *jsonReader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// more tells whether an array or object has one more item before its closing
// bracket, and goes past the comma or the bracket.
func (r *jsonReader) more(items int, closing byte) (bool, error) {
	switch c := r.next(); {
	case c == closing:
		r.at++
		return false, nil
	case items == 0:
		return true, nil
	case c == ',':
		r.at++
		return true, nil
	}
	return false, errNotObject
}

// word goes past what ends where a number or a name does.
func (r *jsonReader) word() string {
	start := r.at
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case ' ', '\n', '\r', '\t', ',', ']', '}':
			return r.text[start:r.at]
		}
	}
	return r.text[start:]
}

// quoted goes past a string, and gives it with its quotes.
func (r *jsonReader) quoted() (_ string, ok bool) {
	if r.next() != '"' {
		return "", false
	}
	start := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		r.at += model.Plain(r.text[r.at:])
		if r.at == len(r.text) {
			break
		}
		switch r.text[r.at] {
		case '"':
			r.at++
			return r.text[start:r.at], true
		case '\\':
			r.at++
		default:
			return "", false
		}
	}
	return "", false
}

// member goes to the value of the next member of an object in canonical form, of
// which n were read.
func (r *jsonReader) member(n int) (name string, ok bool) {
	if n == 0 {
		r.at++ // the bracket
	}
	if more, _ := r.more(n, '}'); !more {
		return "", false
	}
	quoted, _ := r.quoted()
	r.at++ // the colon
	return unquote(quoted), true
}

// raw goes past a value in canonical form, and gives its text.
func (r *jsonReader) raw() string {
	start, depth := r.at, 0
	for {
		switch r.text[r.at] {
		case '{', '[':
			depth++
			r.at++
		case '}', ']':
			depth--
			r.at++
		case '"':
			r.quoted()
		case ',', ':':
			r.at++
		default:
			r.word()
		}
		if depth == 0 {
			return r.text[start:r.at]
		}
	}
}

// unquote gives the string of a JSON text.
func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(quoted), &text) // it was looked at before
	return text
}

// memberOf gives the text of a member of an object in canonical form, "" where there
// is none.
func memberOf(object, name string) string {
	if object == "" || object[0] != '{' {
		return ""
	}
	r := jsonReader{text: object}
	for n := 0; ; n++ {
		found, ok := r.member(n)
		if !ok {
			return ""
		}
		if value := r.raw(); found == name {
			return value
		}
	}
}
