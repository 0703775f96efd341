package telemetry_test

import (
	"context"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// The tests here are the drill in README: each makes one fault really happen, and
// demands that /readyz, /metrics and the log say of it what README says.

// wantReady demands a status of /readyz, and of each check that is not "pass" its
// status and the beginning of its output.
func (o observed) wantReady(t *testing.T, code int, checks map[string]string) {
	t.Helper()
	w := o.Do(http.MethodGet, "/readyz", "")
	var got struct {
		Checks map[string]struct{ Status, Output string }
	}
	servertest.Must(t, json.Unmarshal(w.Body.Bytes(), &got))
	if w.Code != code {
		t.Errorf("/readyz: %d, want %d: %s", w.Code, code, w.Body)
	}
	for name, check := range got.Checks {
		said := check.Status + ": " + check.Output
		if want := checks[name]; want == "" && check.Status != "pass" || !strings.HasPrefix(said, want) {
			t.Errorf("/readyz, %s: %q, want %q", name, said, want)
		}
	}
	for name := range checks {
		if _, ok := got.Checks[name]; !ok {
			t.Errorf("/readyz says nothing of %s", name)
		}
	}
}

// metric returns the value of a line of /metrics, or 0.
func (o observed) metric(t *testing.T, line string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(line) + ` (\S+)$`).FindStringSubmatch(o.operators("/metrics").Body.String())
	if found == nil {
		return 0
	}
	value, err := strconv.ParseFloat(found[1], 64)
	servertest.Must(t, err)
	return value
}

// wantLog demands that one line of the log matches.
func (o observed) wantLog(t *testing.T, pattern string) {
	t.Helper()
	if o.Log.Find(pattern) == "" {
		t.Errorf("no line of the log matches %s\n%s", pattern, o.Log.Find(`.*`))
	}
}

func TestDrillDatabaseDown(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	o := observe(t, catalogtest.Migrate(t, cluster.Database(t)), nil)
	o.Shelves(t)
	o.wantReady(t, http.StatusOK, nil)
	cluster.Kill(t)
	o.wantReady(t, http.StatusServiceUnavailable, map[string]string{"database": "fail: The database is unreachable or refuses connections."})
	o.WantError(t, "{ books { nodes { name } } }", "", "UNAVAILABLE", "")
	o.wantMetrics(t, `catalogue_check{check="database",status="fail"} 1`, `catalogue_check{check="pool",status="pass"} 1`)
	if o.metric(t, `catalogue_db_faults_total{fault="unavailable"}`) == 0 {
		t.Error("no fault is counted")
	}
	o.wantLog(t, `level=ERROR msg=check check=database status=fail .*error=.*connect`)
	o.wantLog(t, `level=ERROR msg="request failed" .*connect`)
	cluster.Start(t)
	o.wantReady(t, http.StatusOK, nil)
	o.wantLog(t, `level=INFO msg=check check=database status=pass`)
}

// TestDrillSlowDatabase holds the tables under a reader and the check.
func TestDrillSlowDatabase(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	o := observe(t, url, func(c *telemetry.Config) { c.Slow = time.Second })
	o.Shelves(t)
	other, err := sql.Open("postgres", url)
	servertest.Must(t, err)
	defer other.Close()
	lock := func(table string) (release func()) {
		t.Helper()
		tx, err := other.BeginTx(t.Context(), nil)
		servertest.Must(t, err)
		_, err = tx.ExecContext(t.Context(), `LOCK TABLE `+table+` IN ACCESS EXCLUSIVE MODE`)
		servertest.Must(t, err)
		return func() {
			t.Helper()
			servertest.Must(t, tx.Commit())
		}
	}
	releaseBooks, releaseSchema := lock("books"), lock("goose_db_version")
	ask := func(ctx context.Context) <-chan string {
		answered := make(chan string)
		go func() {
			answered <- o.DoContext(ctx, http.MethodPost, "/graphql", `{"query":"query Slow { books { nodes { pages } } }"}`).Body.String()
		}()
		return answered
	}
	ctx, cancel := context.WithCancel(t.Context())
	answered, calledOff := ask(t.Context()), ask(ctx)
	for waiting := 0; waiting < 2; {
		servertest.Must(t, other.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting))
	}
	// This takes longer than is slow.
	o.wantReady(t, http.StatusServiceUnavailable, map[string]string{"database": "fail: The database did not answer within 1.5s."})
	releaseSchema()
	o.wantReady(t, http.StatusOK, map[string]string{"statements": "warn: The longest pending query has run for"})
	if waited := o.metric(t, "catalogue_db_longest_wait_seconds"); waited < 1.5 {
		t.Errorf("the longest wait is %v s", waited)
	}
	cancel()
	<-calledOff
	releaseBooks()
	if a := <-answered; !strings.Contains(a, `"pages":310`) {
		t.Errorf("the answer is %s", a)
	}
	o.wantReady(t, http.StatusOK, nil)
	if waited := o.metric(t, "catalogue_db_longest_wait_seconds"); waited >= 1 {
		t.Errorf("the longest wait is still %v s", waited)
	}
	const seconds = `catalogue_db_statement_duration_seconds_`
	all, quick := o.metric(t, seconds+`count{command="SELECT"}`), o.metric(t, seconds+`bucket{command="SELECT",le="1"}`)
	if all-quick < 2 {
		t.Errorf("%v statements, and %v of them in less than a second", all, quick)
	}
	o.wantMetrics(t, `go_sql_wait_count_total{db_name="postgres"} 0`, `catalogue_db_faults_total{fault="unavailable"} 0`)
	if o.metric(t, `catalogue_db_faults_total{fault="canceled"}`) == 0 {
		t.Error("what was called off is not counted")
	}
	o.wantLog(t, `level=ERROR msg=check check=database status=fail .*did not answer`)
	o.wantLog(t, `level=WARN msg=check check=statements status=warn`)
	o.wantLog(t, `level=WARN msg="slow query" .*operation=Slow .*document_sha256=[0-9a-f]{64} .*statements=1 .*slowest=.*ms: SELECT .*FROM books r.*request_id=test`)
}

// TestDrillExhaustedPool takes every connection.
func TestDrillExhaustedPool(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		o := observe(t, url, nil)
		o.Shelves(t)
		for name, pool := range o.Store.Pools() {
			if strings.HasSuffix(name, "-writer") {
				continue
			}
			stats := pool.Stats()
			size := strconv.Itoa(stats.MaxOpenConnections)
			var held []*sql.Conn
			for range stats.MaxOpenConnections {
				conn, err := pool.Conn(t.Context())
				servertest.Must(t, err)
				held = append(held, conn)
			}
			o.wantReady(t, http.StatusServiceUnavailable, map[string]string{"pool": "fail: All " + size + " connections are in use"})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if w := o.DoContext(ctx, http.MethodGet, "/api/books/1", ""); w.Code != http.StatusServiceUnavailable {
				t.Errorf("a request without a connection: %d %s", w.Code, w.Body)
			}
			o.wantMetrics(t, `go_sql_in_use_connections{db_name="`+name+`"} `+size, `go_sql_max_open_connections{db_name="`+name+`"} `+size,
				`catalogue_check{check="database",status="pass"} 1`, `catalogue_check{check="pool",status="fail"} 1`)
			if o.metric(t, `go_sql_wait_count_total{db_name="`+name+`"}`) == 0 {
				t.Error("nobody waited")
			}
			if o.metric(t, `catalogue_db_faults_total{fault="timeout"}`) == 0 {
				t.Error("no timeout is counted")
			}
			o.wantLog(t, `level=ERROR msg=check check=pool status=fail output="All `+size+` connections are in use`)
			for _, conn := range held {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}
			o.wantReady(t, http.StatusOK, nil)
		}
	})
}

// TestDrillTokenKey has a secret that is not the issuer's, and then keys that
// cannot be had.
func TestDrillTokenKey(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	var err error
	o.Token, err = auth.Sign([]byte("another secret of 32 bytes or more"), "tester", "", "", time.Hour, time.Now())
	servertest.Must(t, err)
	if w := o.Do(http.MethodPost, "/api/categories", `{"name":"Poetry"}`); w.Code != http.StatusUnauthorized {
		t.Errorf("status %d", w.Code)
	}
	o.wantMetrics(t, `catalogue_tokens_refused_total{reason="signature"} 1`,
		`catalogue_requests_total{code="401",endpoint="rest",operation="POST /api/categories"} 1`)
	o.wantReady(t, http.StatusOK, nil)
	o.wantLog(t, `msg=request method=POST path=/api/categories status=401 .*token_refused=signature`)

	endpoint := httptest.NewServer(http.NotFoundHandler())
	endpoint.Close()
	verifier, err := auth.New(t.Context(), auth.Config{JWKSURL: endpoint.URL})
	servertest.Must(t, err)
	o = observe(t, catalogtest.SQLite(t), func(c *telemetry.Config) {
		store := c.Checks
		c.Checks = func(ctx context.Context) []model.Check { return append(store(ctx), verifier.Check()) }
	})
	o.Reconfigure(t, server.Config{Authenticate: verifier.Middleware, Observer: o.observer})
	_, key, err := ed25519.GenerateKey(nil)
	servertest.Must(t, err)
	o.Token, err = jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"exp": time.Now().Add(time.Hour).Unix()}).SignedString(key)
	servertest.Must(t, err)
	o.Do(http.MethodPost, "/api/categories", `{"name":"Poetry"}`)
	o.wantMetrics(t, `catalogue_check{check="token_keys",status="fail"} 1`, `catalogue_tokens_refused_total{reason="unknown_key"} 1`)
	o.wantReady(t, http.StatusServiceUnavailable, map[string]string{"token_keys": "fail: No usable key to verify tokens"})
	o.wantLog(t, `level=ERROR msg=check check=token_keys status=fail .*error=.*refused`)
}

// TestDrillFullDisk lets the database file grow no more.
func TestDrillFullDisk(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	o.Shelves(t)
	writer := o.Store.Pools()["sqlite-writer"]
	limit := func(pages string) {
		t.Helper()
		_, err := writer.ExecContext(t.Context(), "PRAGMA max_page_count = "+pages)
		servertest.Must(t, err)
	}
	create := `{"name":"Large","description":"` + strings.Repeat("x", 20_000) + `","pages":1,"published_at":"2000-01-01","author":"A","price":1,"genre_id":1}`
	var pages string
	servertest.Must(t, writer.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages))
	limit(pages)
	if w := o.Do(http.MethodPost, "/api/books", create); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "no disk space for changes") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	o.wantReady(t, http.StatusOK, map[string]string{"disk": "warn: The disk of the database, or of TMPDIR, is full. Changes are refused; reads work."})
	o.Get(t, "{ books { totalCount } }", "")
	o.wantMetrics(t, `catalogue_check{check="disk",status="warn"} 1`, `catalogue_check{check="database",status="pass"} 1`,
		`catalogue_requests_total{code="503",endpoint="rest",operation="POST /api/books"} 1`)
	if o.metric(t, `catalogue_db_faults_total{fault="disk_full"}`) == 0 {
		t.Error("no full disk is counted")
	}
	o.wantLog(t, `level=WARN msg=check check=disk status=warn`)
	o.wantLog(t, `level=ERROR msg="request failed" .*disk is full`)

	limit("1000000")
	if w := o.Do(http.MethodPost, "/api/books", create); w.Code != http.StatusCreated {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
	o.wantReady(t, http.StatusOK, nil)
}
