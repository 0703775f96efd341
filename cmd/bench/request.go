package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync/atomic"
)

// request is a kind of request, and how to know a right answer.
type request struct {
	method string
	path   template
	header string // further lines, each with its end
	body   template

	expect string // what every right answer holds
	names  int    // how many names of rows are in it; 0: not known
	equal  []byte // the whole answer, where it is known
}

// append appends the request as it is sent; body is a buffer to use again.
func (q *request) append(dst, body []byte, random *rand.Rand) (_, _ []byte) {
	body = q.body.append(body[:0], random)
	dst = append(append(dst, q.method...), ' ')
	dst = q.path.append(dst, random)
	dst = append(dst, " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"...)
	dst = append(dst, q.header...)
	if len(body) > 0 {
		dst = append(dst, "Content-Type: application/json\r\nContent-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(body)), 10)
		dst = append(dst, "\r\n"...)
	}
	return append(append(dst, "\r\n"...), body...), body
}

// check tells whether an answer is right, as far as can be told quickly.
func (q *request) check(a answer) error {
	const most = 1 << 10 // errors stand before the data or after it
	head, tail := a.body[:min(most, len(a.body))], a.body[max(0, len(a.body)-most):]
	wrong := a.status/100 != 2 || !bytes.Contains(a.body, []byte(q.expect))
	for _, part := range [][]byte{head, tail} {
		wrong = wrong || bytes.Contains(part, []byte(`"errors":`))
	}
	if wrong {
		return fmt.Errorf("a wrong answer: status %d, %.300s", a.status, a.body)
	}
	return nil
}

// checkWhole looks at more than check does.
func (q *request) checkWhole(a answer) error {
	if err := q.check(a); err != nil {
		return err
	}
	if n := bytes.Count(a.body, []byte(`"name":`)); q.names > 0 && n != q.names {
		return fmt.Errorf("an answer has %d names in place of %d: %.300s", n, q.names, a.body)
	}
	if q.equal != nil && !bytes.Equal(a.body, q.equal) {
		return fmt.Errorf("an answer is not the same as the service's: %.300s", a.body)
	}
	return nil
}

// template is a text with places for values that differ from request to request.
type template []part

type part struct {
	text  string
	value func(dst []byte, random *rand.Rand) []byte // nil: the text
}

// values are what a place can stand for. The workload files of other servers
// have the same places.
type values map[string]func(dst []byte, random *rand.Rand) []byte

func newValues(cursors []string) values {
	var created atomic.Int64
	integer := func(from, to int) func([]byte, *rand.Rand) []byte {
		return func(dst []byte, random *rand.Rand) []byte {
			return strconv.AppendInt(dst, int64(from+random.IntN(to-from+1)), 10)
		}
	}
	return values{
		"$ID":   integer(1, seededBooks),
		"$PAGE": integer(1, seededBooks/pageSize-1),
		"$GOFF": integer(0, seededGenres-genresOnPage),
		"$AFTER": func(dst []byte, random *rand.Rand) []byte { // the id before a page
			return strconv.AppendInt(dst, int64(random.IntN(seededBooks/pageSize-1)*pageSize), 10)
		},
		"$CURSOR": func(dst []byte, random *rand.Rand) []byte { return append(dst, cursors[random.IntN(len(cursors))]...) },
		"$PMIN":   integer(0, 19),
		"$PMAX":   integer(60, 99),
		"$AUTHOR": func(dst []byte, random *rand.Rand) []byte { return fmt.Appendf(dst, "uthor %d", 1+random.IntN(9)) },
		"$DATE": func(dst []byte, random *rand.Rand) []byte {
			return fmt.Appendf(dst, "%d-%02d-15", 1990+random.IntN(30), 1+random.IntN(12))
		},
		"$SEQ": func(dst []byte, _ *rand.Rand) []byte { return strconv.AppendInt(dst, created.Add(1), 10) },
	}
}

// place is in capitals: GraphQL's own variables here are not.
var place = regexp.MustCompile(`\$[A-Z]+`)

// template makes a template of a text. A place that nothing is known to stand
// for stays in it as it is.
func (v values) template(text string) (t template) {
	at := 0
	for _, found := range place.FindAllStringIndex(text, -1) {
		if value, ok := v[text[found[0]:found[1]]]; ok {
			t = append(t, part{text: text[at:found[0]]}, part{value: value})
			at = found[1]
		}
	}
	return append(t, part{text: text[at:]})
}

func (t template) append(dst []byte, random *rand.Rand) []byte {
	for _, p := range t {
		if p.value != nil {
			dst = p.value(dst, random)
		} else {
			dst = append(dst, p.text...)
		}
	}
	return dst
}
