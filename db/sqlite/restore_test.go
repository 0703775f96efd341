package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/sqlite"
)

// upgrade opens a copy as the program does.
func upgrade(ctx context.Context, path string) error {
	store, err := db.New(ctx, "sqlite:"+path, db.Options{})
	if err != nil {
		return err
	}
	return errors.Join(store.Start(ctx), store.Close())
}

// newBackup returns a backup of a database with so many books.
func newBackup(t *testing.T, books int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "backup.db")
	if _, err := sqlite.Backup(t.Context(), newDatabase(t, "backup", books), file, false); err != nil {
		t.Fatal(err)
	}
	return file
}

// abandoned makes of a database what a server leaves that is killed: its last books are in
// the write-ahead log.
func abandoned(t *testing.T, path string) {
	t.Helper()
	db := connect(t, path)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `PRAGMA wal_autocheckpoint = 0`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('last 1', 1, '2000-01-01', 'a', 1, 1)`); err != nil {
		t.Fatal(err)
	}
	for _, sidecar := range []string{"", "-wal"} {
		if err := copyFile(path+sidecar, path+sidecar+"~"); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	for _, sidecar := range []string{"", "-wal"} {
		if err := os.Rename(path+sidecar+"~", path+sidecar); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestore puts a backup in the place of a database whose log has more than the file.
func TestRestore(t *testing.T) {
	t.Parallel()
	file := newBackup(t, 10)
	backup, _ := os.ReadFile(file)
	path := newDatabase(t, "old", 20)
	abandoned(t, path)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	restored, err := sqlite.Restore(t.Context(), file, path, upgrade)
	if err != nil || restored.Books != 10 || restored.Kept == "" {
		t.Fatal(restored, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	if got, want := files(t, path), []string{filepath.Base(path), filepath.Base(restored.Kept)}; !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	if got, kept := names(t, path), names(t, restored.Kept); got != "backup 10" || kept != "last 1, old 20" {
		t.Errorf("the database has %s, and %s is kept", got, kept)
	}
	if after, _ := os.ReadFile(file); !bytes.Equal(after, backup) {
		t.Error("the backup was changed")
	}
	// The other way round, and then where there is none.
	if restored, err = sqlite.Restore(t.Context(), restored.Kept, path, upgrade); err != nil || names(t, path) != "last 1, old 20" || names(t, restored.Kept) != "backup 10" {
		t.Error(restored, err)
	}
	nowhere := filepath.Join(t.TempDir(), "new.db")
	if restored, err := sqlite.Restore(t.Context(), file, nowhere, upgrade); err != nil || restored.Kept != "" || names(t, nowhere) != "backup 10" {
		t.Error(restored, err)
	}
}

// TestRestoreInUse: a database that another process or connection has open, though it does
// nothing, is not replaced.
func TestRestoreInUse(t *testing.T) {
	t.Parallel()
	file, path := newBackup(t, 10), newDatabase(t, "old", 20)
	refused := func() {
		t.Helper()
		before := files(t, path)
		_, err := sqlite.Restore(t.Context(), file, path, upgrade)
		if err == nil || !strings.Contains(err.Error(), "nothing was changed: "+path+" is in use: stop catalogue serve") {
			t.Errorf("it says %v", err)
		}
		if after := files(t, path); !slices.Equal(after, before) || names(t, path) != "old 20" {
			t.Errorf("%q are left, there were %q", after, before)
		}
	}
	store, err := db.Open(t.Context(), "sqlite:"+path, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refused()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	stop := child(t, "hold", path)
	refused()
	stop()
	if _, err := sqlite.Restore(t.Context(), file, path, upgrade); err != nil {
		t.Error(err)
	}
}

// TestRestoreDamaged replaces what cannot be read, and keeps it byte by byte.
func TestRestoreDamaged(t *testing.T) {
	t.Parallel()
	file := newBackup(t, 10)
	for name, spoil := range map[string]func(path string){
		"pages":     func(path string) { damage(t, path) },
		"no header": func(path string) { _ = os.WriteFile(path, bytes.Repeat([]byte("This is no database."), 1000), 0o600) },
		"empty":     func(path string) { _ = os.WriteFile(path, nil, 0o600) },
		"foreign": func(path string) {
			_ = os.WriteFile(path, nil, 0o600)
			exec(t, path, `CREATE TABLE t (a)`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newDatabase(t, "old", 200)
			spoil(path)
			content, _ := os.ReadFile(path)
			restored, err := sqlite.Restore(t.Context(), file, path, upgrade)
			if err != nil || names(t, path) != "backup 10" {
				t.Fatal(restored, err)
			}
			// What SQLite could open has another journal mode in its header.
			if kept, err := os.ReadFile(restored.Kept); err != nil || len(content) > 0 && (len(kept) != len(content) || !bytes.Equal(kept[4096:], content[4096:])) {
				t.Errorf("%d bytes are kept of %d, %v", len(kept), len(content), err)
			}
		})
	}
	// A log without its database must not be taken for that of the new one.
	path := newDatabase(t, "old", 20)
	abandoned(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), file, path, upgrade); err != nil || names(t, path) != "backup 10" {
		t.Errorf("%v, %s", err, names(t, path))
	}
}

// TestRestoreRefuses: what is no whole backup changes nothing.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, "old", 20)
	refused := func(says, file string) {
		t.Helper()
		before := files(t, path)
		if _, err := sqlite.Restore(t.Context(), file, path, upgrade); err == nil || !strings.HasPrefix(err.Error(), "nothing was changed: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if after := files(t, path); !slices.Equal(after, before) || names(t, path) != "old 20" {
			t.Errorf("%q are there, and were %q", after, before)
		}
	}
	refused("no such file", path+"x")
	spoiled := newBackup(t, 500)
	damage(t, spoiled)
	refused("the file is damaged or not a catalogue", spoiled)
	half := newBackup(t, 500)
	if err := os.Truncate(half, 100_000); err != nil {
		t.Fatal(err)
	}
	refused("the file is damaged or not a catalogue", half)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("name,author\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("the file is damaged or not a catalogue", text)
	newer := newDatabase(t, "newer", 3)
	exec(t, newer, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)`)
	refused("by a newer version of catalogue", newer)
}

// childVariable makes the test binary do one thing in a process of its own.
const childVariable = "CATALOGUE_BACKUP_TEST_CHILD"

// child starts this binary to do something until stop is called, which kills it. It returns
// when that has begun.
func child(t *testing.T, args ...string) (stop func()) {
	t.Helper()
	cmd := osexec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(args, "\n"))
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil { // open until stop, or until this process ends
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 1)); n == 0 {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
}

// TestChild is what child runs.
func TestChild(t *testing.T) {
	given := os.Getenv(childVariable)
	if given == "" {
		return // it is no child
	}
	switch args := strings.Split(given, "\n"); args[0] {
	case "hold":
		if _, err := db.Open(t.Context(), "sqlite:"+args[1], db.Options{}); err != nil {
			panic(err)
		}
		fmt.Print(".")
		_, _ = io.Copy(io.Discard, os.Stdin) // blocks until the parent process ends
	case "restore":
		fmt.Print(".")
		if _, err := sqlite.Restore(t.Context(), args[1], args[2], upgrade); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
}

// TestRestoreKilled kills a restore at moments by chance: the name then has the old
// database, what was in its log included, or the new one, and each can be restored again.
func TestRestoreKilled(t *testing.T) {
	t.Parallel()
	const oldNames, newNames = "last 1, old 300", "backup 400"
	file := newBackup(t, 400)
	source := newDatabase(t, "old", 300)
	abandoned(t, source)
	began := time.Now()
	again := filepath.Join(t.TempDir(), "catalogue.db")
	if _, err := sqlite.Restore(t.Context(), file, again, upgrade); err != nil {
		t.Fatal(err)
	}
	longest := 3 * time.Since(began) // with the copy of the old one
	kills := 60
	if testing.Short() {
		kills = 15
	}
	found := map[string]int{}
	for range kills {
		path := filepath.Join(t.TempDir(), "catalogue.db")
		if err := errors.Join(copyFile(source, path), copyFile(source+"-wal", path+"-wal")); err != nil {
			t.Fatal(err)
		}
		stop := child(t, "restore", file, path)
		<-time.After(rand.N(longest))
		stop()
		kept, _ := filepath.Glob(path + ".replaced-*")
		kept = slices.DeleteFunc(kept, func(name string) bool { return strings.Contains(name, ".part-") })
		got := names(t, path)
		switch {
		case got == newNames && len(kept) == 1 && names(t, kept[0]) == oldNames:
		case got == oldNames:
		default:
			t.Errorf("after a kill the database has %s, and %q are kept", got, kept)
		}
		if _, err := sqlite.Check(t.Context(), path); err != nil {
			t.Error(err)
		}
		found[got]++
		if _, err := sqlite.Restore(t.Context(), file, path, upgrade); err != nil || names(t, path) != newNames {
			t.Errorf("afterwards: %v", err)
		}
	}
	t.Logf("after %d kills: %v", kills, found)
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
