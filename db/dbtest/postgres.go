package dbtest

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lib/pq"
)

// serverVariable names a PostgreSQL server to use instead of a temporary one.
const serverVariable = "CATALOGUE_TEST_DATABASE_URL"

// Postgres returns the URL (postgres://…?sslmode=disable) of a fresh empty
// database, which is dropped when the test ends, even with open connections.
//
// It is made in the server at CATALOGUE_TEST_DATABASE_URL where that is set,
// else in a temporary cluster that all tests of one test binary share. That
// needs PostgreSQL 13 or newer on this machine. Without a server the test fails;
// only -short skips it.
func Postgres(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: SQLite only")
	}
	s, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	return s.database(tb, "template0")
}

// Stop ends what Postgres has started, for a TestMain that looks for what tests
// leave open. No test may run any more. Without it, the janitor stops the cluster
// when the test binary ends.
func Stop() error { return stop() }

// stop ends what shared has started.
var stop = func() error { return nil }

// shared is the server behind Postgres.
var shared = sync.OnceValues(func() (*server, error) {
	s, err := given()
	if err != nil {
		return nil, err
	}
	if s != nil {
		stop = s.admin.Close
		return s, nil
	}
	c, err := newCluster("fsync=off", "full_page_writes=off", "synchronous_commit=off")
	if err != nil {
		return nil, err
	}
	stop = c.stop
	c.server.ours = true
	return c.server, nil
})

// given is the server at CATALOGUE_TEST_DATABASE_URL, nil where that is not set.
func given() (*server, error) {
	text := os.Getenv(serverVariable)
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return nil, fmt.Errorf("%s is not a URL like postgres://user:password@host:5432/postgres?sslmode=disable", serverVariable)
	}
	return open(u)
}

// server is a PostgreSQL server in which tests make databases.
type server struct {
	url     *url.URL
	ours    bool // it ends with this test binary
	admin   *sql.DB
	options func() (string, error) // of CREATE DATABASE, asked of the server once
}

// open makes the server at u, without connecting to it yet.
func open(u *url.URL) (*server, error) {
	admin, err := sql.Open("postgres", u.String())
	if err != nil {
		return nil, err
	}
	admin.SetMaxOpenConns(4)
	admin.SetMaxIdleConns(4)
	return &server{url: u, admin: admin, options: sync.OnceValues(func() (string, error) {
		// Since 15 a new database is written through the log by default, which
		// takes four times as long as copying the template's files.
		const options = `SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY file_copy' ELSE '' END`
		var answer string
		err := admin.QueryRow(options).Scan(&answer)
		return answer, err
	})}, nil
}

func (s *server) create(template string) (name string, err error) {
	options, err := s.options()
	if err != nil {
		return "", fmt.Errorf("asking the test server's version: %w", err)
	}
	name = "catalogue_test_" + strings.ToLower(rand.Text())
	if _, err := s.admin.Exec("CREATE DATABASE " + pq.QuoteIdentifier(name) + " ENCODING 'UTF8' TEMPLATE " + pq.QuoteIdentifier(template) + options); err != nil {
		return "", fmt.Errorf("making a test database: %w", err)
	}
	return name, nil
}

func (s *server) drop(name string) error {
	if _, err := s.admin.Exec("DROP DATABASE " + pq.QuoteIdentifier(name) + " WITH (FORCE)"); err != nil {
		return fmt.Errorf("dropping a test database: %w", err)
	}
	return nil
}

func (s *server) urlOf(name string) string {
	u := *s.url
	u.Path = "/" + name
	return u.String()
}
