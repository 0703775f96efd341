package serve

import (
	"runtime"
	"sync"
	"testing"
)

// TestAddThreads adds a thread for each connection once, unless the operator has set GOMAXPROCS.
func TestAddThreads(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	threads = sync.Once{}
	for _, test := range []struct {
		variable string
		want     int
	}{{"3", 3}, {"", 11}, {"", 11}} {
		t.Setenv("GOMAXPROCS", test.variable)
		addThreads(8)
		if got := runtime.GOMAXPROCS(0); got != test.want {
			t.Errorf("GOMAXPROCS=%s: %d threads, want %d", test.variable, got, test.want)
		}
	}
}
