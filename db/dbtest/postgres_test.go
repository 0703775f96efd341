package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	_ "modernc.org/sqlite"
)

func dial(url string) (*sql.DB, error) {
	if path, isFile := strings.CutPrefix(url, sqlitePrefix); isFile {
		return sql.Open("sqlite", path)
	}
	return sql.Open("postgres", url)
}

func connect(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := dial(url)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func ask(t *testing.T, db *sql.DB, query string) (answer string) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

func TestDatabasesAreIsolated(t *testing.T) {
	t.Parallel()
	one, two := connect(t, Postgres(t)), connect(t, Postgres(t))
	execute(t, one, "CREATE TABLE books (id int)")
	execute(t, two, "CREATE TABLE books (id int)")
	execute(t, one, "INSERT INTO books VALUES (1)")
	if got := ask(t, two, "SELECT count(*) FROM books"); got != "0" {
		t.Errorf("the second database has %s rows of the first", got)
	}
	const started = "SELECT pg_postmaster_start_time()"
	if ask(t, one, started) != ask(t, two, started) {
		t.Error("each database has a server of its own")
	}
}

func TestDatabaseIsDropped(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: SQLite only")
	}
	var db *sql.DB
	t.Run("user", func(user *testing.T) {
		db = connect(t, Postgres(user)) // still connected when its test ends
		execute(user, db, "SELECT 1")
	})
	db.SetMaxIdleConns(-1) // else the statement may meet the connection that the drop has cut
	if _, err := db.Exec("SELECT 1"); pq.As(err, pqerror.InvalidCatalogName) == nil {
		t.Errorf("after the test: %v, want a database that does not exist", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	for i := range 16 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			execute(t, connect(t, Postgres(t)), "CREATE TABLE books (id int)")
		})
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	var schemes []string
	Each(t, func(t *testing.T, address string) {
		u, err := url.Parse(address)
		must(t, err)
		schemes = append(schemes, u.Scheme)
		if u.Scheme == "postgres" {
			execute(t, connect(t, address), "SELECT 1")
			return
		}
		if err := os.WriteFile(u.Path, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	want := "sqlite postgres"
	if testing.Short() {
		want = "sqlite"
	}
	if got := strings.Join(schemes, " "); got != want {
		t.Errorf("ran on %q", got)
	}
}

func TestDurable(t *testing.T) {
	t.Parallel()
	cluster := Durable(t)
	address := cluster.Database(t)
	db := connect(t, address)
	execute(t, db, "CREATE TABLE books (id int)")
	execute(t, db, "INSERT INTO books VALUES (1)")

	cluster.Kill(t)
	if err := db.Ping(); err == nil {
		t.Error("a killed server answers")
	}
	cluster.Start(t)
	if got := ask(t, connect(t, address), "SELECT count(*) FROM books"); got != "1" {
		t.Errorf("%s rows after the crash, want 1", got)
	}
	for setting, want := range map[string]string{
		"TimeZone": "Asia/Kolkata", "fsync": "on", "server_encoding": "UTF8", "lc_collate": "C",
	} {
		if got := ask(t, db, "SELECT current_setting('"+setting+"')"); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if got := ask(t, db, "SELECT lower('ÉTÉ')"); got != "été" {
		t.Errorf("lower gives %q", got)
	}
}

// TestKeep starts a cluster twice in the same folder.
func TestKeep(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: SQLite only")
	}
	folder, err := os.MkdirTemp(place(), "catalogue-test-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o711))
	for _, statement := range []string{"CREATE TABLE books (id int)", "INSERT INTO books VALUES (1)"} {
		database, stop, err := Keep(filepath.Join(folder, "kept"), "fsync=off")
		must(t, err)
		address, err := database("one")
		must(t, err)
		db, err := dial(address)
		must(t, err)
		execute(t, db, statement)
		must(t, errors.Join(db.Close(), stop()))
	}
}

// TestNothingIsLeft runs itself in another process, which uses a cluster and
// ends in each of the ways that a test binary can.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	const variable = "CATALOGUE_DBTEST_END"
	if end := os.Getenv(variable); end != "" {
		leave(t, end)
		return
	}
	if testing.Short() {
		t.Skip("-short: SQLite only")
	}
	for _, end := range []string{"return", "panic", "kill"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			report, w, err := os.Pipe()
			must(t, err)
			defer report.Close()
			cmd := exec.Command(os.Args[0], "-test.run=^TestNothingIsLeft$")
			cmd.Env = append(os.Environ(), variable+"="+end, serverVariable+"=")
			// As descriptor 4 the pipe is open in all its children too (they get a
			// 3 of their own), so that it ends with the last of them.
			cmd.ExtraFiles = []*os.File{w, w}
			must(t, cmd.Start())
			w.Close()
			said, err := io.ReadAll(report)
			must(t, err)
			if err := cmd.Wait(); (err == nil) != (end == "return") {
				t.Errorf("the process ended with %v", err)
			}
			if _, err := os.Stat(string(said)); len(said) == 0 || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("its cluster's folder %q: %v", said, err)
			}
		})
	}
}

// leave starts the shared cluster, says where it is, and ends the process.
func leave(t *testing.T, end string) {
	u, err := url.Parse(Postgres(t))
	must(t, err)
	report := os.NewFile(4, "report")
	if _, err := report.WriteString(u.Query().Get("host")); err != nil {
		t.Fatal(err)
	}
	switch end {
	case "panic":
		panic("as the test wants")
	case "kill":
		must(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
		select {}
	}
}

func TestNoServer(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := binaries(); !errors.Is(err, errNoServer) {
		t.Errorf("without a server: %v, want %v", err, errNoServer)
	}
}

func BenchmarkPostgres(b *testing.B) {
	s, err := shared()
	must(b, err)
	for b.Loop() {
		name, err := s.create("template0")
		must(b, err)
		must(b, s.drop(name))
	}
}

func BenchmarkCluster(b *testing.B) {
	for b.Loop() {
		c, err := newCluster()
		must(b, err)
		must(b, c.stop())
	}
}

// TestTemplate fills a template once, however many copies there are, and wants these
// to be apart.
func TestTemplate(t *testing.T) {
	t.Parallel()
	var filled atomic.Int32
	template := NewTemplate(func(_ context.Context, address string) error {
		filled.Add(1)
		db, err := dial(address)
		if err != nil {
			return err
		}
		_, err = db.Exec("CREATE TABLE books (id int)")
		return errors.Join(err, db.Close())
	})
	for range 3 {
		template.Each(t, func(t *testing.T, address string) {
			db, err := dial(address)
			must(t, err)
			defer db.Close()
			execute(t, db, "INSERT INTO books VALUES (1)")
			if n := ask(t, db, "SELECT count(*) FROM books"); n != "1" {
				t.Errorf("%s rows", n)
			}
		})
	}
	want := int32(1)
	if !testing.Short() {
		s, err := shared()
		must(t, err)
		if want = 2; !s.ours { // each database is filled by itself there
			want = 1 + 3
		}
	}
	if n := filled.Load(); n != want {
		t.Errorf("it was filled %d times, want %d", n, want)
	}
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
