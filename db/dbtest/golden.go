package dbtest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Updating reports whether golden files are rewritten.
func Updating() bool { return *update }

// Golden compares a text with a golden file. go test -update rewrites the file.
func Golden(tb testing.TB, file, got string) {
	tb.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		tb.Errorf("%s differs (-want +got); if it should, run the test with -update:\n%s", file, diff)
	}
}

// Statements collects SQL statements for a golden file.
type Statements struct{ strings.Builder }

// Add adds a statement under a name.
func (s *Statements) Add(name, text string, args []any) {
	fmt.Fprintf(s, "-- %s\n%s\n", name, text)
	for i, arg := range args {
		fmt.Fprintf(s, "-- $%d = %v\n", i+1, arg)
	}
	s.WriteByte('\n')
}
