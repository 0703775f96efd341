//go:build soak

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
	"library-catalogue/server/attack"
)

// counter counts how often a text comes in what is written to it.
type counter struct {
	text  []byte
	n     int
	rest  []byte // the end of the last piece, in which the text may have begun
	piece []byte
}

func (c *counter) Write(p []byte) (int, error) {
	c.piece = append(append(c.piece[:0], c.rest...), p...)
	c.n += bytes.Count(c.piece, c.text)
	c.rest = append(c.rest[:0], c.piece[max(0, len(c.piece)-len(c.text)+1):]...)
	return len(p), nil
}

// readList reads the list of all books at so many bytes a second, and returns how
// many there were.
func (s *target) readList(ctx context.Context, from net.IP, perSecond int64) (int, error) {
	const pieces = 4 // a second
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, network, address)
		if err == nil {
			err = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		}
		return conn, err
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.public+"/api/books", nil)
	if err != nil {
		return 0, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %d", answer.StatusCode)
	}
	books := counter{text: []byte(`"author":`)}
	for due := time.Now(); ; time.Sleep(time.Until(due)) {
		due = due.Add(time.Second / pieces)
		if _, err := io.CopyN(&books, answer.Body, perSecond/pieces); err == io.EOF {
			return books.n, nil
		} else if err != nil {
			return books.n, err
		}
	}
}

// TestSlowReaders has many read the list of all books, each for minutes. All get
// it, the server's memory stays small, and nobody else notices.
func TestSlowReaders(t *testing.T) {
	const (
		readers   = 200
		perSecond = 400_000
		maxMemory = 150 << 20
	)
	program := targetProgram(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		s := startTarget(t, program, database, soakBooks)
		others := newHonest(t, s, "")
		others.measure(t.Context(), time.Second)
		alone := others.measure(t.Context(), 10*time.Second)
		s.resetPeak(t)
		var reading sync.WaitGroup
		var left atomic.Int64
		for i := range readers {
			left.Add(1)
			reading.Go(func() {
				defer left.Add(-1)
				begun := time.Now()
				books, err := s.readList(t.Context(), net.IPv4(127, 0, 2, byte(1+i)), perSecond)
				if err != nil || books != soakBooks {
					t.Errorf("reader %d has %d books after %v: %v", i, books, time.Since(begun), err)
				}
			})
		}
		for left.Load() > 0 {
			beside := others.measure(t.Context(), 10*time.Second)
			for i, k := range kinds {
				if line := crossed(beside[i], alone[i], 1); line != "" {
					t.Errorf("%d readers, %s: %s", left.Load(), k.name, line)
				}
			}
		}
		reading.Wait()
		peak := s.peak(t)
		t.Logf("%d MB of memory", peak>>20)
		if peak > maxMemory {
			t.Errorf("%d MB of memory were held, more than %d", peak>>20, maxMemory>>20)
		}
	})
}

// TestWALStaysSmall mixes reads, slow readers and writes for ten minutes, or 300
// times what the drill is told.
func TestWALStaysSmall(t *testing.T) {
	const maxWAL = 64 << 20
	database := dbtest.SQLite(t)
	s := startTarget(t, targetProgram(t), database, soakBooks, "CATALOGUE_RATE=0", "CATALOGUE_MAX_CONNECTIONS=4000") // each client keeps some 250
	end := time.Now().Add(300 * drillDuration(t))
	slow := -1
	for i, a := range attack.All() {
		if strings.HasSuffix(a.Name, "lists, 64 kB a second") {
			slow = i
		}
	}
	defer s.attack(t, slow, slow+1, attack.Crowd{Clients: 4})()
	var mixing sync.WaitGroup
	for range 4 {
		mixing.Go(func() { newHonest(t, s, "").measure(t.Context(), time.Until(end)) })
	}
	for i, k := range kinds {
		if k.token { // writes, as fast as they are answered
			writer := newHonest(t, s, "")
			mixing.Go(func() {
				for n := 0; time.Now().Before(end); n++ {
					if _, err := writer.ask(t.Context(), i, n); err != nil {
						t.Errorf("%s: %v", k.name, err)
					}
				}
			})
		}
	}
	var most int64
	for ; time.Now().Before(end); time.Sleep(250 * time.Millisecond) {
		wal, err := os.Stat(s.database + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, wal.Size())
	}
	mixing.Wait()
	t.Logf("%d MB", most>>20)
	if most > maxWAL {
		t.Errorf("the write-ahead log was %d MB long, more than %d", most>>20, maxWAL>>20)
	}
}

// TestTornAnswers asks for one list in several ways while others write to it.
func TestTornAnswers(t *testing.T) {
	const (
		writers, readers = 4, 4
		answers          = 20_000
	)
	program := targetProgram(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		s := startTarget(t, program, database, 1_000, "CATALOGUE_RATE=0")
		token := newHonest(t, s, "").people[0].token
		send := func(cache, query string) (answer struct {
			Data struct {
				A, B struct {
					TotalCount int
					Nodes      []struct{ ID string }
					Aggregate  struct{ Count int }
				}
				CreateBook struct{ Book struct{ ID string } }
			}
		}) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.public+"/graphql", strings.NewReader(`{"query":"`+strings.ReplaceAll(query, `"`, `\"`)+`"}`))
			if err != nil {
				t.Error(err)
				return answer
			}
			request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}, "Cache-Control": {cache}}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Error(err)
				return answer
			}
			defer response.Body.Close()
			if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("status %d: %v", response.StatusCode, err)
			}
			return answer
		}
		var writing, reading sync.WaitGroup
		var left, torn atomic.Int64
		left.Store(answers)
		for range writers {
			writing.Go(func() {
				for left.Load() > 0 {
					created := send("", `mutation { createBook(input: {name: "New", pages: 1, publishedAt: "2000-01-01", author: "Torn", price: 1, genreId: 1}) { book { id } } }`)
					send("", `mutation { deleteBook(input: {id: "`+created.Data.CreateBook.Book.ID+`"}) { deletedBookId } }`)
				}
			})
		}
		for i := range readers {
			reading.Go(func() {
				cache := []string{"", "no-cache"}[i%2]
				const list = `: books(first: 1000, filter: {author: {eq: "Torn"}}) { totalCount nodes { id } aggregate { count } }`
				for left.Add(-1) >= 0 {
					d := send(cache, "{ a"+list+" b"+list+" }").Data
					for _, count := range []int{len(d.A.Nodes), d.A.Aggregate.Count, d.B.TotalCount, len(d.B.Nodes), d.B.Aggregate.Count} {
						if count != d.A.TotalCount {
							torn.Add(1)
							break
						}
					}
				}
			})
		}
		reading.Wait()
		writing.Wait()
		if torn.Load() > 0 {
			t.Errorf("%d of %d answers are not of one moment", torn.Load(), answers)
		}
	})
}

// TestSecondSignal ends a server at once that waits for somebody who does not read.
func TestSecondSignal(t *testing.T) {
	s := startTarget(t, targetProgram(t), dbtest.SQLite(t), soakBooks)
	conn, err := net.Dial("tcp", s.public)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /api/books HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, 1<<10)); err != nil {
		t.Fatal(err)
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.exited:
		t.Fatal("it has not waited")
	case <-time.After(3 * time.Second):
	}
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.exited:
	case <-time.After(time.Second):
		t.Error("it still waits a second after the second signal")
	}
}
