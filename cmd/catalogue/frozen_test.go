//go:build soak

package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
)

// TestFrozenDatabase stops PostgreSQL without closing a connection. All is answered
// in time meanwhile, and all is as before within a second of its going on.
func TestFrozenDatabase(t *testing.T) {
	const (
		requestTimeout = 33 * time.Second // 30 s that the server works on an answer, and what saying so takes
		probeTimeout   = 3 * time.Second
	)
	cluster := dbtest.Durable(t)
	s := startTarget(t, targetProgram(t), cluster.Database(t), soakBooks)
	clients := newHonest(t, s, "")
	alone := clients.measure(t.Context(), 5*time.Second)
	ready := func() (status int, took time.Duration) {
		begun := time.Now()
		response, err := http.Get("http://" + s.public + "/readyz")
		if err != nil {
			t.Errorf("/readyz after %v: %v", time.Since(begun), err)
			return 0, time.Since(begun)
		}
		response.Body.Close()
		return response.StatusCode, time.Since(begun)
	}
	for range 2 { // the second time there are connections that waited the first time
		cluster.Freeze(t)
		var asking sync.WaitGroup
		for i, k := range kinds {
			asking.Go(func() {
				took, err := clients.ask(t.Context(), i, 3)
				if err == nil || !strings.Contains(err.Error(), "status 503") && !strings.Contains(err.Error(), "UNAVAILABLE") || took > requestTimeout {
					t.Errorf("%s was answered after %v: %v", k.name, took, err)
				}
			})
		}
		for range 5 {
			if status, took := ready(); status != http.StatusServiceUnavailable || took > probeTimeout {
				t.Errorf("/readyz: %d after %v", status, took)
			}
			time.Sleep(time.Second)
		}
		asking.Wait()
		cluster.Thaw(t)
		time.Sleep(time.Second)
		for i, k := range kinds {
			if took, err := clients.ask(t.Context(), i, 4); err != nil || took > limit(alone[i].quantile(1)) {
				t.Errorf("afterwards, %s was answered after %v: %v", k.name, took, err)
			}
		}
		if status, _ := ready(); status != http.StatusOK {
			t.Errorf("afterwards, /readyz: %d", status)
		}
	}
}
