package rest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/server"
)

// A list of so many books, each of so many bytes at least, is held by no
// connection's buffers, where those are of this size.
const (
	long    = 2_500
	longRow = 2_000
	buffer  = 128 << 10
)

// longList is a catalogue with a long list of books.
var longList = dbtest.NewTemplate(fillLong)

func fillLong(ctx context.Context, url string) (err error) {
	store, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(store.Migrate(ctx), store.Close()); err != nil {
		return err
	}
	to, err := openSQL(url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for _, text := range []string{
		`INSERT INTO categories (name) VALUES ('Fiction'), ('Science')`,
		`INSERT INTO genres (name, category_id) VALUES ('Fantasy', 1), ('Physics', 2), ('Poetry', 1)`,
	} {
		if _, err := to.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	// Punctuation by chance: it hardly compresses, and has no words, which would
	// have the indexes of the search take 40 times as long.
	const signs = "!#$&()*+,-./:;=?@[]^_{|}~"
	noise := mathrand.New(mathrand.NewPCG(1, 2))
	return insertBooks(ctx, to, 1, long, func(int) string {
		description := make([]byte, longRow)
		for i := range description {
			description[i] = signs[noise.IntN(len(signs))]
		}
		return string(description)
	})
}

// serveLong starts a service on a copy of longList. The buffers of its connections are
// bounded, so that it waits for a client that does not read.
func serveLong(t *testing.T, url string, cfg server.Config) *service {
	t.Helper()
	return serveWith(t, url, cfg, boundBuffers(t))
}

func boundBuffers(t *testing.T) func(*http.Server) {
	return func(srv *http.Server) {
		srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			if err := c.(*net.TCPConn).SetWriteBuffer(buffer); err != nil {
				t.Error(err)
			}
			return ctx
		}
	}
}

// slow is a client that has read the first byte of a list's body, and reads no
// further by itself.
type slow struct {
	*http.Response
	conn net.Conn
}

// readSlowly asks for a list. The answer may also be an error.
func (s *service) readSlowly(target string, headers ...header) *slow {
	s.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(buffer); err != nil {
		s.Fatal(err)
	}
	if len(headers) == 0 {
		headers = []header{"Accept: */*"}
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", target, strings.Join(headers, "\r\n")); err != nil {
		s.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil {
		s.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 1)); err != nil {
		s.Fatal(err)
	}
	return &slow{response, conn}
}

// rest reads what is left.
func (c *slow) rest() (string, error) {
	read, err := io.ReadAll(c.Body)
	return string(read), err
}

// eventually asks until there is an answer.
func eventually(t *testing.T, ask func() string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if ask() != "" {
			return
		}
	}
	t.Fatal("there was no answer in 10 seconds")
}
