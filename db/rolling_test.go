package db_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/doctor"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/telemetry"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// gateway is a place behind the proxy, where one program after another serves.
type gateway struct {
	mu   sync.RWMutex // requests hold it for reading, and a restart for writing
	url  *url.URL
	stop func()
}

// restart ends the program after its requests, and starts the one with these options. It returns the
// new program's /readyz, which must be 200.
func (g *gateway) restart(t *testing.T, database string, options db.Options) (ready string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stop != nil {
		g.stop()
	}
	s := must[*db.Store](t)(db.New(t.Context(), database, options))
	check(t, s.Start(t.Context()))
	verifier := must[*auth.Verifier](t)(auth.New(t.Context(), auth.Config{Secret: servertest.Secret}))
	srv := must[*server.Server](t)(server.New(server.Config{
		Catalogue: resolvers.New(s), Authenticate: verifier.Middleware, CacheBytes: 1 << 20,
		Observer: telemetry.New(telemetry.Config{Logger: slog.New(slog.DiscardHandler), Checks: s.Checks}),
	}))
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	g.url = &url.URL{Scheme: "http", Host: listener.Addr().String()}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(listener) }()
	g.stop = func() {
		check(t, srv.Shutdown(context.Background()))
		<-served
		check(t, s.Close())
	}
	status, ready := get(t, g.url.String()+"/readyz")
	if status != http.StatusOK {
		t.Errorf("/readyz: %d %s", status, ready)
	}
	return ready
}

func get(t *testing.T, target string) (status int, body string) {
	t.Helper()
	response := must[*http.Response](t)(http.Get(target))
	defer response.Body.Close()
	return response.StatusCode, string(must[[]byte](t)(io.ReadAll(response.Body)))
}

// proxy sends requests to the gateways in turn, and to none that restarts.
type proxy struct {
	gateways []*gateway
	turn     atomic.Int64
	reverse  httputil.ReverseProxy
}

func newProxy(gateways ...*gateway) *proxy {
	p := &proxy{gateways: gateways}
	p.reverse.Transport = &http.Transport{MaxIdleConnsPerHost: 16}
	p.reverse.Rewrite = func(r *httputil.ProxyRequest) { r.SetURL(r.In.Context().Value(gatewayKey{}).(*gateway).url) }
	p.reverse.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for {
		g := p.gateways[int(p.turn.Add(1))%len(p.gateways)]
		if !g.mu.TryRLock() {
			continue
		}
		defer g.mu.RUnlock()
		p.reverse.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), gatewayKey{}, g)))
		return
	}
}

type gatewayKey struct{}

// load sends requests to a server until it is stopped.
type load struct {
	sent, failed atomic.Int64
	first        atomic.Value // the first failure
	end          chan struct{}
	running      sync.WaitGroup
}

func startLoad(target, token string) *load {
	l := &load{end: make(chan struct{})}
	const book = `{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre_id":1}`
	for _, request := range []struct{ method, path, body, part string }{
		{"GET", "/api/books?sort=name&limit=5", "", `"success":true`},
		{"GET", "/api/books/1", "", `"success":true`},
		{"POST", "/api/books", book, `"success":true`},
		{"PUT", "/api/books/1", book, `"success":true`},
		{"POST", "/graphql", `{"query":"{ books(search: \"mom\") { totalCount nodes { name genre { name category { name } } } } }"}`, `"totalCount"`},
		{"POST", "/graphql", `{"query":"mutation { updateBook(input: {id: 2, patch: {price: 1}}) { book { id } } }"}`, `"updateBook"`},
	} {
		l.running.Go(func() {
			for {
				select {
				case <-l.end:
					return
				default:
				}
				l.sent.Add(1)
				if err := send(request.method, target+request.path, token, request.body, request.part); err != nil {
					l.failed.Add(1)
					l.first.CompareAndSwap(nil, err.Error())
				}
			}
		})
	}
	return l
}

func send(method, target, token, body, part string) error {
	request, err := http.NewRequest(method, target, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode > 299 || !strings.Contains(string(answer), part) || strings.Contains(string(answer), `"errors":[`)) {
		err = fmt.Errorf("%s %s: %d %s", method, target, response.StatusCode, answer)
	}
	return err
}

// flow waits until a number of further requests were sent.
func (l *load) flow() {
	const requests = 50
	for until := l.sent.Load() + requests; l.sent.Load() < until; {
		runtime.Gosched()
	}
}

// TestRollingUpgrade upgrades a catalogue of 0.1.0, and then two gateways behind a proxy to the next
// program, one after the other, while its migrations run. In between, a gateway of today's program
// restarts on the newer schema. No request fails.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	database := dbtest.Postgres(t)
	program := other(t, database)
	_, err := program.ExecContext(t.Context(), string(must[[]byte](t)(os.ReadFile("testdata/0.1.0.sql"))))
	check(t, err)
	exec(t, program, `INSERT INTO categories (name) VALUES ('Fiction')`)
	exec(t, program, `INSERT INTO genres (name, category_id) VALUES ('Fantasy', 1)`)
	addBooks(t, program, 2000, 1)

	today := db.Options{MaxConns: 6}
	next := nextProgram(t, additive, `NO TRANSACTION
-- +goose Up
INSERT INTO schema_versions VALUES (NEXT, LAST) ON CONFLICT DO NOTHING;
-- +goose StatementBegin
DO $$ BEGIN
  LOOP
    UPDATE books SET shelf_mark = 'A ' || id WHERE id IN (SELECT id FROM books WHERE shelf_mark IS NULL ORDER BY id LIMIT 500);
    EXIT WHEN NOT FOUND;
    COMMIT;
  END LOOP;
END $$;
-- +goose StatementEnd
DROP INDEX CONCURRENTLY IF EXISTS books_shelf_mark;
CREATE INDEX CONCURRENTLY books_shelf_mark ON books (shelf_mark, id);`)
	next.MaxConns = 6
	one, two := &gateway{}, &gateway{}
	one.restart(t, database, today)
	two.restart(t, database, today)
	if report := must[*doctor.Report](t)(doctor.Examine(t.Context(), database, false)); len(report.Problems) > 0 {
		t.Errorf("after the upgrade of 0.1.0: %+v", report.Problems)
	}
	front := httptest.NewServer(newProxy(one, two))
	l := startLoad(front.URL, servertest.TokenOf(t, "reader"))
	l.flow()

	job := openWith(t, database, next)
	check(t, job.Migrate(t.Context()))
	check(t, job.Close())
	l.flow()
	const warning = "of a newer program; this program knows"
	if _, ready := get(t, one.url.String()+"/readyz"); !strings.Contains(ready, warning) {
		t.Errorf("/readyz after the migration: %s", ready)
	}
	var log bytes.Buffer
	today.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if ready := one.restart(t, database, today); !strings.Contains(ready, warning) || !strings.Contains(log.String(), "the schema is of a newer program") {
		t.Errorf("today's program on the newer schema: %s\n%s", ready, &log)
	}
	l.flow()
	for _, g := range []*gateway{one, two} {
		if ready := g.restart(t, database, next); strings.Contains(ready, warning) {
			t.Errorf("the next program: %s", ready)
		}
		l.flow()
	}

	close(l.end)
	l.running.Wait()
	front.Close()
	one.stop()
	two.stop()
	if l.failed.Load() > 0 {
		t.Errorf("%d of %d requests failed, first: %v", l.failed.Load(), l.sent.Load(), l.first.Load())
	}
	t.Logf("%d requests", l.sent.Load())
}
