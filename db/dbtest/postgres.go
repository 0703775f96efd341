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

// Postgres returns the URL of a new empty database, which is dropped when the test ends, even with
// open connections.
//
// The database is in the server at CATALOGUE_TEST_DATABASE_URL. If that is not set, it is in a
// temporary cluster of the test binary, which needs PostgreSQL 13 or newer. Without a server the
// test fails; only -short skips it.
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

// Stop stops the shared server. Call it from a TestMain that looks for leaks, after all tests.
// Otherwise the janitor stops the cluster when the test binary ends.
func Stop() error { return stop() }

// stop stops the server that shared started.
var stop = func() error { return nil }

// shared returns the server of Postgres.
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

// given returns the server at CATALOGUE_TEST_DATABASE_URL, or nil if that is not set.
func given() (*server, error) {
	text := os.Getenv(serverVariable)
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil || !strings.HasPrefix(u.Scheme, "postgres") {
		return nil, fmt.Errorf("%s is not a URL like postgres://user:password@host:5432/postgres?sslmode=disable",
			serverVariable)
	}
	return open(u)
}

// server is a PostgreSQL server for test databases.
type server struct {
	url     *url.URL
	ours    bool // it ends with this test binary
	admin   *sql.DB
	options func() (string, error) // options of CREATE DATABASE for this server's version
}

// open returns the server at u without connecting to it.
func open(u *url.URL) (*server, error) {
	admin, err := sql.Open("postgres", u.String())
	if err != nil {
		return nil, err
	}
	admin.SetMaxOpenConns(4)
	admin.SetMaxIdleConns(4)
	return &server{url: u, admin: admin, options: sync.OnceValues(func() (string, error) {
		// Since version 15, the default strategy writes the new database to the log, which takes
		// longer than copying files.
		const options = `SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN ' STRATEGY file_copy' ELSE '' END`
		var answer string
		err := admin.QueryRow(options).Scan(&answer)
		return answer, err
	})}, nil
}

func (s *server) create(template string) (name string, err error) {
	options, err := s.options()
	if err != nil {
		return "", fmt.Errorf("read the test server's version: %w", err)
	}
	name = "catalogue_test_" + strings.ToLower(rand.Text())
	if _, err := s.admin.Exec("CREATE DATABASE " + pq.QuoteIdentifier(name) + " ENCODING 'UTF8' TEMPLATE " +
		pq.QuoteIdentifier(template) + options); err != nil {
		return "", fmt.Errorf("create a test database: %w", err)
	}
	return name, nil
}

func (s *server) drop(name string) error {
	if _, err := s.admin.Exec("DROP DATABASE " + pq.QuoteIdentifier(name) + " WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop a test database: %w", err)
	}
	return nil
}

func (s *server) urlOf(name string) string {
	u := *s.url
	u.Path = "/" + name
	return u.String()
}
