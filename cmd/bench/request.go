package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
)

// request is a kind of request: its variants as they are sent, and how to know a
// right answer.
type request struct {
	variants [][]byte
	expect   string // what every right answer holds
	names    int    // how many names of rows are in it; 0: unknown
}

// variants is how many requests of a kind are made beforehand, so that the load
// takes little of the processors that it shares with what it measures.
const variants = 10_000

// newRequest makes a request of texts with placeholders. header has further lines,
// each with its end.
func newRequest(method, path, header, body string, cursors []string) *request {
	q, n := new(request), 1
	if placeholder.MatchString(path + body) {
		n = variants
	}
	for range n {
		content := fill(body, cursors)
		if body != "" {
			content = fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(content), content)
		} else {
			content = "\r\n"
		}
		q.variants = append(q.variants, fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n%s%s",
			method, fill(path, cursors), header, content))
	}
	return q
}

type variables map[string]any

// graphQL returns a request whose answer has that many names.
func graphQL(header, query string, v variables, names int) *request {
	body, err := json.Marshal(map[string]any{"query": query, "variables": v})
	if err != nil {
		panic(err) // variables are made of texts and numbers
	}
	q := newRequest("POST", "/graphql", header, string(body), nil)
	q.names = names
	return q
}

// get returns a request whose answer has that many names.
func get(header, path string, cursors []string, names int) *request {
	q := newRequest("GET", path, header, "", cursors)
	q.names = names
	return q
}

// placeholder matches what differs from request to request. The workload files of
// other servers have the same. GraphQL's own variables here are in small letters.
var placeholder = regexp.MustCompile(`\$[A-Z]+`)

// fill replaces the placeholders in text. An unknown one stays as it is.
func fill(text string, cursors []string) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		switch name {
		case "$ID":
			return integer(1, seededBooks)
		case "$PAGE":
			return integer(1, seededBooks/pageSize-1)
		case "$AFTER": // the id before a page
			return strconv.Itoa(rand.IntN(seededBooks/pageSize-1) * pageSize)
		case "$CURSOR":
			return cursors[rand.IntN(len(cursors))]
		case "$GOFF":
			return integer(0, seededGenres-genresOnPage)
		case "$PMIN":
			return integer(0, 19)
		case "$PMAX":
			return integer(60, 99)
		case "$AUTHOR":
			return "uthor " + integer(1, 9)
		case "$DATE":
			return fmt.Sprintf("%d-%02d-15", 1990+rand.IntN(30), 1+rand.IntN(12))
		case "$SEQ":
			return integer(1, 1_000_000_000)
		}
		return name
	})
}

func integer(from, to int) string { return strconv.Itoa(from + rand.IntN(to-from+1)) }

// check returns an error for a wrong answer.
func (q *request) check(status int, body []byte) error {
	const edge = 1 << 10 // errors stand before the data or after it
	head, tail := body[:min(edge, len(body))], body[max(0, len(body)-edge):]
	failed := []byte(`"errors":`)
	if status/100 != 2 || !bytes.Contains(body, []byte(q.expect)) || bytes.Contains(head, failed) || bytes.Contains(tail, failed) {
		return fmt.Errorf("a wrong answer: status %d, %.300s", status, body)
	}
	if n := bytes.Count(body, []byte(`"name":`)); q.names > 0 && n != q.names {
		return fmt.Errorf("an answer has %d names in place of %d: %.300s", n, q.names, body)
	}
	return nil
}
