package serve

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"library-catalogue/cmd/catalogue/cli"
)

const (
	// gcPercent lets the heap grow to three times what is in use before garbage is
	// collected: little is in use, and collecting costs more than the memory.
	gcPercent = 200

	// workingMemory is how many bytes beside the cache end that: from there on
	// garbage is collected often, and a flood of large requests takes little more.
	// The runtime and what the service holds for itself take 20 MB of it: with 24 MB
	// lists of 100 books were answered at three quarters of the rate.
	workingMemory = 48 << 20

	// memoryInterval is the time between two looks at the memory in use.
	memoryInterval = time.Second
)

// tuneGC sets the garbage collector until ctx ends, as far as GOGC and GOMEMLIMIT
// do not.
func tuneGC(ctx context.Context, cacheBytes int, env cli.Getenv) {
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env("GOMEMLIMIT") != "" {
		return
	}
	least := workingMemory + int64(cacheBytes)
	limitMemory(least)
	go func() {
		for tick := time.NewTicker(memoryInterval); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				limitMemory(least)
			}
		}
	}()
}

// limitMemory sets the limit of memory to least, or to a fifth more than is in use
// where that is more: nearer to what is in use, collecting would take all the time.
func limitMemory(least int64) {
	use := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(use)
	limit := max(least, int64(use[0].Value.Uint64()+use[1].Value.Uint64())*6/5)
	// Setting it stops all goroutines for a moment: a change of less than a tenth is
	// not worth that.
	if now := debug.SetMemoryLimit(-1); math.Abs(float64(limit-now)) > float64(now)/10 {
		debug.SetMemoryLimit(limit)
	}
}

// freeStartupMemory returns the memory that only the start needed to the system:
// goose reads migrations through buffers of 4 MB in a sync.Pool, which keeps them
// until the second collection.
func freeStartupMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
