package server_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// pagesOf is a catalogue of a few books: their pages by name. Each create has a new name, and each write
// a new number of pages, so the pages say which write a read has seen.
type pagesOf map[string]int

// text returns the catalogue as a state of a model, which must be comparable.
func (p pagesOf) text() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintln(&text, name, p[name])
	}
	return text.String()
}

func parsePages(text string) pagesOf {
	p := pagesOf{}
	for line := range strings.Lines(text) {
		var name string
		var pages int
		fmt.Sscan(line, &name, &pages)
		p[name] = pages
	}
	return p
}

// The outcomes of an operation.
const (
	done    = "done"
	missing = "missing" // 404
	stale   = "stale"   // the book does not have the expected version
	unknown = "unknown" // the write may be stored or not, now or later
)

// request is the input of an operation.
type request struct {
	kind     string // create, update, delete, read or list
	name     string
	pages    int // that a write sets
	expected int // pages of the version that a write expects, or 0 for any
}

// result is the output of an operation.
type result struct {
	outcome string
	pages   int    // of the book that was read
	list    string // the text of all books
}

// step is the model of a catalogue, which runs one operation after another. It returns whether the
// request may have the result, and the catalogue after it.
func step(books pagesOf, q request, r result) (bool, pagesOf) {
	pages, exists := books[q.name]
	isStale := q.expected != 0 && q.expected != pages
	switch {
	case q.kind == "list":
		return books.text() == r.list, books
	case q.kind == "create":
	case r.outcome == missing:
		return !exists, books
	case r.outcome == stale:
		return exists && isStale, books
	case !exists || isStale:
		return r.outcome == unknown, books
	case q.kind == "read":
		return pages == r.pages, books
	}
	books = maps.Clone(books)
	if books[q.name] = q.pages; q.kind == "delete" {
		delete(books, q.name)
	}
	return true, books
}

// modelFrom returns the model of a catalogue that begins with some books.
func modelFrom(books pagesOf) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return books.text() },
		Step: func(state, input, output any) (bool, any) {
			ok, after := step(parsePages(state.(string)), input.(request), output.(result))
			return ok, after.text()
		},
	}
}

// registers is the model of each book alone.
func registers() porcupine.Model {
	model := modelFrom(nil)
	model.Partition = func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		byName := map[string][]porcupine.Operation{}
		for _, op := range history {
			name := op.Input.(request).name
			byName[name] = append(byName[name], op)
		}
		return slices.Collect(maps.Values(byName))
	}
	return model
}

// known is a book as a client read it.
type known struct {
	name    string
	id      int
	pages   int
	version int    // of these pages, if GraphQL gave it
	etag    string // of these pages, if REST gave it
}

// linearity runs clients on servers of one catalogue and records their operations.
type linearity struct {
	*testing.T
	gateways []*servertest.Client
	begun    time.Time
	number   atomic.Int64 // of names and pages

	mu      sync.Mutex
	books   []known // that may exist
	history []porcupine.Operation
	sources map[string]int // of responses

	creates, deletes map[string]int64 // when they began, and ended
}

// TestLinearizable runs random reads of every kind and writes of a few books on two servers of one
// database, on PostgreSQL with two replicas whose replay pauses at random, and with connections that
// break. The responses must be those of one catalogue that runs one operation after another, each
// between its request and its response: of each book alone over the whole run, and of all books
// together, where a list is one read, in segments between which nothing runs.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		l := newLinearity(t, url)
		const clients, each = 4, 25 // operations of a client in a segment
		var byBook []porcupine.Operation
		for n := 0; n < dbtest.Runs(20_000) && !t.Failed(); n += clients * each {
			start := l.all()
			carried := len(l.history)
			var running sync.WaitGroup
			for client := range clients {
				r := rand.New(rand.NewPCG(uint64(n), uint64(client)))
				running.Go(func() {
					for range each {
						l.operate(client, r)
					}
				})
			}
			running.Wait()
			if found := porcupine.CheckOperationsTimeout(modelFrom(start), l.history, time.Minute); found != porcupine.Ok {
				t.Errorf("all books together: %s, from %v:\n%s", found, start, describe(l.history))
			}
			byBook = append(byBook, l.perBook(l.history[carried:])...)
			// A write without an outcome may also run later.
			l.history = slices.DeleteFunc(l.history, func(op porcupine.Operation) bool { return op.Return != math.MaxInt64 })
		}
		if found := porcupine.CheckOperationsTimeout(registers(), byBook, time.Minute); found != porcupine.Ok {
			t.Errorf("book by book: %s", found)
		}
		t.Logf("%d operations of single books, %d writes without an outcome, responses: %v", len(byBook), len(l.history), l.sources)
	})
}

// newLinearity starts two servers on a database.
func newLinearity(t *testing.T, url string) *linearity {
	var options db.Options
	if !strings.HasPrefix(url, "sqlite:") {
		cluster := dbtest.Durable(t)
		url = catalogtest.Migrate(t, cluster.Database(t))
		for range 2 {
			replica := cluster.Replica(t)
			options.ReplicaURLs = append(options.ReplicaURLs, replica.On(t, url))
			repeat(t, program(t, replica.On(t, url)), `SELECT pg_wal_replay_pause()`, `SELECT pg_wal_replay_resume()`)
		}
	}
	l := &linearity{T: t, begun: time.Now(), sources: map[string]int{}, creates: map[string]int64{}, deletes: map[string]int64{}}
	for range 2 {
		c := servertest.Serve(t, url)
		store, err := db.Open(t.Context(), url, options)
		servertest.Must(t, err)
		t.Cleanup(func() { _ = store.Close() })
		c.Reconfigure(t, server.Config{
			Catalogue: resolvers.New(store), CacheBytes: 1 << 20,
			Observer: telemetry.New(telemetry.Config{Logger: c.Log.Logger(), Checks: store.Checks, Replicas: store.Replicas}),
		})
		for options.ReplicaURLs != nil && slices.ContainsFunc(store.Replicas().Each, func(r stats.Replica) bool { return !r.Up }) {
			servertest.Revision(t, c.Store)
		}
		l.gateways = append(l.gateways, c)
	}
	category, err := l.gateways[0].Store.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "C"})
	servertest.Must(t, err)
	_, err = l.gateways[0].Store.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "G", CategoryID: category.ID})
	servertest.Must(t, err)
	if !strings.HasPrefix(url, "sqlite:") { // from now on writes may have an unknown outcome
		repeat(t, program(t, url), `SELECT pg_sleep(0.5)`, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY state = 'active' DESC, random() LIMIT 1`)
	}
	return l
}

// repeat runs statements in turn, with random pauses, until the test ends.
func repeat(t *testing.T, server *sql.DB, texts ...string) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			for _, text := range texts {
				_, _ = server.ExecContext(ctx, text+`; SELECT pg_sleep(random() / 5)`) // the connection may break
			}
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// all returns the catalogue while nothing writes.
func (l *linearity) all() pagesOf {
	books, err := l.gateways[0].Store.Unchecked(l.Context()).Books.Page(l.Context(), &model.Page{Limit: 1000})
	servertest.Must(l.T, err)
	found := pagesOf{}
	for _, b := range books {
		found[b.Name] = b.Pages
	}
	return found
}

// operate sends a random request and records it.
func (l *linearity) operate(client int, r *rand.Rand) {
	c := l.gateways[r.IntN(len(l.gateways))]
	l.mu.Lock()
	b := known{}
	if n := len(l.books); n > 0 {
		b = l.books[r.IntN(n)]
	}
	few := len(l.books) < 6
	l.mu.Unlock()
	q := request{name: b.name, pages: int(l.number.Add(1))}
	rest, conditional := r.IntN(2) == 0, r.IntN(2) == 0
	var send func() (*httptest.ResponseRecorder, result)
	switch choice := r.IntN(12); {
	case b.id == 0 || few && choice < 2:
		q.kind, q.name = "create", fmt.Sprint("n", q.pages)
		send = func() (*httptest.ResponseRecorder, result) { return l.write(c, rest, q, known{}, false) }
	case choice == 2:
		q.kind = "delete"
	case choice < 5:
		q.kind = "update"
	case choice < 8:
		q.kind, q.pages = "read", 0
		send = func() (*httptest.ResponseRecorder, result) { return l.read(c, rest, b) }
	default:
		q = request{kind: "list"}
		target := lists[r.IntN(len(lists))]
		send = func() (*httptest.ResponseRecorder, result) { return l.list(c, target) }
	}
	if send == nil {
		if conditional = conditional && (rest && b.etag != "" || !rest && b.version != 0); conditional {
			q.expected = b.pages
		}
		send = func() (*httptest.ResponseRecorder, result) { return l.write(c, rest, q, b, conditional) }
	}
	call := time.Since(l.begun).Nanoseconds()
	w, out := send()
	back := time.Since(l.begun).Nanoseconds()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources[strings.TrimSpace(strconv.Itoa(w.Code)+" "+w.Header().Get(source))]++
	isWrite := q.kind == "create" || q.kind == "update" || q.kind == "delete"
	switch {
	case out.outcome == unknown && !isWrite:
		return // it tells nothing
	case out.outcome == unknown:
		back = math.MaxInt64
	case out.outcome == missing, q.kind == "delete" && out.outcome == done:
		l.books = slices.DeleteFunc(l.books, func(k known) bool { return k.name == q.name })
	}
	l.history = append(l.history, porcupine.Operation{ClientId: client, Input: q, Call: call, Output: out, Return: back})
}

// perBook turns each list into reads of single books: those that it has, and those that may be missing.
func (l *linearity) perBook(history []porcupine.Operation) (single []porcupine.Operation) {
	for _, op := range history {
		switch q := op.Input.(request); {
		case q.kind == "create":
			l.creates[q.name] = op.Call
		case q.kind == "delete" && op.Output.(result).outcome == done:
			l.deletes[q.name] = op.Return
		}
	}
	for _, op := range history {
		q, r := op.Input.(request), op.Output.(result)
		if q.kind != "list" {
			single = append(single, op)
			continue
		}
		books := parsePages(r.list)
		for name, call := range l.creates {
			if end, deleted := l.deletes[name]; books[name] == 0 && call < op.Return && (!deleted || end > op.Call) {
				op.Input, op.Output = request{kind: "read", name: name}, result{outcome: missing}
				single = append(single, op)
			}
		}
		for name, pages := range books {
			op.Input, op.Output = request{kind: "read", name: name}, result{outcome: done, pages: pages}
			single = append(single, op)
		}
	}
	return single
}

// describe lists operations in the order of their calls.
func describe(history []porcupine.Operation) string {
	var text strings.Builder
	for _, op := range slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) }) {
		fmt.Fprintf(&text, "%d %d-%d %+v → %+v\n", op.ClientId, op.Call, op.Return, op.Input, op.Output)
	}
	return text.String()
}
