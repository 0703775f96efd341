package serve

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestLimitMemory holds much memory for a while: the limit makes way, and comes
// back.
func TestLimitMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	const least, much = 64 << 20, 100 << 20
	within := func(what string, low, high int64) {
		t.Helper()
		runtime.GC()
		limitMemory(least)
		if got := debug.SetMemoryLimit(-1); got < low || got > high {
			t.Errorf("%s: the limit is %d MB, want %d to %d", what, got>>20, low>>20, high>>20)
		}
	}
	within("at first", least, least)
	held := make([]byte, much)
	within("with much in use", much*6/5, much*6/5+least)
	runtime.KeepAlive(held)
	held = nil
	within("afterwards", least, least)
}
