package server_test

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"

	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// heavy is a query of the medium class.
const heavy = `{ ` +
	`a: books(first: 1000) { nodes { genre { name } } } b: books(first: 1000) { nodes { genre { name } } } ` +
	`c: books(first: 1000) { nodes { genre { name } } } }`

const source = "X-Catalogue-Source"

// serveReplicated is servertest.Serve with Shelves, a replica and a cache.
func serveReplicated(t *testing.T) (c *servertest.Client, store *db.Store, primary, replica *dbtest.Cluster) {
	t.Helper()
	return serveReplicatedWith(t, db.Options{ReadWithoutPrimary: true})
}

func serveReplicatedWith(t *testing.T, options db.Options) (c *servertest.Client, store *db.Store, primary, replica *dbtest.Cluster) {
	t.Helper()
	primary = dbtest.Durable(t)
	url := catalogtest.Migrate(t, primary.Database(t))
	replica = primary.Replica(t)
	c = servertest.Serve(t, url)
	c.Shelves(t)
	var err error
	options.ReplicaURLs = []string{replica.On(t, url)}
	store, err = db.Open(t.Context(), url, options)
	servertest.Must(t, err)
	t.Cleanup(func() { _ = store.Close() }) // the test kills the primary
	c.Reconfigure(t, server.Config{
		Catalogue: resolvers.New(store), CacheBytes: 1 << 20,
		Observer: telemetry.New(telemetry.Config{Logger: c.Log.Logger(), Checks: store.Checks, Replicas: store.Replicas}),
	})
	for !store.Replicas().Each[0].Up {
		servertest.Revision(t, c.Store)
	}
	return c, store, primary, replica
}

// await repeats a request until its response has a source.
func await(t *testing.T, want string, request func() *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	t.Helper()
	for begun := time.Now(); ; {
		w := request()
		if w.Code == http.StatusOK && w.Header().Get(source) == want {
			return w
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("status %d from %q, want %q: %s", w.Code, w.Header().Get(source), want, w.Body)
		}
	}
}

// TestSource asks a server with a replica, first with its primary, then without.
func TestSource(t *testing.T) {
	t.Parallel()
	c, _, primary, _ := serveReplicated(t)
	ask := func(query string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, servertest.ByGet(query), "") }
	}
	get := func(path string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, path, "") }
	}
	first := await(t, "replica", ask(heavy))
	cached := await(t, "cache", ask(heavy))
	if first.Body.String() != cached.Body.String() || first.Header().Get("ETag") == "" || first.Header().Get("ETag") != cached.Header().Get("ETag") {
		t.Errorf("%v and, from the cache, %v", first, cached)
	}
	await(t, "primary", ask(`{ book(id: 1) { name } }`))
	await(t, "primary", get("/api/books/1"))
	if w := get("/livez")(); w.Header().Get(source) != "" {
		t.Errorf("/livez has the source %q", w.Header().Get(source))
	}
	c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Roverandom"}}) { book { id } } }`, "")
	if w := ask(heavy)(); !strings.Contains(w.Body.String(), `"genre"`) || w.Header().Get(source) == "cache" {
		t.Errorf("after a write: %v", w)
	}

	primary.Kill(t)
	for name, request := range map[string]func() *httptest.ResponseRecorder{
		"a query":           ask(`{ book(id: 1) { name } }`),
		"an expensive one":  ask(`{ book(id: 1) { name } ` + heavy[1:]),
		"an item":           get("/api/books/1"),
		"a page":            get("/api/books?per_page=2"),
		"a page in HTML":    get("/books/1"),
		"a list of authors": get("/api/books?author=J.%20R.%20R.%20Tolkien&per_page=5"),
	} {
		for range 3 {
			w := await(t, "replica", request)
			if !strings.Contains(w.Body.String(), "Roverandom") {
				t.Errorf("%s without a primary: %s", name, w.Body)
			}
			if warned := strings.Contains(w.Body.String(), "NO_PRIMARY"); warned != strings.Contains(name, "query") && name != "an expensive one" {
				t.Errorf("%s without a primary has a warning: %t", name, warned)
			}
		}
	}
	if w := c.Do(http.MethodPut, "/api/books/1", `{}`); w.Code < http.StatusBadRequest {
		t.Errorf("a write without a primary: %d", w.Code)
	}
	primary.Start(t)
	await(t, "primary", get("/api/books/1"))
}

// TestLateReplica asks a server that lets late replicas serve, while the replay of its replica is paused. Such a response
// says its lag and is not cached. A client that may have written, or that wants no cache, gets all changes.
func TestLateReplica(t *testing.T) {
	t.Parallel()
	c, _, _, replica := serveReplicatedWith(t, db.Options{ReplicaMaxLag: time.Hour})
	heavyWith := func(alias string) string {
		return servertest.ByGet(`{ ` + alias + `: books(filter: {id: {eq: 1}}) { nodes { name } } ` + heavy[1:])
	}
	anonymous := func(target string, headers ...string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			return c.Do(http.MethodGet, target, "", append(headers, "Authorization:")...)
		}
	}
	current := await(t, "replica", anonymous(heavyWith("first"))).Header().Get("ETag")
	execute(t, program(t, replica.On(t, c.URL)), `SELECT pg_wal_replay_pause()`)
	c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Roverandom"}}) { book { id } } }`, "")
	for range 2 { // the second does not come from the cache either
		w := anonymous(heavyWith("first"))()
		lag, found := strings.CutPrefix(w.Header().Get(source), "replica; lag=")
		if seconds, err := strconv.ParseFloat(lag, 64); !found || err != nil || seconds <= 0 {
			t.Errorf("the source is %q", w.Header().Get(source))
		}
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "Roverandom") || w.Header().Get("ETag") != current || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%d %v: %.200s", w.Code, w.Header(), w.Body)
		}
	}
	for name, request := range map[string]func() *httptest.ResponseRecorder{
		"with a token":            func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, heavyWith("token"), "") },
		"with a cookie":           anonymous(heavyWith("cookie"), "Cookie: a=b"),
		"without a cache":         anonymous(heavyWith("cache"), "Cache-Control: no-cache"),
		"of a book":               anonymous("/api/books/1"),
		"of a list and a book":    anonymous(servertest.ByGet(`{ ...b } fragment b on Query { book(id: 1) { name } ` + heavy[1:])),
		"of a list and a history": anonymous(servertest.ByGet(`{ books(filter: {id: {eq: 1}}) { nodes { name history(first: 1) { hasMore } } } ` + heavy[1:])),
		"by a WebSocket": func() *httptest.ResponseRecorder {
			return askSocket(t, c.Handler, `{ socket: books(filter: {id: {eq: 1}}) { nodes { name } } `+heavy[1:])
		},
		"of a whole list": anonymous("/api/books", "Accept: text/csv"),
	} {
		w := request()
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Roverandom") || strings.Contains(w.Header().Get(source), "replica") {
			t.Errorf("%s: %d from %q: %.200s", name, w.Code, w.Header().Get(source), w.Body)
		}
	}
	if w := anonymous(heavyWith("first"), "If-None-Match: "+current)(); w.Code != http.StatusOK {
		t.Errorf("status %d for the old ETag", w.Code)
	}
}

// TestLateReplicasDecline lets eight clients ask for expensive reads while the replica is late and the primary makes each
// of them wait. The primary runs no more of them than their class has permits. The others get 503 with Retry-After, and
// cheap reads are answered.

// askSocket sends a query by a WebSocket without a token. The body of the response is its message.
func askSocket(t *testing.T, handler http.Handler, query string) *httptest.ResponseRecorder {
	t.Helper()
	endpoint := httptest.NewServer(handler)
	defer endpoint.Close()
	conn, _, err := websocket.Dial(t.Context(), endpoint.URL+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	servertest.Must(t, err)
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 20)
	w := httptest.NewRecorder()
	for _, message := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":` + servertest.Encode(t, query) + `}}`} {
		servertest.Must(t, conn.Write(t.Context(), websocket.MessageText, []byte(message)))
		_, body, err := conn.Read(t.Context())
		servertest.Must(t, err)
		w.Body.Reset()
		_, _ = w.Body.Write(body)
	}
	return w
}

func TestLateReplicasDecline(t *testing.T) {
	t.Parallel()
	const timeout, connections, permits, clients = 2 * time.Second, 4, 2, 8
	c, store, _, replica := serveReplicatedWith(t, db.Options{})
	c.Reconfigure(t, server.Config{Catalogue: resolvers.New(store), Connections: connections, Timeout: timeout})
	execute(t, program(t, replica.On(t, c.URL)), `SELECT pg_wal_replay_pause()`)
	c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Roverandom"}}) { book { id } } }`, "")
	primary := program(t, c.URL)
	lock, err := primary.BeginTx(t.Context(), nil)
	servertest.Must(t, err)
	defer func() { _ = lock.Rollback() }()
	execute(t, lock, `LOCK TABLE books`)
	answers := make(chan *httptest.ResponseRecorder, clients)
	for i := range clients {
		token := "Authorization: Bearer " + servertest.TokenOf(t, strconv.Itoa(i))
		go func() { answers <- c.Do(http.MethodGet, servertest.ByGet(heavy), "", token) }()
	}
	const waiting = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%books%' AND datname = current_database()`
	awaitRow(t, primary, waiting)
	if w := c.Do(http.MethodGet, servertest.ByGet(`{ genre(id: 1) { name } }`), ""); w.Code != http.StatusOK {
		t.Errorf("a cheap read: %d %s", w.Code, w.Body)
	}
	refused := 0
	for left := clients; left > 0; {
		var n int
		servertest.Must(t, primary.QueryRowContext(t.Context(), `SELECT count(*) `+waiting).Scan(&n))
		if n > permits {
			t.Fatalf("%d reads run on the primary", n)
		}
		select {
		case w := <-answers:
			left--
			if w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "1" {
				refused++
			} else if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "UNAVAILABLE") { // it ran until its deadline
				t.Errorf("%d %v: %s", w.Code, w.Header(), w.Body)
			}
		default:
		}
	}
	if refused == 0 {
		t.Error("no request was refused")
	}
}

// TestWholeListOfReplica reads a long list from a replica, and without a primary.
func TestWholeListOfReplica(t *testing.T) {
	t.Parallel()
	c, store, primary, replica := serveReplicated(t)
	const books = 500
	rows := make([]*model.Book, books)
	for i := range rows {
		rows[i] = &model.Book{Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1}
	}
	servertest.Must(t, store.Books.Insert(t.Context(), rows))
	servertest.Must(t, store.CountSizes(t.Context())) // now the list is long
	whole := func() *httptest.ResponseRecorder {
		return c.Do(http.MethodGet, "/api/books", "", "Accept: text/csv")
	}
	want := await(t, "replica", whole).Body.String()
	if lines := strings.Count(want, "\n"); lines != 1+4+books {
		t.Errorf("%d lines: %.200s", lines, want)
	}
	replica.Kill(t)
	if got := await(t, "primary", whole).Body.String(); got != want {
		t.Errorf("%d bytes from the primary, %d from the replica", len(got), len(want))
	}
	replica.Start(t)
	await(t, "replica", whole)
	primary.Kill(t)
	if got := await(t, "replica", whole).Body.String(); got != want {
		t.Errorf("%d bytes without a primary, %d before", len(got), len(want))
	}
}

// TestReplicaFailsInQuery lets a replica fail while it runs the second statement of a query. The primary runs the whole
// query.
func TestReplicaFailsInQuery(t *testing.T) {
	t.Parallel()
	document := servertest.ByGet(`{ found: books(first: 10, search: "Tolkien") { totalCount nodes { name } } ` + heavy[2:])
	for _, failure := range []string{"terminated", "killed", "in conflict"} {
		t.Run(failure, func(t *testing.T) {
			t.Parallel()
			c, _, _, replica := serveReplicated(t)
			want := servertest.Serve(t, c.URL).Do(http.MethodGet, document, "").Body.String()
			await(t, "replica", func() *httptest.ResponseRecorder { // so that there is a connection
				const medium = `{ categories(first: 60) { nodes { books(first: 100) { nodes { id } } } } }`
				return c.Do(http.MethodGet, servertest.ByGet(medium), "", "Cache-Control: no-cache")
			})
			primary, standby := program(t, c.URL), program(t, replica.On(t, c.URL))
			execute(t, standby, `ALTER SYSTEM SET max_standby_streaming_delay = 0`)
			execute(t, standby, `SELECT pg_reload_conf()`)
			awaitRow(t, standby, `WHERE current_setting('max_standby_streaming_delay') = '0'`)
			lock, err := primary.BeginTx(t.Context(), nil)
			servertest.Must(t, err)
			defer func() { _ = lock.Rollback() }()
			execute(t, lock, `LOCK TABLE genres`)
			execute(t, lock, `SELECT pg_switch_wal()`) // sends the lock to the standby
			awaitRow(t, standby, `FROM pg_locks WHERE relation = CAST('genres' AS regclass) AND mode = 'AccessExclusiveLock'`)
			answered := make(chan *httptest.ResponseRecorder, 1)
			go func() { answered <- c.Do(http.MethodGet, document, "") }()
			const waiting = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM genres%'`
			awaitRow(t, standby, waiting)

			switch failure {
			case "terminated":
				execute(t, standby, `SELECT pg_terminate_backend(pid) `+waiting)
			case "killed":
				replica.Kill(t)
			case "in conflict":
				execute(t, lock, `LOCK TABLE books`) // the first statement has read it
				execute(t, lock, `SELECT pg_switch_wal()`)
				awaitRow(t, standby, `WHERE NOT EXISTS (SELECT `+waiting+`)`)
			}
			servertest.Must(t, lock.Rollback())
			if w := <-answered; w.Code != http.StatusOK || w.Header().Get(source) != "primary" || w.Body.String() != want {
				t.Errorf("status %d from %q: %s\nwant %s", w.Code, w.Header().Get(source), w.Body, want)
			}
			if failure == "in conflict" { // a process of the server reports it when it ends
				execute(t, standby, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
				awaitRow(t, standby, `FROM pg_stat_database_conflicts WHERE confl_lock > 0`)
			}
		})
	}
}

// program opens a database as another program would.
func program(t *testing.T, url string) *sql.DB {
	t.Helper()
	opened, err := sql.Open("postgres", url)
	servertest.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() }) // the test may kill the server
	return opened
}

func execute(t *testing.T, to interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}, text string) {
	t.Helper()
	if _, err := to.ExecContext(t.Context(), text); err != nil {
		t.Fatal(text, ": ", err)
	}
}

// awaitRow waits for a row, for at most 20 s.
func awaitRow(t *testing.T, in *sql.DB, from string) {
	t.Helper()
	for begun, found := time.Now(), false; !found; {
		servertest.Must(t, in.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT `+from+`)`).Scan(&found))
		if time.Since(begun) > 20*time.Second {
			t.Fatal("there is no row ", from)
		}
	}
}
