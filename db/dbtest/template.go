package dbtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Template is a database of each engine that a test binary fills once and copies for each test.
type Template struct {
	fill     func(ctx context.Context, url string) error
	sqlite   func() ([]byte, error)
	postgres func() (name string, err error)
}

// NewTemplate returns a template that fill creates from an empty database. fill must close its
// connections.
func NewTemplate(fill func(ctx context.Context, url string) error) *Template {
	return &Template{
		fill:     fill,
		sqlite:   sync.OnceValues(func() ([]byte, error) { return fillSQLite(fill) }),
		postgres: sync.OnceValues(func() (string, error) { return fillPostgres(fill) }),
	}
}

func fillSQLite(fill func(context.Context, string) error) (content []byte, err error) {
	folder, err := os.MkdirTemp("", "catalogue-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "catalogue.db")
	if err := fill(context.Background(), sqlitePrefix+path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return nil, errors.New("the template's database is still open")
	}
	return os.ReadFile(path)
}

func fillPostgres(fill func(context.Context, string) error) (name string, err error) {
	s, err := shared()
	if err != nil {
		return "", err
	}
	if name, err = s.create("template0"); err != nil {
		return "", err
	}
	return name, fill(context.Background(), s.urlOf(name))
}

// Each is like the function Each, with copies of the template.
func (t *Template) Each(test *testing.T, run func(t *testing.T, url string)) {
	test.Helper()
	each(test, run, t.SQLite, t.Postgres)
}

// SQLite returns the URL of a copy in the test's temporary folder.
func (t *Template) SQLite(tb testing.TB) string {
	tb.Helper()
	content, err := t.sqlite()
	if err != nil {
		tb.Fatal("the template: ", err)
	}
	url := SQLite(tb)
	if err := os.WriteFile(strings.TrimPrefix(url, sqlitePrefix), content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return url
}

// Postgres returns the URL of a copy, like the function Postgres. On a server that outlives this
// test binary it fills each database instead, so that no template is left behind.
func (t *Template) Postgres(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: SQLite only")
	}
	s, err := shared()
	if err != nil {
		tb.Fatal(err)
	}
	if !s.ours {
		url := Postgres(tb)
		if err := t.fill(tb.Context(), url); err != nil {
			tb.Fatal(err)
		}
		return url
	}
	template, err := t.postgres()
	if err != nil {
		tb.Fatal("the template: ", err)
	}
	return s.database(tb, template)
}

// database returns the URL of a new database, which is dropped when the test ends.
func (s *server) database(tb testing.TB, template string) string {
	tb.Helper()
	name, err := s.create(template)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.drop(name); err != nil {
			tb.Error(err)
		}
	})
	return s.urlOf(name)
}

func each(t *testing.T, run func(t *testing.T, url string), sqlite, postgres func(testing.TB) string) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, sqlite(t)) })
	if !testing.Short() {
		t.Run("postgres", func(t *testing.T) { run(t, postgres(t)) })
	}
}
