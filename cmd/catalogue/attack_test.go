package main

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
	"library-catalogue/server/attack"
)

// ask sends a plain query over a connection of its own.
func (s *target) ask(t *testing.T) {
	t.Helper()
	const query = `{ books(first: 20) { nodes { id name genre { name category { name } } } } }`
	request, err := http.NewRequest(http.MethodGet, "http://"+s.public+"/graphql?query="+url.QueryEscape(query), nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Close = true
	request.Header.Set("Cache-Control", "no-cache")
	response, err := http.DefaultClient.Do(request)
	for range 9 { // clients ask again where the attackers were quicker
		if err == nil {
			break
		}
		response, err = http.DefaultClient.Do(request)
	}
	if err != nil {
		t.Error("a plain query: ", err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte(`{"data":{"books":`)) {
		t.Errorf("a plain query: status %d, %v: %.300s", response.StatusCode, err, body)
	}
}

// TestAttacks attacks the program in every way, with the bodies all at once and the
// others one after another, and at last with everything. Plain queries are answered
// meanwhile, its memory stays bounded, and when it is over, all connections and
// goroutines are gone. Without a soak only every tenth of the others has its turn,
// and the memory of the test's own program is not looked at.
func TestAttacks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how much memory a process held")
	}
	const maxMemory = 100 << 20
	step, queries := 1, 100
	if !dbtest.Soak {
		step, queries = 10, 10
	}
	program := targetProgram(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		s := startTarget(t, program, database, 5_000, "CATALOGUE_RATE=0")
		s.ask(t)
		s.left(t) // which opens the connection of the checks
		goroutines, files := s.left(t)
		for range 10 { // the connection of the query is on its way out
			time.Sleep(100 * time.Millisecond)
			g, f := s.left(t)
			goroutines, files = min(g, goroutines), min(f, files)
		}
		during := func(from, to, clients, queries int) {
			stop := s.attack(t, from, to, attack.Crowd{Clients: clients})
			defer stop()
			for range queries {
				s.ask(t)
			}
		}
		all := attack.All()
		others := len(all) - len(attack.Bodies())
		for i := 0; i < others; i += step {
			during(i, i+1, 20, 30)
			t.Logf("%5.1f MB: %s", float64(s.peak(t))/(1<<20), all[i].Name)
		}
		during(others, len(all), 2*(len(all)-others), queries)
		t.Logf("%5.1f MB: all bodies", float64(s.peak(t))/(1<<20))
		during(0, len(all), 3*len(all), queries)
		peak := s.peak(t)
		t.Logf("%5.1f MB: all at once", float64(peak)/(1<<20))
		if dbtest.Soak && peak > maxMemory {
			t.Errorf("%d bytes of memory were held, more than %d", peak, maxMemory)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			g, f := s.left(t)
			if g <= goroutines && f <= files {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines and %d files are left, of %d and %d before", g, f, goroutines, files)
			}
		}
	})
}
