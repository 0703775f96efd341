package dbtest

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// installed are the usual folders of PostgreSQL's server: Debian, Red Hat, Homebrew on both
// processors, Postgres.app, and its own Makefile.
var installed = []string{
	"/usr/lib/postgresql/[1-9][0-9]/bin",
	"/usr/pgsql-[1-9][0-9]/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/[1-9][0-9]/bin",
	"/usr/local/pgsql/bin",
}

var errNoServer = errors.New("these tests need PostgreSQL: run make postgres, which installs its server " +
	"(macOS: brew install postgresql), or set " + serverVariable +
	" to the URL of a server in which databases may be created; go test -short does without")

// binaries returns the first folder with both initdb and postgres: on PATH, of pg_config, or the
// newest that matches a pattern.
func binaries(patterns ...string) (string, error) {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if original, err := filepath.EvalSymlinks(path); err == nil { // the other programs are next to it
			dirs = append(dirs, filepath.Dir(original))
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		slices.Reverse(matches)
		dirs = append(dirs, matches...)
	}
	for _, dir := range dirs {
		_, noInitdb := exec.LookPath(filepath.Join(dir, "initdb"))
		_, noPostgres := exec.LookPath(filepath.Join(dir, "postgres"))
		if noInitdb == nil && noPostgres == nil {
			return dir, nil
		}
	}
	return "", errNoServer
}
