package serve

import (
	"os"
	"runtime"
	"sync"
)

// addThreads lets Go run each statement of an embedded database on a thread of its own, in addition to one for each
// processor. Go takes a processor from a long statement after 10 ms, and a light request would wait for that several
// times. The kernel gives a thread that wakes up its share at once, as it does next to the processes of PostgreSQL.
//
// It keeps GOMAXPROCS if the operator has set it. The kernel itself keeps the quota of a container.
func addThreads(connections int) {
	if os.Getenv("GOMAXPROCS") == "" {
		threads.Do(func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + connections) })
	}
}

var threads sync.Once // tests serve several times in a process
