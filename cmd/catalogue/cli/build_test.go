package cli

import "testing"

func TestBuild(t *testing.T) {
	t.Parallel()
	b := Build{Version: "v1.2.3", Commit: "abc", Date: "2026-11-22T20:00:00Z", Compiler: "go1.26.0"}
	if got, want := b.String(), "catalogue v1.2.3, commit abc of 2026-11-22T20:00:00Z, go1.26.0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Modified = true
	if got, want := b.String(), "catalogue v1.2.3, commit abc with changes of 2026-11-22T20:00:00Z, go1.26.0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
