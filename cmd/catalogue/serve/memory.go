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

	// workingMemory is the memory limit in bytes without cache and streams: more than requests and imports hold.
	workingMemory = 256 << 20

	// streamMemory is the memory of an open stream in bytes, with its connection.
	streamMemory = 48 << 10
)

// tuneGC sets the garbage collector, except for what GOGC and GOMEMLIMIT set. The memory limit keeps a large
// cache from taking three times its size. Streams raise it: near the limit Go collects garbage all the time.
func tuneGC(cacheBytes, maxStreams int, env cli.Getenv) {
	if env("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(workingMemory + int64(cacheBytes)*5/4 + int64(maxStreams)*streamMemory)
	}
}

// freeStartupMemory returns the memory of the start to the system: goose reads migrations through buffers of
// 4 MB in a sync.Pool, which keeps them until the second collection.
func freeStartupMemory() {
	runtime.GC()
	debug.FreeOSMemory()
}
