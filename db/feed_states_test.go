package db_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/archive"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/sqlite"
	"library-catalogue/graph/model"
)

// TestReset empties a table, which loses the rows of its earlier changes, and restores an archive.
func TestReset(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		_, begin := changesAfter(t, s, nil, 100)
		home := newShelf(t, s)
		_, start := changesAfter(t, s, &begin, 100)
		if isSQLite(url) {
			exec(t, program, `DELETE FROM books`)
			changes, _ := changesAfter(t, s, &start, 100)
			wantTold(t, changes, "DELETE BOOK 1 v1")
		} else {
			exec(t, program, `TRUNCATE books`)
			must[*model.Book](t)(s.Books.Create(t.Context(), newBook("New", home.genre.ID)))
			changes, _ := changesAfter(t, s, &begin, 100)
			wantTold(t, changes[2:], "CREATE BOOK 1 v1", "RESET BOOK 0 v0", "CREATE BOOK 2 v1 New")
			ids := must[*model.ChangePage](t)(s.Changes(t.Context(), model.ChangeArgs{First: 9, Types: []model.CatalogueType{model.TypeBook}, IDs: []model.ID{7}, Filter: map[string]any{"name": map[string]any{"eq": "x"}}}))
			wantTold(t, ids.Nodes, "RESET BOOK 0 v0")
		}
		to := open(t, catalogtest.SQLite(t))
		must[archive.Manifest](t)(archive.Copy(by(t.Context(), "restorer"), s, to, func(int, int) {}))
		restored, _ := changesAfter(t, to, nil, 100)
		if got := told(restored); len(got) < 5 || strings.Join(got[:4], ", ") != "RESET CATEGORY 0 v0, RESET GENRE 0 v0, RESET BOOK 0 v0, CREATE CATEGORY 1 v1 Fiction" || restored[3].Actor != "restorer" {
			t.Errorf("after a restore: %q", got)
		}
	})
}

// TestRestoredBackup forgets the positions of changes that a restored backup lacks, and knows those
// before.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	for name, url := range map[string]string{"sqlite": catalogtest.SQLite(t), "postgres": catalogtest.Migrate(t, cluster.Database(t))} {
		t.Run(name, func(t *testing.T) {
			s := open(t, url)
			home := newShelf(t, s)
			_, before := changesAfter(t, s, nil, 100)
			backup := ""
			if isSQLite(url) {
				backup = filepath.Join(t.TempDir(), "backup.db")
				must[sqlite.Content](t)(sqlite.Backup(t.Context(), strings.TrimPrefix(url, "sqlite:"), backup, false))
				backup = "sqlite:" + backup
			} else {
				backup = cluster.Dumped(t, url)
			}
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Lost"), nil))
			_, lost := changesAfter(t, s, nil, 100)
			restored := open(t, backup)
			for range 5 {
				must[*model.Book](t)(restored.Books.Update(t.Context(), home.book.ID, rename("Other"), nil))
				_, err := restored.Changes(t.Context(), model.ChangeArgs{After: &lost, First: 1})
				wantCode(t, err, model.PositionGone, "another state of the database")
			}
			changes, _ := changesAfter(t, restored, &before, 1)
			if len(changes) != 5 || changes[0].Book.Name != "Other" || changes[0].Version != 2 {
				t.Errorf("the changes are %q", told(changes))
			}
		})
	}
}

// TestForeignLog dumps a catalogue and restores it into a server whose transactions have lower
// numbers: the log begins again with a reset, and no later change is lost.
func TestForeignLog(t *testing.T) {
	t.Parallel()
	there, here := dbtest.Durable(t), dbtest.Durable(t)
	url := catalogtest.Migrate(t, there.Database(t))
	s := open(t, url)
	home := newShelf(t, s)
	_, early := changesAfter(t, s, nil, 100)
	exec(t, other(t, url), `DO $$ BEGIN FOR i IN 1..3000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`)
	must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("There"), nil))
	_, last := changesAfter(t, s, nil, 100)
	for _, ahead := range []string{"tick", "change"} {
		t.Run("the newest "+ahead, func(t *testing.T) {
			if ahead == "change" {
				exec(t, other(t, url), `DELETE FROM ticks WHERE id > (SELECT min(id) FROM ticks); UPDATE ticks SET snapshot = '3:3:'`)
				last = must[*model.ChangePage](t)(s.Changes(t.Context(), model.ChangeArgs{})).Position
				exec(t, other(t, url), `DELETE FROM ticks WHERE id > (SELECT min(id) FROM ticks)`)
			}
			restored := there.DumpedInto(t, url, here)
			exec(t, other(t, restored), `UPDATE books SET name = 'Before the first tick'`)
			s := open(t, restored)
			_, _ = changesAfter(t, s, nil, 100) // the log begins again
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Here"), nil))
			changes, _ := changesAfter(t, s, &last, 100)
			wantTold(t, changes, "RESET CATEGORY 0 v0", "RESET GENRE 0 v0", "RESET BOOK 0 v0", "UPDATE BOOK 1 v4 Here")
			if early != last {
				_, err := s.Changes(t.Context(), model.ChangeArgs{After: &early})
				wantCode(t, err, model.PositionGone, "Read everything again")
			}
		})
	}
}

// TestLongTransaction follows other changes while a transaction stays open, and its changes after
// its commit.
func TestLongTransaction(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s := open(t, url)
	home := newShelf(t, s)
	f := follow(t, s, model.ChangeArgs{})
	_, start := f.next(t, 0)
	long := must[*sql.Tx](t)(other(t, url).BeginTx(t.Context(), nil))
	must[sql.Result](t)(long.Exec(`UPDATE genres SET name = 'Long' WHERE id = $1`, home.genre.ID))
	for _, name := range []string{"A", "B", "C"} {
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename(name), nil))
		got, _ := f.next(t, 1)
		if len(got) != 1 || got[0].Book.Name != name {
			t.Errorf("the changes are %q", told(got))
		}
	}
	must[sql.Result](t)(long.Exec(`UPDATE categories SET name = 'Long' WHERE id = $1`, home.category.ID))
	check(t, long.Commit())
	got, _ := f.next(t, 2)
	wantTold(t, got, "UPDATE GENRE 1 v2 Long", "UPDATE CATEGORY 1 v2 Long") // not cut in two
	all, _ := changesAfter(t, s, &start, 1)
	wantTold(t, all, "UPDATE BOOK 1 v2 A", "UPDATE BOOK 1 v3 B", "UPDATE BOOK 1 v4 C", "UPDATE GENRE 1 v2 Long", "UPDATE CATEGORY 1 v2 Long")
}

// TestFollowThroughPooler follows where no session can listen.
func TestFollowThroughPooler(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := catalogtest.Migrate(t, cluster.Database(t))
	home := newShelf(t, open(t, direct))
	s := open(t, cluster.Pooler(t, direct, 2)+"&pooler=transaction")
	f := follow(t, s, model.ChangeArgs{})
	f.next(t, 0)
	must[*model.Book](t)(s.Books.Update(by(t.Context(), "me"), home.book.ID, rename("By the pooler"), nil))
	exec(t, other(t, direct), `UPDATE genres SET name = 'Direct'`)
	got, _ := f.next(t, 2)
	wantTold(t, got, "UPDATE BOOK 1 v2 By the pooler", "UPDATE GENRE 1 v2 Direct")
	if got[0].Actor != "me" || got[1].Actor == "me" {
		t.Errorf("the actors are %q and %q", got[0].Actor, got[1].Actor)
	}
}

// TestSnapshotPosition follows from the position of a snapshot: nothing that it lacks is missed.
func TestSnapshotPosition(t *testing.T) {
	onShelf(t, func(t *testing.T, s *db.Store, home shelf) {
		_, _ = changesAfter(t, s, nil, 100)
		var position string
		check(t, s.Read(t.Context(), model.NoRevision, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) (err error) {
			if position, err = snapshot.Position(ctx); err != nil {
				return err
			}
			if !snapshot.InTransaction() {
				must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Between"), nil))
				_, _ = changesAfter(t, s, nil, 100)
			}
			books, err := snapshot.Books.ByID(ctx, []model.ID{home.book.ID})
			if snapshot.InTransaction() && (err != nil || books[0].Name != "Between") {
				t.Errorf("the snapshot has %v: %v", books, err)
			}
			return err
		}))
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("After"), nil))
		changes, _ := changesAfter(t, s, &position, 100)
		wantTold(t, changes, "UPDATE BOOK 1 v3 After")
	})
}

// TestIdleSubscribers wants 2,000 idle subscribers to take far less than 64 kB each, which includes
// what a transport adds.
func TestIdleSubscribers(t *testing.T) {
	const n, limit = 2_000, 24 << 10
	s := open(t, catalogtest.SQLite(t))
	newShelf(t, s)
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := inUse()
	started := make(chan struct{}, n)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, n)
	for range n {
		go func() {
			done <- s.Follow(ctx, model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}}, nil, func(context.Context, *model.ChangePage) error {
				started <- struct{}{}
				return nil
			})
		}()
	}
	for range n {
		<-started
	}
	if each := (inUse() - before) / n; each > limit {
		t.Errorf("a subscriber takes %d bytes", each)
	} else {
		t.Logf("a subscriber takes %d bytes", each)
	}
	stop()
	for range n {
		<-done
	}
}
