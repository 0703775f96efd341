package rest_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/rest"
)

// A list of so many books, each of so many bytes at least, is held by no
// connection's buffers, where those are of this size.
const (
	long    = 2_500
	longRow = 2_000
	buffer  = 128 << 10
)

// longList is a catalogue with a long list of books.
var longList = dbtest.NewTemplate(func(ctx context.Context, url string) (err error) {
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
})

// serveLong starts a service on a copy of longList. The buffers of its connections are
// bounded, so that it waits for a client that does not read.
func serveLong(t *testing.T, url string, options rest.Options) *service {
	t.Helper()
	return serveWith(t, url, options, func(srv *http.Server) {
		srv.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			if err := c.(*net.TCPConn).SetWriteBuffer(buffer); err != nil {
				t.Error(err)
			}
			return ctx
		}
	})
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

// TestStreamBeginsEarly stops a list in the middle: its first byte has left by then.
func TestStreamBeginsEarly(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{})
		resume := s.stopLists()
		defer resume()
		client := s.readSlowly("/api/books")
		resume()
		read, err := client.rest()
		if got := len(answer{body: "{" + read}.rows(t)); err != nil || got != long {
			t.Errorf("the list has %d books, want %d (%v)", got, long, err)
		}
	})
}

// eventually asks until there is an answer.
func eventually(t *testing.T, ask func() string) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if answer := ask(); answer != "" {
			return answer
		}
	}
	t.Fatal("there was no answer in 10 seconds")
	return ""
}

// TestStreamFails takes the database away from under a list that is half read:
// no client takes what it has got for the whole.
func TestStreamFails(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]header{
		"plain": {"Accept: */*"}, "gzip": {"Accept-Encoding: gzip"}, "close": {"Connection: close"},
	} {
		t.Run(name, func(t *testing.T) {
			longList.Each(t, func(t *testing.T, url string) {
				s := serveLong(t, url, rest.Options{})
				id := rand.Text()
				resume := s.stopLists()
				defer resume()
				client := s.readSlowly("/api/books", append(headers, "X-Request-Id: "+id)...)
				s.takeAway(url)
				resume()
				read, err := client.rest()
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("reading on gives %d bytes and %v, want %v", len(read), err, io.ErrUnexpectedEOF)
				}
				if name != "gzip" && json.Valid([]byte("{"+read)) {
					t.Errorf("what was read is whole JSON: %s", clip(read))
				}
				eventually(t, func() string { return strings.Join(s.log.linesWith("level=ERROR", `msg="request failed"`, id), "") })
			})
		})
	}
}

// TestLastClientGoes lets garbage be collected while the last client of a list goes.
func TestLastClientGoes(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{})
		collect := func(ctx context.Context) {
			<-ctx.Done()
			runtime.GC()
		}
		s.lists.pause.Store(&collect)
		const list = "/api/books?sort=-id"
		for i, client := range []*slow{s.readSlowly(list), s.readSlowly(list)} {
			client.conn.Close()
			eventually(t, func() string {
				if lines := s.log.linesWith("msg=request ", "aborted=true"); len(lines) > i {
					return "it has gone"
				}
				return ""
			})
			runtime.GC() // what the answer was asked with is used no more
		}
		if read := s.lists.read.Load(); read != 1 {
			t.Errorf("%d lists were read, want one for both", read)
		}
	})
}

// takeAway makes further reads of what the service is reading now fail.
func (s *service) takeAway(url string) {
	s.Helper()
	if path, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
		if err := os.Truncate(path, 4096); err != nil {
			s.Fatal(err)
		}
		return
	}
	// The list's own is stopped within its transaction: it is ended once no other is there.
	eventually(s.T, func() string {
		var ended int
		err := s.sql.QueryRowContext(s.Context(), `SELECT count(pg_terminate_backend(pid)) FROM
(SELECT pid, count(*) OVER () AS backends FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction') idle
WHERE backends = 1`).Scan(&ended)
		if err != nil || ended > 1 {
			s.Fatalf("%d backends were ended: %v", ended, err)
		}
		return strings.Repeat("one", ended)
	})
}

// TestStreamIsOneSnapshot writes while a client reads: it sees nothing of it.
func TestStreamIsOneSnapshot(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{})
		before := s.want(http.StatusOK, "GET", "/api/books", "")
		resume := s.stopLists()
		defer resume()
		client := s.readSlowly("/api/books")
		s.want(http.StatusCreated, "POST", "/api/books", hobbit)
		s.want(http.StatusOK, "PUT", fmt.Sprint("/api/books/", long), hobbit)
		s.want(http.StatusOK, "DELETE", fmt.Sprint("/api/books/", long-1), "")
		s.want(http.StatusOK, "PUT", "/api/categories/1", `{"name":"Tales"}`)
		s.mutate(`mutation{updateGenre(input:{id:1 patch:{name:"Myths"}}){genre{id}}}`, "")
		s.exec(`DELETE FROM books WHERE id BETWEEN 1001 AND 2000`)
		resume()

		read, err := client.rest()
		if err != nil {
			t.Fatal(err)
		}
		if "{"+read != before.body || client.Header.Get("ETag") != before.header.Get("ETag") {
			t.Errorf("the list that was read meanwhile is another: %d bytes, before %d; %s, before %s", len(read)+1, len(before.body), client.Header.Get("ETag"), before.header.Get("ETag"))
		}
		after := s.want(http.StatusOK, "GET", "/api/books", "")
		if got, want := len(after.rows(t)), long-1000; got != want || after.header.Get("ETag") == before.header.Get("ETag") {
			t.Errorf("afterwards there are %d books, want %d", got, want)
		}
	})
}

// TestSlowReaders lets more clients than there are connections to the database read the
// same list slowly: it is read once, then holds no connection and no snapshot,
// everything else is answered as ever, and each client gets the whole.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{})
		whole := s.want(http.StatusOK, "GET", "/api/books", "").body
		before := s.lists.read.Load()
		var clients []*slow
		for range 20 {
			clients = append(clients, s.readSlowly("/api/books"))
		}
		if n := s.lists.read.Load() - before; n != 1 {
			t.Errorf("the list was read %d times for %d clients", n, len(clients))
		}
		eventually(t, func() string {
			for _, pool := range s.store.Pools() {
				if pool.Stats().InUse > 0 {
					return ""
				}
			}
			return "no connection is in use"
		})
		s.want(http.StatusOK, "GET", "/api/genres", "")
		s.want(http.StatusOK, "GET", "/api/categories", "")
		s.want(http.StatusOK, "GET", "/api/books?sort=-id", "")
		s.want(http.StatusOK, "GET", "/api/books?per_page=1000", "")
		s.want(http.StatusCreated, "POST", "/api/books", hobbit)
		s.want(http.StatusOK, "DELETE", "/api/books/2", "")
		s.mutate(`{books(first:100){totalCount nodes{genre{category{name}}}}}`, "")
		if strings.HasPrefix(url, "sqlite:") {
			var busy, log, copied int
			if err := s.sql.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &copied); err != nil || busy != 0 {
				t.Errorf("the write-ahead log could not be emptied: %d, %v", busy, err)
			}
		}
		for _, client := range clients {
			if read, err := client.rest(); err != nil || "{"+read != whole {
				t.Errorf("a client that read on got %d bytes and %v", len(read), err)
			}
		}
	})
}

// TestSlowReadersOfGzip lets many clients read a compressed list slowly: it is read and
// compressed once, and each gets the whole.
func TestSlowReadersOfGzip(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{})
		whole := s.want(http.StatusOK, "GET", "/api/books", "").body
		before := s.lists.read.Load()
		var clients []*http.Response
		for range 4 {
			request, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/api/books", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept-Encoding", "gzip")
			client, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Body.Close()
			clients = append(clients, client)
		}
		for _, client := range clients {
			body, err := gzip.NewReader(client.Body)
			if err != nil || client.Header.Get("Content-Encoding") != "gzip" || !strings.HasSuffix(client.Header.Get("ETag"), `-gzip"`) {
				t.Fatal(client.Header, err)
			}
			if read, err := io.ReadAll(body); err != nil || string(read) != whole {
				t.Errorf("%d bytes and %v", len(read), err)
			}
		}
		if n := s.lists.read.Load() - before; n != 1 {
			t.Errorf("the list was read %d times", n)
		}
		s.want(http.StatusNotModified, "GET", "/api/books", "", "If-None-Match: "+header(clients[0].Header.Get("ETag")))
	})
}

// TestListsThatDoNotFit has no room for what clients do not take: who has got
// nothing yet is told so, and who has is cut.
func TestListsThatDoNotFit(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{SpoolBytes: 1})
		client := s.readSlowly("/api/books")
		read, err := client.rest()
		refused := client.StatusCode == http.StatusServiceUnavailable && client.Header.Get("Retry-After") == "1" && strings.HasPrefix(read, `"success":false`)
		if !refused && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("status %d, %d bytes, %v", client.StatusCode, len(read), err)
		}
		s.want(http.StatusOK, "GET", "/api/genres", "")
		s.want(http.StatusOK, "GET", "/api/books?per_page=100", "")
	})
}

// TestSlowPages lets clients read pages slowly, more than there are connections
// to the database: none waits for another.
func TestSlowPages(t *testing.T) {
	t.Parallel()
	const timeout = 20 * time.Second
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{Timeout: timeout})
		start := time.Now()
		for range 20 {
			if client := s.readSlowly("/api/books?per_page=1000"); client.StatusCode != http.StatusOK {
				t.Fatal(client.Status)
			}
		}
		if took := time.Since(start); took >= timeout {
			t.Errorf("the clients waited for %v", took)
		}
	})
}

// TestClientsGo lets clients go away in the middle of a list. That is no fault,
// and holds nothing.
func TestClientsGo(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, rest.Options{})
		id := rand.Text()
		const clients = 30
		for range clients {
			s.readSlowly("/api/books", "X-Request-Id: "+id).conn.Close()
		}
		eventually(t, func() string {
			if lines := s.log.linesWith("msg=request ", id); len(lines) == clients {
				return "all are done"
			}
			return ""
		})
		if lines := s.log.linesWith("level=ERROR", id); len(lines) > 0 {
			t.Errorf("the log says %q", lines)
		}
		s.want(http.StatusOK, "GET", "/api/books", "")
	})
}

// TestClientGivesUp lets a client go that waits for a row which another holds.
// That is no fault either, and the row stays as it is.
func TestClientGivesUp(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		id := rand.Text()
		s.holding(1, func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := s.try(ctx, "PUT", "/api/categories/1", `{"name":"Tales"}`, "X-Request-Id: "+id); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the client got %v", err)
			}
			eventually(t, func() string { return strings.Join(s.log.linesWith("msg=request ", id), "") })
		})
		if lines := s.log.linesWith("level=ERROR", id); len(lines) > 0 {
			t.Errorf("the log says %q", lines)
		}
		if tag := s.tag("/api/categories/1"); tag != `"1"` {
			t.Errorf("the row is at version %s", tag)
		}
	})
}

// TestStreamMemory reads a list of many megabytes, in which every row has a
// parent of its own: the service holds but a part of it at a time.
func TestStreamMemory(t *testing.T) {
	const genres, parent = 11_000, 2_000 // more than are kept in memory for all requests
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // so that little of the heap is waste
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		s.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO categories (name, description) SELECT 'Category', $2 FROM n`, genres, strings.Repeat("d", parent))
		s.exec(`INSERT INTO genres (name, category_id) SELECT 'Genre', id FROM categories ORDER BY id`)
		// The first time, the service finds out that they are too many.
		s.want(http.StatusOK, "GET", "/api/genres", "")
		var statements atomic.Int64
		s.store.Observe(func(context.Context, stats.Statement) { statements.Add(1) })
		response := s.send("GET", "/api/genres", "")
		defer response.Body.Close()
		runtime.GC()
		before, most, total := heap(), uint64(0), 0
		for part := make([]byte, 256<<10); ; {
			n, err := io.ReadFull(response.Body, part)
			total += n
			most = max(most, heap())
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) && n > 0 {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d MB were read; the heap grew by %d MB", total>>20, int(most-before)>>20)
		if total < genres*parent || most > before+genres*parent/4 {
			t.Errorf("of a list of %d bytes, %d were held", total, most-before)
		}
		if n := statements.Load(); n > genres/100 { // the parents of a part are read at once
			t.Errorf("%d statements read %d rows", n, genres)
		}
	})
}
