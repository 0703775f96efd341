package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
)

// bigCatalogue makes a catalogue of books with descriptions of at least length bytes, which takes a
// while to store, and returns its URL and its archive. Descriptions cannot be packed well: a process
// that has read half of them has stored some.
func bigCatalogue(t *testing.T, size, length int) (url string, archive []byte) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	var books strings.Builder
	books.WriteString(strings.Join(model.ImportFields, ",") + "\n")
	for i := range size {
		var description strings.Builder
		for description.Len() < length {
			fmt.Fprintf(&description, "%d ", random.Uint64())
		}
		fmt.Fprintf(&books, "Book %d,%s,1,2001-02-03,An author,1.00,Genre %d,Category\n", i, &description, i%7)
	}
	url = dbtest.SQLite(t)
	catalogue(t, 0, books.String(), "import", "-", "--database-url="+url)
	return url, []byte(catalogue(t, 0, "", "archive", "create", "--database-url="+url))
}

// isStoring reports whether somebody stores rows in a database that has the schema
// already: on PostgreSQL whether there are any, on SQLite, where those of a transaction may
// be in memory, whether one is under way.
func isStoring(t *testing.T, url string) bool {
	t.Helper()
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
		must(t, err)
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			return true
		}
		_ = tx.Rollback()
		return false
	}
	db, err := sql.Open("postgres", url)
	must(t, err)
	defer db.Close()
	var size int64
	err = db.QueryRow(`SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class WHERE oid = to_regclass('books')`).Scan(&size)
	return err == nil && size > 0
}

// stored returns how many books a database has.
func stored(t *testing.T, url string) (books int) {
	t.Helper()
	driver := "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, url = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, url)
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow(`SELECT count(*) FROM books`).Scan(&books))
	return books
}

// killed starts a command, gives it the beginning of what it reads, waits until it stores
// in a database, kills it, and reports whether that came before its end.
func killed(t *testing.T, url string, isStoring func(*testing.T, string) bool, input []byte, args ...string) bool {
	t.Helper()
	catalogue(t, 0, "", "db", "migrate", "up", "--database-url="+url)
	if isStoring(t, url) {
		t.Fatal("the tables alone are taken for rows")
	}
	var out bytes.Buffer
	command := exec.Command(linkSelf(t), args...)
	command.Stderr = &out
	stdin, err := command.StdinPipe() // which stays open, so that the process waits for more
	must(t, err)
	must(t, command.Start())
	_, _ = stdin.Write(input) // ends when nearly all of it is read
	ended, stop := context.WithCancel(context.Background())
	go func() { _ = command.Wait(); stop() }()
	for ended.Err() == nil && !isStoring(t, url) {
	}
	_ = command.Process.Kill()
	<-ended.Done()
	if code := command.ProcessState.ExitCode(); code > 0 {
		t.Fatalf("catalogue %q ended with %d: %s", args, code, &out)
	}
	return !command.ProcessState.Exited()
}

// TestKilled kills archive restore when it has read half of an archive: nothing is stored, and the
// same command stores all.
func TestKilled(t *testing.T) {
	t.Parallel()
	_, archive := bigCatalogue(t, 2500, 200)
	file := filepath.Join(t.TempDir(), "all.tar.zst")
	must(t, os.WriteFile(file, archive, 0o600))
	dbtest.Each(t, func(t *testing.T, url string) {
		if !killed(t, url, isStoring, archive[:len(archive)/2], "archive", "restore", "-", "--database-url="+url) {
			t.Fatal("the process ended by itself")
		}
		if n := stored(t, url); n > 0 {
			t.Fatalf("%d books were stored", n)
		}
		catalogue(t, 0, "", "archive", "restore", file, "--database-url="+url) // which wants an empty catalogue
		wantArchive(t, url, archive)
	})
}

// TestKilledCopy kills archive copy from each engine to each when some batches are stored, and after
// that when more are: the same command continues, and stores each row once.
func TestKilledCopy(t *testing.T) {
	t.Parallel()
	first, archive := bigCatalogue(t, 12_000, 0)
	dbtest.Each(t, func(t *testing.T, source string) {
		catalogue(t, 0, "", "archive", "copy", "--from="+first, "--to="+source)
		dbtest.Each(t, func(t *testing.T, url string) {
			args := []string{"archive", "copy", "--from=" + source, "--to=" + url}
			hasMore := func(than int) func(*testing.T, string) bool {
				return func(t *testing.T, url string) bool { t.Helper(); return stored(t, url) > than }
			}
			killed(t, url, hasMore(0), nil, args...)
			n := stored(t, url)
			killed(t, url, hasMore(n), nil, args...)
			more := stored(t, url)
			if n == 0 || n%5000 != 0 && n != 12_000 || more <= n && n != 12_000 {
				t.Errorf("%d books are stored, and then %d: not whole steps", n, more)
			}
			t.Logf("killed at %d and %d books", n, more)
			if out := catalogue(t, 0, "", args...); !strings.Contains(out, fmt.Sprintf("(%d rows were stored before)", more+8)) {
				t.Errorf("continued after %d books: %s", more, out)
			}
			wantArchive(t, url, archive)
		})
	})
}

// TestKilledImport kills import when some batches are stored: the same command stores the rest, and no book twice.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	const size = 5000
	books := "name,author,pages,published_at,price,genre,category\n"
	for i := range size {
		books += fmt.Sprintf("Book %d,An author,1,2001-02-03,1.00,Genre %d,Category\n", i, i%7)
	}
	file := filepath.Join(t.TempDir(), "books.csv")
	must(t, os.WriteFile(file, []byte(books), 0o600))
	dbtest.Each(t, func(t *testing.T, url string) {
		args := []string{"import", file, "--database-url=" + url}
		hasSome := func(t *testing.T, url string) bool { t.Helper(); return stored(t, url) > 0 }
		if !killed(t, url, hasSome, nil, args...) {
			t.Fatal("the process ended by itself")
		}
		n := stored(t, url)
		if n%importer.BatchRows != 0 || n == size {
			t.Errorf("%d books are stored: not whole batches", n)
		}
		if out, want := catalogue(t, 0, "", args...), fmt.Sprintf("%d created, 0 updated, %d unchanged", size-n, n); !strings.Contains(out, want) {
			t.Errorf("continued after %d books: %s", n, out)
		}
		if n := stored(t, url); n != size {
			t.Errorf("%d books are stored, want %d", n, size)
		}
	})
}

// wantArchive wants a database to hold the catalogue of an archive.
func wantArchive(t *testing.T, url string, archive []byte) {
	t.Helper()
	if got := catalogue(t, 0, "", "archive", "create", "--database-url="+url); got != string(archive) {
		t.Error("what is stored is something else")
	}
}
