package archive_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// interrupted begins a copy, and calls do after each of its batches until the copy ends with an error.
func interrupted(t *testing.T, from, to *db.Store, do func(rows int, stop func())) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := archive.Copy(ctx, from, to, func(rows, _ int) { do(rows, cancel) })
	return err
}

// TestCopyContinues stops a copy after each of its batches: the next one takes up the rows that are
// stored.
func TestCopyContinues(t *testing.T) {
	t.Parallel()
	from := newCatalogue(t, catalogtest.SQLite(t), 20)
	want := export(t, from)
	catalogtest.Each(t, func(t *testing.T, url string) {
		to := catalogtest.Open(t, url)
		most := 0
		for copies, ended := 0, false; !ended; copies++ {
			err := interrupted(t, from, to, func(rows int, stop func()) {
				if rows > most {
					most = rows
					stop()
				}
			})
			if ended = err == nil; copies > 10 {
				t.Fatalf("after %d copies: %v", copies, err)
			}
		}
		if most != 1145 {
			t.Errorf("%d rows", most)
		}
		if !bytes.Equal(export(t, to), want) {
			t.Error("the copy has other bytes")
		}
		stays(t, to)
	})
}

// TestCopyChanged changes the source or the target of a copy: it does not go on.
func TestCopyChanged(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		from, to := newCatalogue(t, catalogtest.SQLite(t), 21), catalogtest.Open(t, url)
		write := func(s *db.Store) {
			_, err := s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "new"})
			must(t, err)
		}
		if err := interrupted(t, from, to, func(_ int, stop func()) { stop() }); err == nil {
			t.Fatal("the copy was not interrupted")
		}
		write(from)
		if err := interrupted(t, from, to, func(int, func()) {}); !errors.Is(err, db.ErrSourceChanged) {
			t.Errorf("with another source: %v", err)
		}
		write(to)
		if err := interrupted(t, from, to, func(int, func()) {}); !errors.Is(err, db.ErrTargetChanged) {
			t.Errorf("with a target that was changed: %v", err)
		}
		during := empty(t, url)
		if err := interrupted(t, from, during, func(int, func()) { write(during) }); !errors.Is(err, db.ErrTargetChanged) {
			t.Errorf("with a target that is changed during the copy: %v", err)
		}
	})
}

// TestCopyCompares spoils a row that is stored: the copy ends with an error.
func TestCopyCompares(t *testing.T) {
	t.Parallel()
	from, to := newCatalogue(t, catalogtest.SQLite(t), 22), catalogtest.Open(t, catalogtest.SQLite(t))
	writer := to.Pools()["sqlite-writer"]
	err := interrupted(t, from, to, func(rows int, _ func()) {
		if rows < 1145 {
			return
		}
		for _, statement := range []string{`CREATE TEMP TABLE before AS SELECT n FROM revision`, `UPDATE books SET pages = pages % 1000 + 1 WHERE id = (SELECT min(id) FROM books)`, `UPDATE revision SET n = (SELECT n FROM before)`} {
			_, err := writer.ExecContext(t.Context(), statement)
			must(t, err)
		}
	})
	if !errors.Is(err, archive.ErrDiffers) {
		t.Errorf("the error is %v", err)
	}
}

// TestCopyLosesConnections ends all connections to the target after each batch: the copy goes on.
func TestCopyLosesConnections(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	from, to := newCatalogue(t, catalogtest.SQLite(t), 23), catalogtest.Open(t, url)
	admin, err := sql.Open("postgres", url)
	must(t, err)
	defer admin.Close()
	err = interrupted(t, from, to, func(int, func()) {
		_, err := admin.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		must(t, err)
	})
	must(t, err)
	if !bytes.Equal(export(t, to), export(t, from)) {
		t.Error("the copy has other bytes")
	}
}
