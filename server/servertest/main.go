// Package servertest runs a whole server in tests: on a database of its own, with a client
// that holds a token.
package servertest

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"library-catalogue/db/dbtest"
)

// Main runs a package's tests. It fails if they leave a goroutine running, or a file or
// connection open.
func Main(m *testing.M) {
	before := openFiles()
	code := m.Run()
	if err := dbtest.Stop(); err != nil {
		panic(err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if after := openFiles(); len(after) > len(before) && code == 0 {
		fmt.Fprintf(os.Stderr, "open before: %v\nopen after: %v\n", before, after)
		code = 1
	}
	os.Exit(code)
}

// openFiles lists the open files of the process on Linux, and none elsewhere.
func openFiles() (open []string) {
	if runtime.GOOS != "linux" {
		return nil
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		target, err := os.Readlink("/proc/self/fd/" + entry.Name())
		if err == nil && !strings.HasPrefix(target, "anon_inode:[event") { // Go's poller
			open = append(open, target)
		}
	}
	return open
}
