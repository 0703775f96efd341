package main

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcPercent lets the heap grow to three times what is in use before garbage is
	// collected: little is in use, and collecting costs more than the memory.
	gcPercent = 200

	// workingMemory is how many bytes there may be beside the cache before that
	// ends, so that a flood of large requests takes little more.
	workingMemory = 24 << 20
)

// tendMemory sets the garbage collector to work until ctx ends, as far as GOGC
// and GOMEMLIMIT do not say how.
func tendMemory(ctx context.Context, cacheBytes int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	least := workingMemory + int64(cacheBytes)
	limitMemory(least)
	go func() {
		for tick := time.NewTicker(time.Second); ; {
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
	// To set it stops everything for a moment, so small changes are let be.
	if now := debug.SetMemoryLimit(-1); math.Abs(float64(limit-now)) > float64(now)/10 {
		debug.SetMemoryLimit(limit)
	}
}
