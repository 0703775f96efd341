package db_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// replicated is a store with a book on a primary with replicas.
type replicated struct {
	*db.Store
	t        *testing.T
	url      string
	home     shelf
	cluster  *dbtest.Cluster
	replicas []*dbtest.Cluster
	primary  *sql.DB
}

// newReplicated returns a store whose replicas all serve. It has the role of a server.
func newReplicated(t *testing.T, replicas int, options db.Options) *replicated {
	t.Helper()
	cluster := dbtest.Durable(t)
	p := &replicated{t: t, url: cluster.Database(t), cluster: cluster}
	p.home = newShelf(t, migrated(t, p.url))
	p.primary = p.connect(p.url)
	exec(t, p.primary, `CREATE ROLE server LOGIN;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO server;
GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA public TO server`)
	as := func(url string) string { return strings.Replace(url, "user=postgres", "user=server", 1) }
	for range replicas {
		replica := cluster.Replica(t)
		p.replicas = append(p.replicas, replica)
		options.ReplicaURLs = append(options.ReplicaURLs, as(replica.On(t, p.url)))
	}
	p.Store = openWith(t, as(p.url), options)
	p.await(func(r stats.Replica) bool { return r.Up })
	return p
}

// await waits until all replicas are in a state.
func (p *replicated) await(state func(stats.Replica) bool) {
	p.t.Helper()
	for again := true; again; {
		again = false
		for _, r := range p.Replicas().Each {
			again = again || !state(r)
		}
		if _, err := p.primary.ExecContext(p.t.Context(), `SELECT pg_sleep(0.01)`); err != nil && p.t.Context().Err() != nil {
			p.t.Fatal("the replicas are in another state: ", err)
		}
	}
}

// caughtUp waits until all replicas have all that the primary has.
func (p *replicated) caughtUp() {
	p.t.Helper()
	position := ask[string](p.t, p.primary, `SELECT pg_current_wal_insert_lsn()`)
	for i := range p.replicas {
		for replica := p.replica(i); !ask[bool](p.t, replica, `SELECT pg_last_wal_replay_lsn() >= $1`, position); {
		}
	}
}

func (p *replicated) replica(i int) *sql.DB { return p.connect(p.replicas[i].On(p.t, p.url)) }

// connect is like other, for a server that the test may kill.
func (p *replicated) connect(url string) *sql.DB {
	program, err := sql.Open("postgres", url)
	check(p.t, err)
	p.t.Cleanup(func() { _ = program.Close() })
	return program
}

// names reads the names of all books by an expensive read, and whether a replica served them. before is
// called before the first statement of each run.
func (p *replicated) names(before func(run int, snapshot *db.Snapshot)) (names string, replica bool, err error) {
	names, record, err := p.namesFrom(model.FreshReplica, before)
	return names, record.Replica(), err
}

func (p *replicated) namesFrom(replicas model.Replicas, before func(run int, snapshot *db.Snapshot)) (names string, record *stats.Record, err error) {
	ctx, record := stats.With(p.t.Context())
	runs := 0
	err = p.Read(ctx, model.NoRevision, replicas, func(ctx context.Context, snapshot *db.Snapshot) error {
		if runs++; before != nil {
			before(runs, snapshot)
		}
		books, err := snapshot.Books.Page(ctx, &model.Page{Limit: 100})
		if err != nil {
			return err
		}
		names = ""
		for _, book := range books {
			names += book.Name + ";"
		}
		n, err := snapshot.Books.Count(ctx, model.Selection{})
		if n != len(books) {
			p.t.Errorf("%d books are counted, and %d are read at one revision", n, len(books))
		}
		return err
	})
	return names, record, err
}

// wantNames demands the names of all books and the kind of server that serves them.
func (p *replicated) wantNames(want string, fromReplica bool) {
	p.t.Helper()
	if names, replica, err := p.names(nil); names != want || replica != fromReplica || err != nil {
		p.t.Errorf("read %q from a replica: %t, %v; want %q, %t", names, replica, err, want, fromReplica)
	}
}

// TestReplica reads from a replica while it has all commits, and from the primary while its replay is
// paused. It is the primary that serves cheap reads.
func TestReplica(t *testing.T) {
	t.Parallel()
	p := newReplicated(t, 1, db.Options{})
	p.caughtUp()
	p.wantNames("The Hobbit;", true)
	ctx, record := stats.With(t.Context())
	check(t, p.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
		return second(snapshot.Books.Count(ctx, model.Selection{}))
	}))
	if record.Replica() {
		t.Error("a replica served a cheap read")
	}
	replica := p.replica(0)
	exec(t, replica, `SELECT pg_wal_replay_pause()`)
	check(t, second(p.Books.Update(t.Context(), p.home.book.ID, rename("Emma"), nil)))
	p.wantNames("Emma;", false)
	p.await(func(r stats.Replica) bool { return r.Lag > 0 })
	exec(t, replica, `SELECT pg_wal_replay_resume()`)
	p.caughtUp()
	p.await(func(r stats.Replica) bool { return r.Lag == 0 })
	for replica := false; !replica; {
		var names string
		var err error
		if names, replica, err = p.names(nil); names != "Emma;" || err != nil {
			t.Fatalf("read %q, %v", names, err)
		}
	}
	if state := p.Replicas(); state.Each[0].Reads == 0 || state.PassedOver == 0 {
		t.Errorf("%+v", state)
	}
	wantChecks(t, p.Store, nil)
}

// TestLateReplica pauses the replay of a replica. It serves reads that may be late, until it lacks a commit of more than
// the maximum lag; other reads are those of the primary.
func TestLateReplica(t *testing.T) {
	t.Parallel()
	for name, maxLag := range map[string]time.Duration{"within": time.Hour, "beyond": 300 * time.Millisecond, "never": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newReplicated(t, 1, db.Options{ReplicaMaxLag: maxLag})
			p.caughtUp()
			exec(t, p.replica(0), `SELECT pg_wal_replay_pause()`)
			want := func(names string, fromReplica bool, kind model.Replicas) *stats.Record {
				t.Helper()
				got, record, err := p.namesFrom(kind, nil)
				if got != names || record.Replica() != fromReplica || err != nil {
					t.Errorf("%d: read %q from a replica: %t, %v; want %q, %t", kind, got, record.Replica(), err, names, fromReplica)
				}
				return record
			}
			if lag := want("The Hobbit;", true, model.LateReplica).Lag(); lag != 0 {
				t.Errorf("nothing is missing, and the lag is %v", lag)
			}
			before := must[model.Revision](t)(p.Revision(t.Context()))
			check(t, second(p.Books.Update(t.Context(), p.home.book.ID, rename("Emma"), nil)))
			if maxLag == 0 {
				want("Emma;", false, model.LateReplica)
			}
			p.await(func(r stats.Replica) bool { return r.Lag > 300*time.Millisecond })
			want("Emma;", false, model.FreshReplica)
			if name != "within" {
				if lag := want("Emma;", false, model.LateReplica).Lag(); lag != 0 {
					t.Errorf("the primary has the lag %v", lag)
				}
				return
			}
			if lag := want("The Hobbit;", true, model.LateReplica).Lag(); lag < 300*time.Millisecond || lag > time.Hour {
				t.Errorf("the lag is %v", lag)
			}
			check(t, p.Read(t.Context(), model.NoRevision, model.LateReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				if at, err := snapshot.Revision(ctx); at != before.Catalogue {
					t.Errorf("revision %d, want %d", at, before.Catalogue)
					return err
				}
				return nil
			}))
			long := ""
			check(t, p.ReadTransaction(t.Context(), model.FreshReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				books, err := snapshot.Books.Page(ctx, &model.Page{Limit: 1})
				for _, book := range books {
					long = book.Name
				}
				return err
			}))
			if long != "Emma" {
				t.Errorf("the long read has %q", long)
			}
		})
	}
}

// TestReplicaAhead lets a replica show a commit that the primary does not show yet, because it waits for a
// synchronous standby. A later read of the primary would be back in time, so no read shows it.
func TestReplicaAhead(t *testing.T) {
	t.Parallel()
	p := newReplicated(t, 1, db.Options{})
	exec(t, p.primary, `ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
	exec(t, p.primary, `SELECT pg_reload_conf()`)
	for !ask[bool](t, other(t, p.url), `SELECT current_setting('synchronous_standby_names') <> ''`) {
	}
	written := make(chan error)
	go func() { written <- second(p.Books.Update(t.Context(), p.home.book.ID, rename("Emma"), nil)) }()
	for replica := p.replica(0); ask[string](t, replica, `SELECT name FROM books`) != "Emma"; {
	}
	p.wantNames("The Hobbit;", false)
	exec(t, p.primary, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
	if err := <-written; !model.IsInDoubt(err) {
		t.Errorf("the write ended with %v", err)
	}
	p.wantNames("Emma;", true)
}

// TestReplicaFails lets a replica fail in the middle of a read. The primary serves it, at one revision.
func TestReplicaFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(p *replicated, snapshot *db.Snapshot){
		"killed": func(p *replicated, _ *db.Snapshot) { p.replicas[0].Kill(p.t) },
		"frozen": func(p *replicated, _ *db.Snapshot) { p.replicas[0].Freeze(p.t) },
		"in conflict": func(p *replicated, snapshot *db.Snapshot) {
			conflicted := make(chan error)
			go func() { conflicted <- snapshot.Exec(p.t.Context(), `SELECT pg_sleep(60)`) }()
			exec(p.t, p.primary, `DELETE FROM books WHERE name = 'Gone'`)
			exec(p.t, p.primary, `VACUUM books`)
			if err := <-conflicted; err == nil || !strings.Contains(err.Error(), "conflict with recovery") {
				p.t.Errorf("the statement ended with %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newReplicated(t, 1, db.Options{})
			check(t, second(p.Books.Create(t.Context(), newBook("Gone", p.home.genre.ID))))
			replica := p.replica(0)
			exec(t, replica, `ALTER SYSTEM SET max_standby_streaming_delay = 0`)
			exec(t, replica, `SELECT pg_reload_conf()`)
			for !ask[bool](t, p.replica(0), `SELECT current_setting('max_standby_streaming_delay') = '0'`) {
			}
			p.caughtUp()
			ran := 0
			names, fromReplica, err := p.names(func(run int, snapshot *db.Snapshot) {
				if ran = run; run == 1 {
					if !snapshot.InTransaction() {
						t.Error("the first run is on the primary")
					}
					fail(p, snapshot)
				}
			})
			want := "The Hobbit;Gone;"
			if name == "in conflict" {
				want = "The Hobbit;"
			}
			if names != want || fromReplica || err != nil || ran != 2 {
				t.Errorf("%d runs read %q from a replica: %t, %v", ran, names, fromReplica, err)
			}
			if name != "in conflict" {
				p.await(func(r stats.Replica) bool { return !r.Up })
				p.wantNames(want, false)
				wantChecks(t, p.Store, map[string]string{"replicas": "warn: " + p.Replicas().Each[0].Name + " is passed over."})
			}
			if name == "killed" {
				p.replicas[0].Start(t)
			}
			p.replicas[0].Thaw(t)
			p.await(func(r stats.Replica) bool { return r.Up })
			p.caughtUp()
			// VACUUM changes no row, so more of its WAL may follow, and be in conflict with the next read too.
			end := ask[string](t, p.primary, `SELECT CAST(pg_current_wal_lsn() AS text)`)
			for !ask[bool](t, p.primary, `SELECT coalesce(bool_and(replay_lsn >= '`+end+`'), false) FROM pg_stat_replication`) {
			}
			p.wantNames(want, true)
		})
	}
}

// TestReplicas reads from the one of two replicas that has all commits.
func TestReplicas(t *testing.T) {
	t.Parallel()
	p := newReplicated(t, 2, db.Options{})
	for i, want := range []string{"Emma", "Persuasion"} {
		exec(t, p.replica(i), `SELECT pg_wal_replay_pause()`)
		check(t, second(p.Books.Update(t.Context(), p.home.book.ID, rename(want), nil)))
		for ask[string](t, p.replica(1-i), `SELECT name FROM books`) != want {
		}
		p.wantNames(want+";", true)
		exec(t, p.replica(i), `SELECT pg_wal_replay_resume()`)
		p.caughtUp()
		p.await(func(r stats.Replica) bool { return r.Lag == 0 })
	}
	for _, r := range p.Replicas().Each {
		if r.Reads == 0 {
			t.Errorf("a replica served no read: %+v", p.Replicas())
		}
	}
}

// TestReplicaURLs refuses URLs, and passes over servers that are no replicas of the primary.
func TestReplicaURLs(t *testing.T) {
	t.Parallel()
	cluster, stranger := dbtest.Durable(t), dbtest.Durable(t)
	url, foreign := cluster.Database(t), stranger.Database(t)
	migrated(t, url)
	migrated(t, foreign)
	for replica, want := range map[string]string{
		"sqlite:catalogue.db":                        "must begin with postgres://",
		"postgres://one,two/catalogue":               "must name one host",
		"postgres:///catalogue?host=one,two":         "must name one host",
		"postgres://one/catalogue?pooler=statement":  "pooler must be transaction",
		"postgres://one/a postgres://one/b?port=543": "name one: remove",
	} {
		_, err := db.New(t.Context(), url, db.Options{ReplicaURLs: strings.Fields(replica)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", replica, err)
		}
	}
	if _, err := db.New(t.Context(), url, db.Options{ReadWithoutPrimary: true}); err == nil {
		t.Error("no replica can serve without a primary")
	}
	if _, err := db.New(t.Context(), url, db.Options{ReplicaMaxLag: time.Second}); err == nil {
		t.Error("a maximum lag without replicas")
	}
	if _, err := db.New(t.Context(), dbtest.SQLite(t), db.Options{ReplicaURLs: []string{"postgres://one/catalogue"}}); err == nil {
		t.Error("SQLite has a replica")
	}
	for replica, want := range map[string]string{
		url:                                   "server of the database URL",
		foreign:                               "another cluster",
		"postgres://127.0.0.1:1/catalogue":    "connection refused",
		url + "&target_session_attrs=standby": "",
	} {
		s := openWith(t, url, db.Options{ReplicaURLs: []string{replica}})
		for told := false; !told; {
			for _, c := range s.Checks(t.Context()) {
				told = told || c.Name == "replicas" && c.Status == model.Warn && strings.Contains(c.Err.Error(), want) && !strings.Contains(c.Err.Error(), "not answered yet")
			}
		}
		check(t, s.ReadTransaction(t.Context(), model.FreshReplica, func(_ context.Context, snapshot *db.Snapshot) error { return nil }))
		check(t, s.Close())
	}
}

// TestWithoutPrimary kills the primary. The most advanced replica serves all reads if that is allowed.
func TestWithoutPrimary(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			p := newReplicated(t, 2, db.Options{ReadWithoutPrimary: allowed})
			exec(t, p.replica(0), `SELECT pg_wal_replay_pause()`)
			check(t, second(p.Books.Update(t.Context(), p.home.book.ID, rename("Emma"), nil)))
			behind := func() bool { return p.Replicas().Each[0].Lag > 0 && p.Replicas().Each[1].Lag == 0 }
			for !behind() || ask[string](t, p.replica(1), `SELECT name FROM books`) != "Emma" {
			}
			p.cluster.Kill(t)
			for {
				ctx, record := stats.With(t.Context())
				name := ""
				err := p.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
					books, err := snapshot.Books.Page(ctx, &model.Page{Limit: 1})
					if err == nil {
						name = books[0].Name
					}
					return err
				})
				if err != nil {
					wantCode(t, err, model.Unavailable, "")
					if allowed {
						continue // the store has not noticed yet
					}
					break
				}
				if !allowed || name != "Emma" || !record.Replica() || !record.WithoutPrimary() {
					t.Errorf("allowed: %t, read %q, %+v", allowed, name, record)
				}
				break
			}
			if _, err := p.Revision(t.Context()); !model.IsCode(err, model.Unavailable) {
				t.Errorf("the revision: %v", err)
			}
			p.cluster.Start(t)
			for {
				if err := second(p.Books.Update(t.Context(), p.home.book.ID, rename("Persuasion"), nil)); err == nil {
					break
				}
			}
			for {
				if _, err := p.Revision(t.Context()); err == nil {
					break
				}
			}
			names, _, err := p.names(nil)
			if names != "Persuasion;" || err != nil {
				t.Errorf("read %q, %v after the return of the primary", names, err)
			}
		})
	}
}
