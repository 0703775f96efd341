package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server"
)

const source = "X-Catalogue-Source"

// serveReplicated is serveLong with a replica.
func serveReplicated(t *testing.T) (s *service, replica *dbtest.Cluster) {
	t.Helper()
	primary := dbtest.Durable(t)
	url := primary.Database(t)
	must(t, fillLong(t.Context(), url))
	replica = primary.Replica(t)
	store, err := db.Open(t.Context(), url, db.Options{ReplicaURLs: []string{replica.On(t, url)}})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	cfg := server.Config{Observer: telemetry.New(telemetry.Config{Replicas: store.Replicas})}
	return serveStore(t, url, store, cfg, boundBuffers(t)), replica
}

// TestReplicaFailsInList lets a replica fail when it has read a part of a whole list. The client gets the list of the
// primary.
func TestReplicaFailsInList(t *testing.T) {
	t.Parallel()
	for _, failure := range []string{"terminated", "killed", "in conflict"} {
		t.Run(failure, func(t *testing.T) {
			t.Parallel()
			s, replica := serveReplicated(t)
			standby, err := openSQL(replica.On(t, s.database))
			must(t, err)
			t.Cleanup(func() { standby.Close() })
			standby.SetMaxIdleConns(-1) // the test kills the server
			const readers = `FROM pg_stat_activity WHERE state = 'idle in transaction'`
			ask := func(text string) (n int) {
				t.Helper()
				must(t, standby.QueryRowContext(t.Context(), text).Scan(&n))
				return n
			}
			for _, text := range []string{`ALTER SYSTEM SET max_standby_streaming_delay = 0`, `SELECT pg_reload_conf()`} {
				_, err := standby.ExecContext(t.Context(), text)
				must(t, err)
			}
			for _, coding := range []header{"Accept-Encoding: identity", "Accept-Encoding: gzip"} {
				want := serveLong(t, s.database, server.Config{}).want(http.StatusOK, "GET", "/api/books", "", coding)
				eventually(t, func() string { // the replica has a connection then
					a := s.want(http.StatusOK, "GET", "/api/books", "", coding)
					return strings.TrimPrefix(a.header.Get(source), "primary")
				})
				before := s.lists.read.Load()
				reading, resume := s.stopLists()
				defer resume()
				asked := s.ask("/api/books", coding)
				<-reading
				if n := ask(`SELECT count(*) ` + readers); n != 1 {
					t.Errorf("%d transactions read a list on the replica", n)
				}
				switch failure {
				case "terminated":
					ask(`SELECT count(pg_terminate_backend(pid)) ` + readers)
				case "killed":
					replica.Kill(t)
				case "in conflict":
					s.exec(`BEGIN; LOCK TABLE books; COMMIT`)
					eventually(t, func() string {
						if ask(`SELECT count(*) `+readers) > 0 {
							return ""
						}
						return "canceled"
					})
				}
				resume()
				a := <-asked
				s.lists.pause.Store(nil)
				if a.status != http.StatusOK || a.body != want.body || a.header.Get(source) != "primary" || a.header.Get("ETag") != want.header.Get("ETag") {
					t.Errorf("%s: status %d, %v, %d bytes, want %d", coding, a.status, a.header, len(a.body), len(want.body))
				}
				if n := s.lists.read.Load() - before; n != 2 {
					t.Errorf("%s: the list was read %d times", coding, n)
				}
				if failure == "killed" {
					replica.Start(t)
				}
			}
		})
	}
}

// TestSourceOfSharedList asks for a list that is being sent to another client.
func TestSourceOfSharedList(t *testing.T) {
	t.Parallel()
	s, _ := serveReplicated(t)
	var first *slow
	eventually(t, func() string {
		first = s.readSlowly("/api/books")
		if first.Header.Get(source) != "replica" {
			first.conn.Close()
			return ""
		}
		return "it is read from the replica"
	})
	before := s.lists.read.Load()
	shared := s.want(http.StatusOK, "GET", "/api/books", "")
	if n := s.lists.read.Load() - before; n != 0 || shared.header.Get(source) != "replica" {
		t.Errorf("the list was read %d times more, its source is %q", n, shared.header.Get(source))
	}
	if read, err := first.rest(); err != nil || "{"+read != shared.body {
		t.Errorf("%d bytes and %v, want %d", 1+len(read), err, len(shared.body))
	}
}
