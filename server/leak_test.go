package server_test

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

// TestMain holds that the tests leave nothing behind: no goroutine runs, and no
// file or connection is open that was not before.
func TestMain(m *testing.M) {
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

// openFiles returns what the process has open, where the system tells.
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
		if err == nil && !strings.HasPrefix(target, "anon_inode:[event") { // but that of ReadDir, and Go's own
			open = append(open, target)
		}
	}
	return open
}
