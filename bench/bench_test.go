package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMeasure measures a server with correct responses, and three with wrong ones.
func TestMeasure(t *testing.T) {
	t.Parallel()
	w, o := workload{path: "/$(1-9)", names: 2}, options{slice: 200 * time.Millisecond, connections: 3}
	for name, answer := range map[string]func(http.ResponseWriter){
		"": func(w http.ResponseWriter) { fmt.Fprint(w, `{"name":1,"name":2}`) },
		"status 503": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"name":1,"name":2}`)
		},
		"with 1 names": func(w http.ResponseWriter) { fmt.Fprint(w, `{"name":1}`) },
		"EOF":          func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		s, err := (&service{url: served.URL}).measure(t.Context(), w, o, 1)
		served.Close()
		if name == "" && (err != nil || s[rate] <= 0 || s[server] != 0 || s[database] != 0) {
			t.Errorf("%+v, %v", s, err)
		}
		if name != "" && (err == nil || !strings.Contains(err.Error(), name)) {
			t.Errorf("%v, want %q", err, name)
		}
	}
}

// TestProcessorTime spins until this process has used a tick.
func TestProcessorTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	for processorTime(os.Getpid()) == 0 {
	}
}

// TestFill checks that no placeholder is left, and that the same seed gives the same text.
func TestFill(t *testing.T) {
	t.Parallel()
	for _, w := range workloads {
		text := w.path + w.body()
		var filled [2]string
		for i := range filled {
			filled[i] = fill(text, rand.New(rand.NewPCG(1, 2)), []string{"c"})
		}
		if filled[0] != filled[1] || strings.Contains(filled[0], "$(") {
			t.Errorf("%s: %q", w.name, filled)
		}
	}
}

func TestRow(t *testing.T) {
	t.Parallel()
	samples := [2][]sample{{{1, 1, 10}, {4, 0, 20}, {2, 0, 30}}, {{3, 1, 40}, {4, 0, 10}, {1, 0, 20}}}
	const want = "| W: w | 2.000 | 3.000 | 0.000 | 0.000 | **1.000** | 20 | 20 |"
	if got := row(workload{name: "W", title: "w"}, samples); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBooks(t *testing.T) {
	t.Parallel()
	text, err := io.ReadAll(books())
	if n := bytes.Count(text, []byte("\n")); err != nil || n != allBooks+1 {
		t.Errorf("%d lines, %v", n, err)
	}
}
