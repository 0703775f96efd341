package serve

import (
	"runtime"
	"runtime/debug"

	"library-catalogue/cmd/catalogue/cli"
)

const (
	// gcPercent lets the heap grow to three times its live data, because that data is small and
	// collecting garbage costs more than the memory.
	gcPercent = 200

	// workingMemory is the memory limit in bytes without the cache: more than requests and imports hold at once.
	workingMemory = 256 << 20
)

// tuneGC sets the garbage collector, except for what GOGC and GOMEMLIMIT set. The memory limit keeps a large
// cache from taking three times its size.
func tuneGC(cacheBytes int, env cli.Getenv) {
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(workingMemory + int64(cacheBytes)*5/4)
	}
}

// freeStartupMemory returns the memory of the start to the system: goose reads migrations through buffers of
// 4 MB in a sync.Pool, which keeps them until the second collection.
func freeStartupMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
