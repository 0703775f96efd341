package telemetry_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
	"library-catalogue/webhooks"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// observed is a client of a server with an operators' address.
type observed struct {
	*servertest.Client
	observer *telemetry.Observer
}

func observe(t *testing.T, url string, change func(*telemetry.Config)) observed {
	t.Helper()
	c := servertest.Serve(t, url)
	cfg := telemetry.Config{Logger: c.Log.Logger(), Checks: c.Store.Checks, Pools: c.Store.Pools(), Waiting: c.Store.Waiting, Panics: c.Store.Panics, Feed: c.Store.FeedStats}
	if change != nil {
		change(&cfg)
	}
	o := observed{c, telemetry.New(cfg)}
	c.Store.Observe(o.observer.Statement)
	c.Reconfigure(t, server.Config{Observer: o.observer, CacheBytes: 1 << 20})
	return o
}

// operators asks at the operators' address.
func (o observed) operators(path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	server.NewOperators(o.observer, o.Log.Logger()).Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// wantMetrics demands lines of /metrics.
func (o observed) wantMetrics(t *testing.T, lines ...string) {
	t.Helper()
	got := "\n" + o.operators("/metrics").Body.String()
	for _, line := range lines {
		if !strings.Contains(got, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, "{")
			var near []string
			for l := range strings.Lines(got) {
				if strings.HasPrefix(l, name) {
					near = append(near, l)
				}
			}
			t.Errorf("/metrics has no line %s\nbut:\n%s", line, strings.Join(near, ""))
		}
	}
}

// TestMetrics counts requests of every kind.
func TestMetrics(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		o := observe(t, url, nil)
		o.Shelves(t)
		for range 3 { // by the plan, kept, and from the cache
			o.Get(t, "query Shelf { books { nodes { name } } }", "")
		}
		o.Get(t, "query Other { genres { nodes { name } } }", "")
		o.Get(t, "{ ...F } fragment F on Query { genres { nodes { id } } categories { nodes { id } } }", "")
		o.Get(t, "{ __typename }", "")
		o.Ask(t, "{ nonsense }", "")
		o.WantError(t, `mutation { deleteBook(input: {id: 99}) { deletedBookId } }`, "", "NOT_FOUND", "")
		o.Do(http.MethodGet, "/api/books/1", "")
		o.Do(http.MethodGet, "/api/books/99", "")
		o.Do(http.MethodGet, "/api/genres", "")
		o.Do(http.MethodGet, "/api/nonsense", "")
		o.Do(http.MethodGet, "/livez", "")
		o.Do(http.MethodGet, "/nowhere", "")
		o.Do(http.MethodDelete, "/api/books/1", "", "Authorization: Bearer nonsense")
		o.wantMetrics(t,
			`catalogue_requests_total{code="200",endpoint="graphql",operation="books"} 3`,
			`catalogue_requests_total{code="200",endpoint="graphql",operation="genres"} 1`,
			`catalogue_requests_total{code="200",endpoint="graphql",operation="several"} 2`,
			`catalogue_requests_total{code="200",endpoint="graphql",operation="other"} 1`,
			`catalogue_requests_total{code="200",endpoint="graphql",operation="deleteBook"} 1`,
			`catalogue_requests_total{code="200",endpoint="rest",operation="GET /api/books/{id}"} 1`,
			`catalogue_requests_total{code="404",endpoint="rest",operation="GET /api/books/{id}"} 1`,
			`catalogue_requests_total{code="401",endpoint="rest",operation="DELETE /api/books/{id}"} 1`,
			`catalogue_requests_total{code="200",endpoint="rest",operation="GET /api/genres"} 1`,
			`catalogue_requests_total{code="404",endpoint="rest",operation="other"} 1`,
			`catalogue_requests_total{code="200",endpoint="other",operation="GET /livez"} 1`,
			`catalogue_requests_total{code="404",endpoint="other",operation="GET /"} 1`,
			`catalogue_request_duration_seconds_count{endpoint="graphql",operation="books"} 3`,
			`catalogue_graphql_operations_total{executor="plan"} 5`,
			`catalogue_graphql_operations_total{executor="reference"} 2`,
			`catalogue_graphql_operations_total{executor="cache"} 1`,
			`catalogue_graphql_errors_total{code="NOT_FOUND"} 1`,
			`catalogue_graphql_errors_total{code="GRAPHQL_VALIDATION_FAILED"} 1`,
			`catalogue_graphql_errors_total{code="INTERNAL"} 0`,
			`catalogue_tokens_refused_total{reason="malformed"} 1`,
			`catalogue_cache_hits_total 1`,
			`catalogue_check{check="database",status="pass"} 1`,
			`catalogue_check{check="schema",status="fail"} 0`,
			`catalogue_db_faults_total{fault="disk_full"} 0`,
			`catalogue_panics_total 0`,
			`catalogue_requests_in_flight 0`,
		)
	})
}

// TestOperatorsAddress holds metrics and profiles to the operators' address.
func TestOperatorsAddress(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	for path, both := range map[string]bool{
		"/livez": true, "/healthz": true, "/readyz": true, "/metrics": false, "/debug/pprof/": false, "/debug/pprof/heap": false,
	} {
		if w := o.operators(path); w.Code != http.StatusOK {
			t.Errorf("operators' %s: %d", path, w.Code)
		}
		if w := o.Do(http.MethodGet, path, ""); (w.Code == http.StatusOK) != both {
			t.Errorf("%s for everybody: %d", path, w.Code)
		}
	}
	ready := o.Do(http.MethodGet, "/readyz", "")
	const want = `{"status":"pass","checks":{"changes":{"status":"pass"},"database":{"status":"pass"},"disk":{"status":"pass"},"pool":{"status":"pass"},"schema":{"status":"pass"},"statements":{"status":"pass"}}}`
	if got := strings.TrimSpace(ready.Body.String()); got != want || ready.Header().Get("Content-Type") != "application/health+json" {
		t.Errorf("/readyz: %s, %v", got, ready.Header())
	}
}

// TestRequestLines looks at what the log tells of requests.
func TestRequestLines(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	long := strings.Repeat("x", 10_000)
	o.Get(t, "query "+long+" { __typename }", "")
	o.Get(t, "query Shelf { books { totalCount } }", "")
	o.Ask(t, "{ nonsense nothing }", "")
	o.Do(http.MethodGet, "/"+long, "")
	o.Do(http.MethodGet, "/readyz", "")
	o.wantLog(t, `level=INFO msg=request method=POST path=/graphql status=200 took_ms=[0-9.]+ statements=1 request_id=test operation=Shelf$`)
	o.wantLog(t, `operation=x{500}…$`)
	o.wantLog(t, `path=/graphql status=200 .* errors="GRAPHQL_VALIDATION_FAILED GRAPHQL_VALIDATION_FAILED"$`)
	o.wantLog(t, `path=/x{499}… status=404`)
	if line := o.Log.Find("readyz"); line != "" {
		t.Errorf("a probe is logged: %s", line)
	}
}

// TestSlowQueries tells of what takes longer than a bound, and of nothing else.
func TestSlowQueries(t *testing.T) {
	t.Parallel()
	for bound, told := range map[time.Duration]bool{time.Nanosecond: true, time.Hour: false, 0: false} {
		o := observe(t, catalogtest.SQLite(t), func(c *telemetry.Config) { c.Slow = bound })
		o.Get(t, "query Shelf { books { totalCount } }", "")
		o.Do(http.MethodGet, "/api/books/1", "")
		for _, pattern := range []string{`msg="slow query" .*operation=Shelf label=books document_sha256=`, `msg="slow query" .*label="GET /api/books/{id}"`} {
			if line := o.Log.Find(pattern); (line != "") != told {
				t.Errorf("with %v: %q", bound, line)
			}
		}
	}
}

// TestPanicsAreCounted lets a resolver panic below both executors.
func TestPanicsAreCounted(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	o.Reconfigure(t, server.Config{Catalogue: servertest.NewFailing(resolvers.New(o.Store), func() error { panic("a test") }), Observer: o.observer})
	o.Do(http.MethodGet, "/api/books", "")
	o.wantMetrics(t, `catalogue_panics_total 1`, `catalogue_requests_total{code="500",endpoint="rest",operation="GET /api/books"} 1`)
	o.WantError(t, "{ books { totalCount } }", "", "INTERNAL", "")
	o.wantMetrics(t, `catalogue_panics_total 2`, `catalogue_graphql_errors_total{code="INTERNAL"} 1`)
}

// TestAbortedAnswers breaks one off, as the stream of a list does.
func TestAbortedAnswers(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	o.Reconfigure(t, server.Config{Catalogue: servertest.NewFailing(resolvers.New(o.Store), func() error { panic(http.ErrAbortHandler) }), Observer: o.observer})
	func() {
		defer func() {
			failure := recover()
			if err, _ := failure.(error); !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("net/http is told %v", failure)
			}
		}()
		o.Do(http.MethodGet, "/api/books", "")
	}()
	o.wantMetrics(t, `catalogue_answers_aborted_total 1`, `catalogue_panics_total 0`, `catalogue_requests_in_flight 0`)
	o.wantLog(t, `msg=request method=GET path=/api/books .*aborted=true`)
}

// TestTrustedOperations: where all documents are trusted, so are their names.
func TestTrustedOperations(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	o.Reconfigure(t, server.Config{
		Observer: o.observer, GraphQL: graphqlhttp.Options{Trusted: graphqlhttp.TrustedDocuments{"1": "query Shelf { __typename }", "2": "{ books { totalCount } }"}},
	})
	for _, id := range []string{"1", "2"} {
		if w := o.Do(http.MethodPost, "/graphql", `{"documentId":"`+id+`"}`); w.Code != http.StatusOK {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
	}
	o.wantMetrics(t, `catalogue_requests_total{code="200",endpoint="graphql",operation="Shelf"} 1`,
		`catalogue_requests_total{code="200",endpoint="graphql",operation="books"} 1`)
}

// rules is a file of rules for Prometheus.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

// expressions returns the PromQL of the dashboard and of the alert rules by where
// it stands.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	text, err := os.ReadFile("ops/alerts.yml")
	servertest.Must(t, err)
	var file rules
	servertest.Must(t, yaml.UnmarshalWithOptions(text, &file, yaml.Strict()))
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if _, err := time.ParseDuration(rule.For); rule.For != "" && err != nil {
				t.Errorf("%s: for: %v", rule.Alert, err)
			}
			if rule.Alert == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%+v lacks a part", rule)
			}
			out["alert "+rule.Alert] = rule.Expr
		}
	}
	if text, err = os.ReadFile("ops/dashboard.json"); err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	servertest.Must(t, json.Unmarshal(text, &dashboard))
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			out["panel "+panel.Title+": "+target.Expr] = target.Expr
		}
	}
	return out
}

var (
	selector = regexp.MustCompile(`\b([a-z_]+_[a-z_]+)(?:\{([^}]*)\})?(\()?`) // every metric has _; what ( follows is a function
	matcher  = regexp.MustCompile(`([a-z_]+)(=~|!~|!=|=)"([^"]*)"`)
	label    = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring) \([^)]*\)`)
)

// TestOperatorsFiles wants for every metric that the dashboard or an alert names,
// with its labels and their values, a line that /metrics really has.
func TestOperatorsFiles(t *testing.T) {
	t.Parallel()
	o := observe(t, catalogtest.SQLite(t), nil)
	o.Shelves(t)
	for range 3 {
		o.Get(t, "{ books { nodes { name } } }", "")
	}
	other, err := auth.Sign([]byte("another secret of 32 bytes or more"), "", "", "", time.Hour, time.Now())
	servertest.Must(t, err)
	o.Do(http.MethodPost, "/api/books", "{}", "Authorization: Bearer "+other)
	o.Do(http.MethodPost, "/api/books", strings.Repeat(" ", 2<<20)) // too large
	servertest.Must(t, o.observer.Register(webhooks.New(webhooks.Config{Endpoints: o.Store.Webhooks, Feed: o.Store})))
	servertest.Must(t, o.Store.Webhooks.Add(t.Context(), &model.Webhook{URL: "https://example.com", Secrets: []string{"a secret"}}))
	open := o.operators("/metrics").Body.String() // a store that is closed has no webhooks
	servertest.Must(t, o.Store.Close())
	o.Do(http.MethodGet, "/api/books/1", "") // 5xx

	var series []string
	for line := range strings.Lines(open + o.operators("/metrics").Body.String()) {
		if !strings.HasPrefix(line, "#") {
			series = append(series, line)
		}
	}
	asked := 0
	for where, expression := range expressions(t) {
		for _, found := range selector.FindAllStringSubmatch(grouping.ReplaceAllString(expression, ""), -1) {
			name, matchers := found[1], found[2]
			if function := found[3] != ""; function || strings.HasPrefix(name, "__") {
				continue
			}
			asked++
			if !anyMatches(series, name, matchers) {
				t.Errorf("%s: /metrics has no line for %s{%s}", where, name, matchers)
			}
		}
	}
	if asked < 40 {
		t.Errorf("only %d metrics are named: the test reads too little", asked)
	}
}

func anyMatches(series []string, name, matchers string) bool {
	for _, line := range series {
		if rest, ok := strings.CutPrefix(line, name); !ok || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		labels := map[string]string{}
		for _, l := range label.FindAllStringSubmatch(line, -1) {
			labels[l[1]] = l[2]
		}
		all := true
		for _, m := range matcher.FindAllStringSubmatch(matchers, -1) {
			if m[1] == "instance" || m[1] == "job" { // which Prometheus adds
				continue
			}
			value, known := labels[m[1]]
			same := value == m[3]
			if strings.HasSuffix(m[2], "~") {
				same = regexp.MustCompile(`^(?:` + m[3] + `)$`).MatchString(value)
			}
			all = all && known && same == !strings.HasPrefix(m[2], "!")
		}
		if all {
			return true
		}
	}
	return false
}
