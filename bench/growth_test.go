package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGrowth measures a small catalogue on SQLite, whose responses must all be right.
func TestGrowth(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "catalogue")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "./cmd/catalogue")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	g := &growth{program: program, folder: t.TempDir()}
	c := &catalogue{program: program, database: "sqlite:" + g.file("sqlite", 1000) + ".db"}
	if err := c.command(t.Context(), "db", "migrate", "up").Run(); err != nil {
		t.Fatal(err)
	}
	if err := fillSQLite(t.Context(), g.file("sqlite", 1000)+".db", 600); err != nil { // the next fill continues
		t.Fatal(err)
	}
	cells, err := g.part(t.Context(), "sqlite", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range catalogueLines(1000, "", "") {
		if cells[l.name] == "" {
			t.Errorf("%s was not measured", l.name)
		}
	}
	if out, err := c.command(t.Context(), "db", "doctor").Output(); err != nil {
		t.Errorf("the program would have stored other rows: %v: %s", err, out)
	}
}

// TestGenerator makes a book again after another one.
func TestGenerator(t *testing.T) {
	t.Parallel()
	g := newGenerator()
	first := g.book(12)
	g.book(13)
	if again := g.book(12); again != first {
		t.Errorf("%+v, want %+v", again, first)
	}
}
