package ratelimit_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/caller"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// limited is a server that lets each caller have 5 units at once, and then 2 a
// second. Its Authenticate takes the header As for a subject.
type limited struct{ http.Handler }

func newLimited(t *testing.T, change ...func(*server.Config)) limited {
	t.Helper()
	cfg := server.Config{
		Catalogue: resolvers.New(catalogtest.Open(t, catalogtest.SQLite(t))),
		Rate:      ratelimit.Rate{PerSecond: 2, Burst: 5},
		Authenticate: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if subject, ok := r.Header["As"]; ok {
					r = r.WithContext(model.WithCaller(r.Context(), model.Caller{Subject: subject[0]}))
				}
				next.ServeHTTP(w, r)
			})
		},
	}
	for _, change := range change {
		change(&cfg)
	}
	return limited{servertest.NewHandler(t, &servertest.Log{}, cfg)}
}

// ask sends a request from an address. What it asks for is refused before the
// database is needed, so that time stands still meanwhile.
func (l limited) ask(from string, headers ...string) *httptest.ResponseRecorder {
	return l.askFor("/api/nothing", from, headers...)
}

func (l limited) askFor(target, from string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.RemoteAddr = from
	r.Header.Set("X-Request-Id", "test")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w
}

const ada, bob = "192.0.2.1:1000", "192.0.2.2:1000"

// TestRateOfBodies wants a large body to cost more than a small one, and one that
// does not say how long it is as much as any may. The path counts.
func TestRateOfBodies(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	synctest.Test(t, func(t *testing.T) {
		for i, tt := range []struct {
			announced int64
			left      string
		}{{0, "4"}, {4<<10 - 8, "4"}, {4<<10 - 7, "3"}, {12<<10 - 8, "3"}, {12<<10 - 7, "2"}, {25 << 10, "1"}, {1 << 20, "0"}, {-1, "0"}} {
			r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(strings.Repeat(" ", int(max(tt.announced, 0)))))
			r.ContentLength = tt.announced
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1000", i)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			l.ServeHTTP(w, r)
			if got := w.Header().Get("RateLimit"); w.Code != http.StatusBadRequest || !strings.HasPrefix(got, `"default";r=`+tt.left+";") {
				t.Errorf("a body of %d bytes: status %d, RateLimit %q", tt.announced, w.Code, got)
			}
		}
	})
}

// doors are the requests that can have a large input: after the path, or, with a media type, in the body.
var doors = []struct{ method, path, media string }{
	{"GET", "/graphql?query={__typename}&x=", ""},
	{"GET", "/graphql?query={__typename}&variables=", ""},
	{"GET", "/api/books?q=", ""},
	{"GET", "/api/books/1?include=", ""},
	{"GET", "/api/changes?types=", ""},
	{"GET", "/sitemap.xml?part=", ""},
	{"GET", "/sru?query=", ""},
	{"GET", "/books/1?x=", ""},
	{"GET", "/nothing?x=", ""},
	{"POST", "/graphql", "application/json"},
	{"QUERY", "/graphql", "application/json"},
	{"POST", "/api/books", "application/json"},
	{"PUT", "/api/books/1", "application/json"},
	{"DELETE", "/api/books/1", "application/json"},
	{"POST", "/api/login", "application/json"},
	{"POST", "/api/imports", "text/csv"},
	{"POST", "/import/files", "text/csv"},
	{"POST", "/login", "application/x-www-form-urlencoded"},
	{"POST", "/account/tokens", "application/json"},
	{"POST", "/sru", "application/x-www-form-urlencoded"},
}

// unread is a body that must not be read.
type unread struct {
	*testing.T
	door string
}

func (u unread) Read([]byte) (int, error) {
	u.Errorf("%s: the body is read before the caller pays", u.door)
	return 0, io.EOF
}

// TestRateOfDoors sends 13 KB to each door, which costs two units more than a short request, and nothing of it is read
// by a door if the caller cannot pay. Escapes count as they are sent.
func TestRateOfDoors(t *testing.T) {
	t.Parallel()
	const input = 13_000
	c, _ := servertest.ServeAccounts(t, catalogtest.SQLite(t), func(cfg *server.Config) {
		cfg.SRU, cfg.PublicURL, cfg.Rate = true, "http://example.com", ratelimit.Rate{PerSecond: 1e-9, Burst: 3}
	})
	for i, door := range doors {
		send := func(size int, body io.Reader) *httptest.ResponseRecorder {
			target := door.path
			if door.media == "" {
				target, body, size = target+strings.Repeat("%61", size/3), nil, 0
			}
			r := httptest.NewRequest(door.method, target, body)
			r.ContentLength, r.RemoteAddr = int64(size), fmt.Sprintf("192.0.2.%d:1000", i)
			r.Header = http.Header{"Content-Type": {door.media}, "Accept": {"application/json, text/html"}, "Sec-Fetch-Site": {"same-origin"}}
			w := httptest.NewRecorder()
			c.Handler.ServeHTTP(w, r)
			return w
		}
		name := door.method + " " + door.path
		if w := send(input, strings.NewReader(strings.Repeat("a", input))); w.Code == http.StatusTooManyRequests || w.Header().Get("RateLimit")[:14] != `"default";r=0;` {
			t.Errorf("%s: %d, RateLimit %q, want nothing left of three units", name, w.Code, w.Header().Get("RateLimit"))
		}
		if w := send(1, unread{t, name}); w.Code != http.StatusTooManyRequests {
			t.Errorf("%s without a unit: %d", name, w.Code)
		}
	}
}

// TestRate lets one caller ask too much: it is told so by both endpoints, others are
// not, and after a while it is heard again.
func TestRate(t *testing.T) {
	t.Parallel()
	l := newLimited(t)
	synctest.Test(t, func(t *testing.T) {
		for left := 4; left >= 0; left-- {
			w := l.ask(ada)
			want := fmt.Sprintf(`"default";r=%d;t=1`, left)
			if got := w.Header().Get("RateLimit"); w.Code != http.StatusNotFound || got != want || w.Header().Get("RateLimit-Policy") != `"default";q=5;w=3` {
				t.Errorf("status %d, RateLimit %q, want %q, policy %q", w.Code, got, want, w.Header().Get("RateLimit-Policy"))
			}
		}
		for target, body := range map[string]string{
			"/api/books": `{"success":false,"message":"Too Many Attempts.","data":null}`,
			"/graphql?query={__typename}": `{"errors":[{"message":"Too many requests. Try again in 1 s.",` +
				`"extensions":{"code":"RATE_LIMITED","requestId":"test","retryAfter":1}}]}`,
		} {
			w := l.askFor(target, ada)
			h := w.Header()
			if w.Code != http.StatusTooManyRequests || w.Body.String() != body || h.Get("Retry-After") != "1" || h.Get("RateLimit") != `"default";r=0;t=1` || h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: status %d, %v: %s", target, w.Code, h, w.Body)
			}
		}
		if w := l.ask(bob); w.Code != http.StatusNotFound {
			t.Errorf("another address: status %d", w.Code)
		}
		for _, target := range []string{"/healthz", "/livez", "/readyz"} {
			if w := l.askFor(target, ada); w.Code != http.StatusOK || w.Header().Get("RateLimit") != "" {
				t.Errorf("%s: status %d, %v", target, w.Code, w.Header())
			}
		}
		time.Sleep(time.Second) // there are two units again
		for _, want := range []int{404, 404, 429} {
			if w := l.ask(ada); w.Code != want {
				t.Errorf("a second later: status %d, want %d", w.Code, want)
			}
		}
		time.Sleep(time.Hour) // no more than the burst
		for n := range 7 {
			if w := l.ask(ada); (w.Code == http.StatusTooManyRequests) != (n >= 5) {
				t.Errorf("an hour later, request %d: status %d", n, w.Code)
			}
		}
	})
}

// TestRateOfPages wants all that is answered to be limited but health, for which
// probes ask.
func TestRateOfPages(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]int{
		"/playground": http.StatusTooManyRequests, "/openapi.yaml": http.StatusTooManyRequests, "/nothing": http.StatusTooManyRequests,
		"/livez": http.StatusOK, "/healthz": http.StatusOK, "/readyz": http.StatusOK,
	} {
		l := newLimited(t)
		synctest.Test(t, func(t *testing.T) {
			for range 5 {
				l.ask(ada)
			}
			if w := l.askFor(target, ada); w.Code != want {
				t.Errorf("%s: status %d, want %d", target, w.Code, want)
			}
		})
	}
}

// TestRateCallers asks from one place until it is refused, and then from another:
// the same caller is refused there too.
func TestRateCallers(t *testing.T) {
	t.Parallel()
	proxies, err := caller.ParseProxies([]string{"10.0.0.0/8", "fd00::1"})
	servertest.Must(t, err)
	const proxy = "10.0.0.1:80"
	for name, tt := range map[string]struct {
		from, to []string // an address, and headers
		same     bool
	}{
		"another port":                    {[]string{"192.0.2.1:1"}, []string{"192.0.2.1:2"}, true},
		"IPv4 in IPv6":                    {[]string{"192.0.2.1:1"}, []string{"[::ffff:192.0.2.1]:1"}, true},
		"another IPv4":                    {[]string{"192.0.2.1:1"}, []string{"192.0.2.3:1"}, false},
		"the same /64":                    {[]string{"[2001:db8:1:2::1]:1"}, []string{"[2001:db8:1:2:ffff:ffff:ffff:ffff]:1"}, true},
		"another /64":                     {[]string{"[2001:db8:1:2::1]:1"}, []string{"[2001:db8:1:3::1]:1"}, false},
		"a zone":                          {[]string{"[fe80::1%eth0]:1"}, []string{"[fe80::1%eth1]:1"}, true},
		"no address":                      {[]string{"@"}, []string{""}, true},
		"a subject elsewhere":             {[]string{ada, "As: ada"}, []string{bob, "As: ada"}, true},
		"two subjects":                    {[]string{ada, "As: ada"}, []string{ada, "As: bob"}, false},
		"with a token and without":        {[]string{ada, "As: ada"}, []string{ada}, false},
		"a token without subject":         {[]string{ada, "As: "}, []string{ada}, true},
		"a subject like an address":       {[]string{"192.0.2.1:1", "As: 192.0.2.1"}, []string{"192.0.2.1:1"}, false},
		"X-Forwarded-For of a client":     {[]string{ada, "X-Forwarded-For: 1.1.1.1"}, []string{ada, "X-Forwarded-For: 2.2.2.2"}, true},
		"Forwarded of a client":           {[]string{ada, "Forwarded: for=1.1.1.1"}, []string{ada, "Forwarded: for=2.2.2.2"}, true},
		"X-Real-IP of a client":           {[]string{proxy, "X-Real-Ip: 1.1.1.1"}, []string{proxy, "X-Real-Ip: 2.2.2.2"}, true},
		"two clients of a proxy":          {[]string{proxy, "X-Forwarded-For: 1.1.1.1"}, []string{proxy, "X-Forwarded-For: 2.2.2.2"}, false},
		"two clients, Forwarded":          {[]string{proxy, "Forwarded: for=1.1.1.1;proto=https"}, []string{proxy, `Forwarded: proto=https; For="2.2.2.2:80"`}, false},
		"by two proxies":                  {[]string{proxy, "X-Forwarded-For: 1.1.1.1"}, []string{"[fd00::1]:1", "X-Forwarded-For: 1.1.1.1, 10.9.9.9"}, true},
		"by two headers":                  {[]string{proxy, "X-Forwarded-For: 1.1.1.1"}, []string{proxy, "X-Forwarded-For: 3.3.3.3", "X-Forwarded-For: 1.1.1.1", "X-Forwarded-For: 10.2.2.2"}, true},
		"by X-Forwarded-For or Forwarded": {[]string{proxy, "X-Forwarded-For: 2001:db8::1"}, []string{proxy, `Forwarded: for="[2001:db8::1]:4711"`}, true},
		"by both, alike":                  {[]string{proxy, "X-Forwarded-For: 1.1.1.1"}, []string{proxy, "X-Forwarded-For: 1.1.1.1", "Forwarded: for=1.1.1.1"}, true},
		"with a port":                     {[]string{proxy, "X-Forwarded-For: 1.1.1.1"}, []string{proxy, "X-Forwarded-For: 1.1.1.1:55"}, true},
		"what a client put before":        {[]string{proxy, "X-Forwarded-For: 7.7.7.7, 1.1.1.1"}, []string{proxy, "X-Forwarded-For: 8.8.8.8,1.1.1.1"}, true},
		"a proxy's name put before":       {[]string{proxy, "X-Forwarded-For: 10.1.1.1, 1.1.1.1"}, []string{proxy, "X-Forwarded-For: 10.2.2.2, 1.1.1.1"}, true},
		"garbage put before":              {[]string{proxy, "X-Forwarded-For: x, 1.1.1.1"}, []string{proxy, "X-Forwarded-For: \", 1.1.1.1"}, true},
		"a quote left open before":        {[]string{proxy, `Forwarded: for="7.7.7.7, for=1.1.1.1`}, []string{proxy, `Forwarded: for="8.8.8.8, for=1.1.1.1`}, true},
		"a header that a proxy lets by":   {[]string{proxy, "X-Forwarded-For: 1.1.1.1", "Forwarded: for=7.7.7.7"}, []string{proxy, "X-Forwarded-For: 1.1.1.1", "Forwarded: for=8.8.8.8"}, true},
		"the other one let by":            {[]string{proxy, "Forwarded: for=1.1.1.1", "X-Forwarded-For: 7.7.7.7"}, []string{proxy, "Forwarded: for=1.1.1.1", "X-Forwarded-For: 8.8.8.8"}, true},
		"garbage from a proxy":            {[]string{proxy, "X-Forwarded-For: unknown"}, []string{proxy, "X-Forwarded-For: 1.1.1.1, "}, true},
		"hidden by a proxy":               {[]string{proxy, "Forwarded: for=_hidden"}, []string{proxy, "Forwarded: for=unknown, proto=http"}, true},
		"nothing from a proxy":            {[]string{proxy}, []string{proxy, "X-Forwarded-For: "}, true},
		"a client within":                 {[]string{proxy, "X-Forwarded-For: 10.5.5.5"}, []string{proxy, "X-Forwarded-For: 10.6.6.6"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLimited(t, func(cfg *server.Config) { cfg.Proxies, cfg.Rate = proxies, ratelimit.Rate{PerSecond: 0.001, Burst: 2} })
			synctest.Test(t, func(t *testing.T) {
				for l.ask(tt.from[0], tt.from[1:]...).Code != http.StatusTooManyRequests {
				}
				if same := l.ask(tt.to[0], tt.to[1:]...).Code == http.StatusTooManyRequests; same != tt.same {
					t.Errorf("the same caller: %t, want %t", same, tt.same)
				}
			})
		})
	}
}

// TestRateAtOnce lets many ask at the same time: no more get through than there
// are units.
func TestRateAtOnce(t *testing.T) {
	t.Parallel()
	l := newLimited(t, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 0.001, Burst: 50} })
	synctest.Test(t, func(t *testing.T) {
		var through atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 50 {
					if l.ask(ada).Code != http.StatusTooManyRequests {
						through.Add(1)
					}
				}
			})
		}
		all.Wait()
		if through.Load() != 50 {
			t.Errorf("%d requests went through, want 50", through.Load())
		}
	})
}

// TestRateOff: without a limit nothing is said of one.
func TestRateOff(t *testing.T) {
	t.Parallel()
	l := newLimited(t, func(cfg *server.Config) { cfg.Rate.PerSecond = 0 })
	for range 100 {
		if w := l.ask(ada); w.Code != http.StatusNotFound || w.Header().Get("RateLimit") != "" || w.Header().Get("RateLimit-Policy") != "" {
			t.Fatalf("status %d, %v", w.Code, w.Header())
		}
	}
}

// TestRateOfDocuments sends a document of 1,100 bytes, which costs more the first time,
// alone and with its hash.
func TestRateOfDocuments(t *testing.T) {
	t.Parallel()
	document := "{ __typename " + strings.Repeat(" ", 1_100) + "}"
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(document)))
	for name, extensions := range map[string]string{"alone": "", "with its hash": `,"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}`} {
		synctest.Test(t, func(t *testing.T) {
			l := newLimited(t)
			for i, want := range []string{`"default";r=2;t=1`, `"default";r=1;t=1`, `"default";r=0;t=1`} {
				r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"`+document+`"`+extensions+`}`))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				l.ServeHTTP(w, r)
				if got := w.Header().Get("RateLimit"); w.Code != http.StatusOK || got != want {
					t.Errorf("%s, request %d: %d %s, want %s", name, i, w.Code, got, want)
				}
			}
		})
	}
}
