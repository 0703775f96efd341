package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"
	"time"
)

// TestArchives: the bytes depend on the contents and the date alone, and not on who made
// the files, and when.
func TestArchives(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	for name, write := range map[string]func(string, string, []file, time.Time) error{"tar": writeTar, "zip": writeZip} {
		var made [2][]byte
		for i := range made {
			folder := t.TempDir()
			source, target := filepath.Join(folder, "program"), filepath.Join(folder, "archive")
			if err := os.WriteFile(source, []byte("content"), []os.FileMode{0o600, 0o755}[i]); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(source, time.Time{}, time.Unix(int64(i), 0)); err != nil {
				t.Fatal(err)
			}
			if err := write(target, "catalogue_1", []file{{source, "bin/catalogue", 0o755}}, date); err != nil {
				t.Fatal(err)
			}
			var err error
			if made[i], err = os.ReadFile(target); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("%s: two archives of the same are not the same", name)
		}
		if name == "tar" {
			wantInTar(t, made[0], "catalogue_1/bin/catalogue", 0o755, date)
		}
	}
}

func wantInTar(t *testing.T, archive []byte, name string, mode int64, date time.Time) {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	r := tar.NewReader(unpacked)
	header, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if header.Name != name || header.Mode != mode || !header.ModTime.Equal(date) || header.Uid != 0 || header.Uname != "" {
		t.Errorf("%+v", header)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("a second file, %v", err)
	}
}

// TestMaterials: a replaced module stands under the name of what was built.
func TestMaterials(t *testing.T) {
	t.Parallel()
	text := materials(&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "library-catalogue", Version: "v1.0.0"}, Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.2.3+incompatible"},
		{Path: "example.org/b", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/c", Version: "v0.2.0"}},
	}}, time.Unix(0, 0).UTC())
	var bom struct {
		Components   []struct{ PURL string }
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(text, &bom); err != nil {
		t.Fatal(err)
	}
	want := []string{"pkg:golang/std@1.26.0", "pkg:golang/example.org/a@v1.2.3%2Bincompatible", "pkg:golang/example.org/c@v0.2.0"}
	var got []string
	for _, part := range bom.Components {
		got = append(got, part.PURL)
	}
	if !slices.Equal(got, want) || len(bom.Dependencies) != 1 || !slices.Equal(bom.Dependencies[0].DependsOn, want) {
		t.Errorf("%q, want %q in\n%s", got, want, text)
	}
}
