package rest_test

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/rest"
	"library-catalogue/server"
)

// ask sends a request from a goroutine of its own.
func (s *service) ask(target string, headers ...header) <-chan answer {
	answered := make(chan answer, 1)
	go func() {
		response, err := s.try(s.Context(), "GET", target, "", headers...)
		if err != nil {
			s.Error(err)
			answered <- answer{}
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			s.Error(err)
		}
		answered <- answer{response.StatusCode, response.Header, string(body)}
	}()
	return answered
}

// TestWholeFails takes the database away from under a list that is half read: its clients
// get an error, and nothing of the list.
func TestWholeFails(t *testing.T) {
	t.Parallel()
	for name, headers := range map[string][]header{"plain": nil, "gzip": {"Accept-Encoding: gzip"}} {
		t.Run(name, func(t *testing.T) {
			longList.Each(t, func(t *testing.T, url string) {
				s := serveLong(t, url, server.Config{})
				id := rand.Text()
				reading, resume := s.stopLists()
				defer resume()
				asked := s.ask("/api/books", append(headers, "X-Request-Id: "+id)...)
				<-reading
				s.takeAway(url)
				resume()
				if a := <-asked; a.status != http.StatusServiceUnavailable && a.status != http.StatusInternalServerError || !strings.HasPrefix(a.body, `{"success":false`) {
					t.Errorf("status %d: %s", a.status, clip(a.body))
				}
				eventually(t, func() string { return strings.Join(s.log.linesWith("level=ERROR", `msg="request failed"`, id), "") })
			})
		})
	}
}

// TestClientGoes lets the client of a list go while it is read: the reading ends. That the
// last of several ends it is spool.TestLastReaderStops.
func TestClientGoes(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{})
		reading, ended := make(chan struct{}), make(chan struct{})
		untilTheEnd := func(ctx context.Context) {
			close(reading)
			<-ctx.Done()
			close(ended)
		}
		s.lists.pause.Store(&untilTheEnd)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-reading
			cancel()
		}()
		if response, err := s.try(ctx, "GET", "/api/books?sort=-id", ""); err == nil {
			response.Body.Close()
			t.Error("there is an answer")
		}
		<-ended
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
		s := serveLong(t, url, server.Config{})
		before := s.want(http.StatusOK, "GET", "/api/books", "")
		reading, resume := s.stopLists()
		defer resume()
		asked := s.ask("/api/books")
		<-reading
		s.want(http.StatusCreated, "POST", "/api/books", hobbit)
		s.want(http.StatusOK, "PUT", fmt.Sprint("/api/books/", long), hobbit)
		s.want(http.StatusOK, "DELETE", fmt.Sprint("/api/books/", long-1), "")
		s.want(http.StatusOK, "PUT", "/api/categories/1", `{"name":"Tales"}`)
		s.mutate(`mutation{updateGenre(input:{id:1 patch:{name:"Myths"}}){genre{id}}}`, "")
		s.exec(`DELETE FROM books WHERE id BETWEEN 1001 AND 2000`)
		resume()

		a := <-asked
		if a.body != before.body || a.header.Get("ETag") != before.header.Get("ETag") {
			t.Errorf("the list that was read meanwhile is another: %d bytes, before %d; %s, before %s", len(a.body), len(before.body), a.header.Get("ETag"), before.header.Get("ETag"))
		}
		after := s.want(http.StatusOK, "GET", "/api/books", "")
		if got, want := len(after.rows(t)), long-1000; got != want || after.header.Get("ETag") == before.header.Get("ETag") {
			t.Errorf("afterwards there are %d books, want %d", got, want)
		}
	})
}

// TestSlowReaders lets more clients than there are connections to the database read the same
// list slowly, half of them with gzip: it is read once for each coding, then holds no
// connection and no snapshot, and everything else is answered as ever. Half of the clients
// go, which is no fault, and each of the others gets the whole.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{})
		whole := s.want(http.StatusOK, "GET", "/api/books", "").body
		before := s.lists.read.Load()
		id := rand.Text()
		var plain, zipped, gone []*slow
		for range 10 {
			plain = append(plain, s.readSlowly("/api/books"))
			zipped = append(zipped, s.readSlowly("/api/books", "Accept-Encoding: gzip"))
			gone = append(gone, s.readSlowly("/api/books", "X-Request-Id: "+id))
		}
		tag := s.want(http.StatusOK, "HEAD", "/api/books?sort=name", "").header.Get("ETag")
		s.want(http.StatusNotModified, "GET", "/api/books?sort=name", "", "If-None-Match: "+tag)
		if n := s.lists.read.Load() - before; n != 2 {
			t.Errorf("the list was read %d times for all clients", n)
		}
		for _, client := range gone {
			client.conn.Close()
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
		s.want(http.StatusOK, "GET", "/api/books?sort=-id", "")
		s.want(http.StatusCreated, "POST", "/api/books", hobbit)
		s.mutate(`{books(first:100){totalCount nodes{genre{category{name}}}}}`, "")
		if strings.HasPrefix(url, "sqlite:") {
			var busy, log, copied int
			if err := s.sql.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &log, &copied); err != nil || busy != 0 {
				t.Errorf("the write-ahead log could not be emptied: %d, %v", busy, err)
			}
		}
		for _, client := range plain {
			if read, err := client.rest(); err != nil || "{"+read != whole {
				t.Errorf("a client that read on got %d bytes and %v", len(read), err)
			}
		}
		for _, client := range zipped {
			read, err := client.rest()
			unpacked, failed := gzip.NewReader(strings.NewReader("\x1f" + read))
			if err = errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(unpacked); err != nil || string(text) != whole {
				t.Errorf("a client with gzip got %d bytes and %v", len(text), err)
			}
		}
		eventually(t, func() string {
			return strings.Repeat("all are done", len(s.log.linesWith("msg=request ", id))/len(gone))
		})
		if lines := s.log.linesWith("level=ERROR", id); len(lines) > 0 {
			t.Errorf("the log says %q", lines)
		}
	})
}

// TestRoomForLists has no room for a list: it is refused, and shorter ones and pages are
// not. Where there is room for one, the client that reads the older list slowly is cut, and
// does not take the part for the whole.
func TestRoomForLists(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{REST: rest.Options{SpoolBytes: 1}})
		a := s.want(http.StatusServiceUnavailable, "GET", "/api/books", "")
		if a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "too long to be sent whole") || a.header.Get("ETag") != "" {
			t.Errorf("%v: %s", a.header, clip(a.body))
		}
		s.want(http.StatusServiceUnavailable, "GET", "/api/books?author=Somebody&price_max=1", "") // 100 books, of 200 KB
		s.want(http.StatusOK, "GET", "/api/genres", "")
		s.want(http.StatusOK, "GET", "/api/books?per_page=100", "")

		s = serveLong(t, url, server.Config{REST: rest.Options{SpoolBytes: long * longRow * 3 / 2}})
		client := s.readSlowly("/api/books")
		s.want(http.StatusOK, "GET", "/api/books?sort=-id", "")
		if read, err := client.rest(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the slow client got %d bytes and %v", len(read), err)
		}
	})
}

// TestWholeWithoutFiles has no directory for temporary files: a list is sent while it is
// read, and cut where that fails.
func TestWholeWithoutFiles(t *testing.T) {
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{})
		whole := s.want(http.StatusOK, "GET", "/api/books", "")
		t.Setenv("TMPDIR", t.TempDir()+"/missing")
		s = serveLong(t, url, server.Config{})
		streamed := s.want(http.StatusOK, "GET", "/api/books", "")
		if streamed.body != whole.body || streamed.header.Get("ETag") != whole.header.Get("ETag") {
			t.Errorf("%d bytes, want %d", len(streamed.body), len(whole.body))
		}
		client := s.readSlowly("/api/books") // which has not read the first part
		s.takeAway(url)
		if read, err := client.rest(); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a list that fails has %d bytes and %v", len(read), err)
		}
	})
}

// TestParentsOfAWholeList reads a list in which every row has a parent of its own, more than
// are kept in memory: the parents of a part are read at once.
func TestParentsOfAWholeList(t *testing.T) {
	t.Parallel()
	const genres = 11_000
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		s.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
INSERT INTO categories (name) SELECT 'Category' FROM n`, genres)
		s.exec(`INSERT INTO genres (name, category_id) SELECT 'Genre', id FROM categories ORDER BY id`)
		// The first time, the service finds out that they are too many.
		s.want(http.StatusOK, "GET", "/api/genres", "")
		var statements atomic.Int64
		s.store.Observe(func(context.Context, stats.Statement) { statements.Add(1) })
		if rows := s.want(http.StatusOK, "GET", "/api/genres", "").rows(t); len(rows) != genres {
			t.Errorf("%d genres, want %d", len(rows), genres)
		}
		if n := statements.Load(); n > genres/100 {
			t.Errorf("%d statements read %d rows", n, genres)
		}
	})
}
