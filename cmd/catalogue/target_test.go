package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"library-catalogue/db/dbtest"
)

// targetProgram returns the program to test: with the build tag soak the binary as it
// is shipped, else the test's own, which needs no building.
func targetProgram(t *testing.T) (path string) {
	t.Helper()
	if !dbtest.Soak {
		return linkSelf(t)
	}
	path = filepath.Join(t.TempDir(), "catalogue")
	build := exec.Command("go", "build", "-pgo=off", "-buildvcs=false", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// linkSelf returns a link to the test's program under the name "catalogue", which TestMain knows.
func linkSelf(t *testing.T) (link string) {
	t.Helper()
	program, err := os.Executable()
	must(t, err)
	link = filepath.Join(t.TempDir(), "catalogue")
	must(t, os.Symlink(program, link))
	return link
}
