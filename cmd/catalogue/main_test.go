package main

import (
	"strings"
	"testing"
)

// noEnv is an environment without variables.
var noEnv []string

// catalogue runs the command line and returns what it printed. It must end with code.
func catalogue(t *testing.T, code int, stdin string, args ...string) (out string) {
	t.Helper()
	return catalogueWith(t, noEnv, code, stdin, args...)
}

// catalogueWith is catalogue in an environment.
func catalogueWith(t *testing.T, env []string, code int, stdin string, args ...string) (out string) {
	t.Helper()
	var stdout, stderr strings.Builder
	err := run(t.Context(), args, env, strings.NewReader(stdin), &stdout, &stderr)
	if got := report(err, &stderr); got != code {
		t.Fatalf("catalogue %q ended with %d, not %d\n%s%s", args, got, code, &stdout, &stderr)
	}
	return stdout.String()
}

// TestEnvironment: a variable that cannot be read is named, and an empty one is
// not set.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	var stdout, stderr strings.Builder
	env := []string{"CATALOGUE_CACHE_MB=many"}
	err := run(t.Context(), []string{"config"}, env, strings.NewReader(""), &stdout, &stderr)
	if code := report(err, &stderr); code != 2 || !strings.Contains(stderr.String(), `(from the environment variable CATALOGUE_CACHE_MB="many")`) {
		t.Errorf("ended with %d: %s", code, &stderr)
	}
	help := catalogueWith(t, env, 0, "", "serve", "--help")
	if !strings.Contains(help, "($CATALOGUE_CACHE_MB).") {
		t.Errorf("the variable is not in\n%s", help)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	if flag, command := catalogue(t, 0, "", "--version"), catalogue(t, 0, "", "version"); flag != command {
		t.Errorf("--version prints %q, version %q", flag, command)
	}
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
