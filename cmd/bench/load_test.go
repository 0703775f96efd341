package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func serve(t *testing.T, handler http.HandlerFunc) *process {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &process{address: strings.TrimPrefix(server.URL, "http://"), pid: os.Getpid()}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	l := load{connections: 3, duration: time.Second}
	q := get("", "/right", nil, 0)
	q.expect = "Category"
	s, err := l.measure(t.Context(), contender{request: q, server: serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":"` + r.URL.Path + ` Category"}`))
	})})
	if err != nil {
		t.Fatal(err)
	}
	if s.rate <= 0 || s.p50 <= 0 || s.p99 < s.p50 {
		t.Errorf("the load gave %+v", s)
	}
}

// TestLoadEndsByWrongAnswer has the server answer rightly at first.
func TestLoadEndsByWrongAnswer(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat(" ", 2_000)
	for name, wrong := range map[string]http.HandlerFunc{
		"a status": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("Category"))
		},
		"another text": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":null}`)) },
		"errors before the data": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"errors":[],"data":"Category` + filler + `"}`))
		},
		"errors after the data": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"data":"Category` + filler + `","errors":[]}`))
		},
		"a broken connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		var answered atomic.Int64
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if answered.Add(1) > 10 {
				wrong(w, r)
				return
			}
			_, _ = w.Write([]byte("Category"))
		})
		l := load{connections: 2, duration: time.Minute}
		q := get("", "/", nil, 0)
		q.expect = "Category"
		if _, err := l.measure(t.Context(), contender{request: q, server: server}); err == nil {
			t.Errorf("%s is not noticed", name)
		}
	}
}

func TestCheckCountsNames(t *testing.T) {
	t.Parallel()
	for names, right := range map[int]bool{0: true, 2: true, 3: false} {
		if err := get("", "/", nil, names).check(http.StatusOK, []byte(`[{"name":1},{"name":2}]`)); (err == nil) != right {
			t.Errorf("%d names: %v", names, err)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	q := newRequest("POST", "/p?after=$CURSOR", "A: b\r\n", `{"query":"query($id: ID!)","n":"$ID","x":"$UNKNOWN"}`, []string{"CUR"})
	if len(q.variants) != variants {
		t.Errorf("%d variants", len(q.variants))
	}
	want := regexp.MustCompile(`^POST /p\?after=CUR HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nA: b\r\n` +
		`Content-Type: application/json\r\nContent-Length: (\d+)\r\n\r\n(\{"query":"query\(\$id: ID!\)","n":"(\d+)","x":"\$UNKNOWN"\})$`)
	ids := map[string]bool{}
	for _, variant := range q.variants {
		found := want.FindSubmatch(variant)
		if found == nil || string(found[1]) != strconv.Itoa(len(found[2])) {
			t.Fatalf("the request is\n%s", variant)
		}
		ids[string(found[3])] = true
	}
	if len(ids) < variants/2 {
		t.Errorf("the ids of all variants are only %d", len(ids))
	}
	if plain := get("", "/p", nil, 0); len(plain.variants) != 1 || string(plain.variants[0]) != "GET /p HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n" {
		t.Errorf("a request without placeholders is %q", plain.variants)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := 100; i > 0; i-- {
		took = append(took, time.Duration(i))
	}
	for part, want := range map[float64]time.Duration{0: 1, 0.5: 51, 0.99: 100, 1: 100} {
		if got := quantile(took, part); got != want {
			t.Errorf("the %v quantile of 1 to 100 is %d and not %d", part, got, want)
		}
	}
	if got := quantile([]time.Duration{7}, 0.99); got != 7 {
		t.Errorf("the 0.99 quantile of one is %d", got)
	}
}

// TestWithin counts the part of a request that lies in the time measured.
func TestWithin(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	for _, c := range []struct {
		from, to int
		want     float64
	}{{10, 12, 1}, {8, 12, 0.5}, {18, 22, 0.5}, {5, 25, 0.5}, {5, 9, 0}, {21, 25, 0}} {
		if got := within(at(c.from), at(c.to), at(10), at(20)); got != c.want {
			t.Errorf("%d to %d lies in 10 to 20 by %v and not %v", c.from, c.to, got, c.want)
		}
	}
}
