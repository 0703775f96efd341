package main

import (
	"bufio"
	"strings"
	"testing"
)

func TestReadAnswer(t *testing.T) {
	const long = "0123456789"
	for name, c := range map[string]struct {
		sent   string
		status int
		body   string
	}{
		"with a length":       {"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nX: y\r\n\r\nbody", 200, "body"},
		"empty":               {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, ""},
		"no reason":           {"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n!", 200, "!"},
		"in chunks":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 200, "abcde"},
		"hexadecimal":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n" + long + "\r\n0\r\n\r\n", 200, long},
		"extension, trailers": {"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nSum: 1\r\n\r\n", 200, "abc"},
	} {
		// Twice, since the next answer begins where this one ends.
		in := bufio.NewReader(strings.NewReader(c.sent + c.sent))
		for range 2 {
			status, body, err := readAnswer(in, []byte("before "))
			if status != c.status || string(body) != "before "+c.body || err != nil {
				t.Errorf("%s: status %d, %q, %v", name, status, body, err)
			}
		}
	}
}

func TestReadAnswerRefuses(t *testing.T) {
	for name, sent := range map[string]string{
		"nothing":          "",
		"another protocol": "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"no status":        "HTTP/1.1 OK\r\n\r\n",
		"no length":        "HTTP/1.1 200 OK\r\n\r\n",
		"a bad length":     "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"half a head":      "HTTP/1.1 200 OK\r\nContent-Len",
		"half a body":      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody",
		"half a chunk":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
		"no last chunk":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"a longer chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
		"a bad chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
	} {
		if status, body, err := readAnswer(bufio.NewReader(strings.NewReader(sent)), nil); err == nil {
			t.Errorf("%s: status %d, %q, no error", name, status, body)
		}
	}
}
