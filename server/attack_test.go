package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/attack"
	"library-catalogue/server/graphqlhttp"
)

// processorTime returns the least processor time that one of several runs took.
func processorTime(runs int, f func()) time.Duration {
	used := func() time.Duration {
		var usage syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	least := time.Duration(1<<63 - 1)
	for range runs {
		before := used()
		f()
		least = min(least, used()-before)
	}
	return least
}

// TestAttacks compares the processor time of each attack with that of a plain
// query which is sent in as many bytes.
func TestAttacks(t *testing.T) {
	const (
		runs   = 3
		atMost = 200      // times the plain query
		memory = 64 << 20 // bytes allocated in all
	)
	c := serve(t, catalogtest.SQLite(t))
	c.shelves(t)
	send := func(body string) *httptest.ResponseRecorder {
		return c.do(http.MethodPost, "/graphql", body, "Authorization:")
	}
	numbered := 0
	anew := func(body string) string { // a document that was not seen before
		numbered++
		return strings.Replace(body, `"query":"`, fmt.Sprintf(`"query":"#%d\n`, numbered), 1)
	}
	plainOf := map[int]time.Duration{}
	plain := func(bytes int) time.Duration {
		size := 1 << 10 // the next power of two
		for size < bytes {
			size *= 2
		}
		if plainOf[size] == 0 {
			const query = `{"query":"{ books(first: 100) { nodes { id name pages genre { name category { name } } } } }`
			body := query + strings.Repeat(" ", min(size, 1<<20)-len(query)-20) + `"}`
			plainOf[size] = processorTime(2*runs, func() { send(anew(body)) })
		}
		return plainOf[size]
	}
	for _, a := range attack.Bodies() {
		var w *httptest.ResponseRecorder
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		took := processorTime(runs, func() { w = send(anew(a.Text)) })
		runtime.ReadMemStats(&after)
		ratio := float64(took) / float64(plain(len(a.Text)))
		allocated := (after.TotalAlloc - before.TotalAlloc) / runs
		t.Logf("%-42s %7d bytes %6.2f ms %5.1f× %5.1f MB", a.Name, len(a.Text), float64(took.Microseconds())/1000, ratio, float64(allocated)/(1<<20))
		if ratio > atMost || allocated > memory {
			t.Errorf("%s costs %.0f times a plain query, and %d bytes", a.Name, ratio, allocated)
		}
		size := w.Body.Len()
		code, got := "", parse(t, w)
		if len(got.Errors) > 0 {
			code = got.Errors[0].Extensions.Code
		}
		if w.Code != a.Status || code != a.Code || len(got.Errors) > graphqlhttp.DefaultLimits.Errors || size > 64<<10 {
			t.Errorf("%s: status %d, %q, %d errors in %d bytes; want %d, %q", a.Name, w.Code, code, len(got.Errors), size, a.Status, a.Code)
		}
	}
	if c.log.has("level=ERROR") || c.log.has("panic") {
		t.Errorf("the log has an error:\n%.2000s", &c.log.text)
	}
}
