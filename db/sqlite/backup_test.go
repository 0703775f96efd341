package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/sqlite"
)

// newDatabase returns the path of a database with a genre and so many books, whose names
// begin with a word.
func newDatabase(t *testing.T, word string, books int) string {
	t.Helper()
	path := strings.TrimPrefix(catalogtest.SQLite(t), "sqlite:")
	exec(t, path, `INSERT INTO categories (name) VALUES ('Fiction'); INSERT INTO genres (name, category_id) VALUES ('Novels', 1);`)
	add(t, path, word, books)
	return path
}

func add(t *testing.T, path, word string, books int) {
	t.Helper()
	exec(t, path, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
INSERT INTO books (name, pages, published_at, author, price_cents, genre_id, description) SELECT '%s ' || i, 1, '2000-01-01', 'Somebody', 1, 1, hex(randomblob(200)) FROM n`, books, word))
}

func exec(t *testing.T, path, text string) {
	t.Helper()
	db := connect(t, path)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// connect opens a database as a server has it.
func connect(t *testing.T, path string) *sqlx.DB {
	t.Helper()
	db, err := sqlx.Open("sqlite", "file:"+path+"?mode=rw&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// names returns the first words of the names of a database's books, and how many have each.
func names(t *testing.T, path string) string {
	t.Helper()
	db := connect(t, path)
	defer db.Close()
	var names []string
	if err := db.SelectContext(t.Context(), &names, `SELECT substr(name, 1, instr(name, ' ')) || count(*) FROM books GROUP BY substr(name, 1, instr(name, ' ')) ORDER BY 1`); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return strings.Join(names, ", ")
}

// files returns the names of the files beside one.
func files(t *testing.T, path string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// damage overwrites pages in the middle of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(content) / 4; i < len(content)*3/4; i++ {
		content[i] = 0xAA
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBackupWhileWritten backs up a database while another connection stores books: each
// backup is one snapshot of it.
func TestBackupWhileWritten(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, "first", 2000)
	server := connect(t, path)
	defer server.Close()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 1; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// Two books at a time: a snapshot has an even number of them.
			if _, err := server.ExecContext(context.WithoutCancel(t.Context()), `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) SELECT 'next ' || i, 1, '2000-01-01', 'a', 1, 1 FROM (SELECT 1 AS i UNION ALL SELECT 2)`); err != nil {
				t.Errorf("the writer: %v", err)
				return
			}
		}
	}()
	folder := t.TempDir()
	last := int64(0)
	for i := range 5 {
		file := filepath.Join(folder, fmt.Sprintf("%d.db", i))
		content, err := sqlite.Backup(t.Context(), path, file, false)
		if err != nil || content.Books < 2000 || content.Books%2 != 0 || content.Books < last || content.Genres != 1 || content.Schema == 0 {
			t.Fatalf("%v, %v", content, err)
		}
		last = content.Books
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || info.Size() != content.Bytes {
			t.Errorf("%v, %v", info, err)
		}
		if got, want := names(t, file), fmt.Sprintf("first 2000, next %d", last-2000); got != want && last > 2000 {
			t.Errorf("the backup has %s, want %s", got, want)
		}
	}
	close(stop)
	<-done
	if left := files(t, filepath.Join(folder, "x")); len(left) != 5 {
		t.Errorf("the folder has %q", left)
	}
}

// TestBackupRefuses: what is there is replaced only where that is wanted, and what fails
// leaves nothing.
func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, "old", 50)
	file := filepath.Join(t.TempDir(), "backup.db")
	must := func(_ sqlite.Content, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(sqlite.Backup(t.Context(), path, file, false))
	before, _ := os.ReadFile(file)
	add(t, path, "new", 7)
	fails := func(says, path, file string, replace bool) {
		t.Helper()
		beside := files(t, file)
		if _, err := sqlite.Backup(t.Context(), path, file, replace); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if after := files(t, file); !slices.Equal(after, beside) {
			t.Errorf("%q are left beside %q", after, beside)
		}
	}
	fails("backup.db exists: choose another name, or replace the file with --force", path, file, false)
	if after, _ := os.ReadFile(file); !bytes.Equal(after, before) {
		t.Error("the file was changed")
	}
	must(sqlite.Backup(t.Context(), path, file, true))
	if got := names(t, file); got != "new 7, old 50" {
		t.Errorf("the backup has %s", got)
	}
	fails("unable to open", path+"x", file+"2", false)
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	exec(t, foreign, `CREATE TABLE t (a)`)
	fails("not a catalogue", foreign, file+"2", false)
	exec(t, path, `PRAGMA foreign_keys = 0; UPDATE books SET genre_id = 99 WHERE id = 3`)
	fails("a row of books refers to a missing row of genres", path, file, true)
	damage(t, path)
	fails("cannot back up "+path+"", path, file+"2", false)
}

// stampLayout is how a backup's name says its moment.
const stampLayout = "20060102T150405Z"

// TestRotation writes backups at moments, and keeps the last ones.
func TestRotation(t *testing.T) {
	t.Parallel()
	path := newDatabase(t, "old", 1)
	folder := t.TempDir()
	r := sqlite.Rotation{Database: path, Folder: folder, Every: time.Hour, Keep: 2}
	others := []string{"notes.txt", "catalogue-backup.db", "catalogue-20200101T000000Z.db.bak", "other-20200101T000000Z.db"}
	for _, name := range append(others, "catalogue-20200101T000000Z.db.part-X") {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(folder, "catalogue-20200101T000000Z.db.part-X"), time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	start := time.Now().Truncate(time.Second)
	due := func(now time.Time, want time.Duration) {
		t.Helper()
		if wait, err := r.Due(now); err != nil || wait != want {
			t.Errorf("due in %v, %v, want %v", wait, err, want)
		}
	}
	due(start, 0)
	for hour := range 4 {
		at := start.Add(time.Duration(hour) * time.Hour)
		file, content, err := r.Write(t.Context(), at)
		if err != nil || content.Books != 1 || filepath.Base(file) != "catalogue-"+at.UTC().Format(stampLayout)+".db" {
			t.Fatal(file, content, err)
		}
		due(at.Add(20*time.Minute), 40*time.Minute)
		due(at.Add(2*time.Hour), -time.Hour)
		due(at.Add(-100*time.Hour), time.Hour) // the clock was wrong
	}
	want := append(others, "catalogue-"+start.Add(2*time.Hour).UTC().Format(stampLayout)+".db", "catalogue-"+start.Add(3*time.Hour).UTC().Format(stampLayout)+".db")
	slices.Sort(want)
	if got := files(t, filepath.Join(folder, "x")); !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	damage(t, path)
	if _, _, err := r.Write(t.Context(), start.Add(5*time.Hour)); err == nil {
		t.Error("a damaged database is backed up")
	}
	if got := files(t, filepath.Join(folder, "x")); !slices.Equal(got, want) {
		t.Errorf("after a failure the folder has %q, want %q", got, want)
	}
}
