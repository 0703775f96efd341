package dbtest

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/lib/pq"
)

// Serve returns two functions for programs that are not tests: create creates an empty database,
// and drop drops all of them. The databases are in the server at CATALOGUE_TEST_DATABASE_URL. If
// that is not set, they are in a cluster with settings ("name=value") in a new folder in folder,
// which PostgreSQL's user must be able to reach. The cluster is durable unless the settings change
// that.
func Serve(folder string, settings ...string) (create func() (url string, err error), drop func() error, err error) {
	s, err := given()
	if err != nil {
		return nil, nil, err
	}
	var created []string
	drop = func() (err error) {
		for _, name := range created {
			err = errors.Join(err, s.drop(name))
		}
		return errors.Join(err, s.admin.Close())
	}
	if s == nil {
		c, err := newClusterIn(folder, settings...)
		if err != nil {
			return nil, nil, err
		}
		s, drop = c.server, c.stop
	}
	return func() (string, error) {
		name, err := s.create("template0")
		created = append(created, name)
		return s.urlOf(name), err
	}, drop, nil
}

// Keep starts the cluster in a folder, which it creates if it is missing. database returns the URL of a
// database, which is created if it is missing. stop ends the server. The data stay.
func Keep(
	folder string, settings ...string,
) (database func(name string) (url string, err error), stop func() error, err error) {
	c := &Cluster{settings: settings, dir: folder, kept: true}
	if c.bin, err = binaries(installed...); err != nil {
		return nil, nil, err
	}
	fill := initdb
	if _, err := os.Stat(filepath.Join(folder, "data", "PG_VERSION")); err == nil {
		fill = nil
	}
	if err := errors.Join(os.MkdirAll(folder, 0o711), c.open(fill)); err != nil {
		return nil, nil, err
	}
	stop = func() error {
		err := c.postgres.Signal(os.Interrupt) // disconnects clients and writes everything
		<-c.exited
		return errors.Join(err, c.stop())
	}
	return func(name string) (string, error) {
		var exists bool
		err := c.admin.QueryRow(`SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
		if err == nil && !exists {
			_, err = c.admin.Exec("CREATE DATABASE " + pq.QuoteIdentifier(name) + " ENCODING 'UTF8' TEMPLATE template0")
		}
		return c.urlOf(name), err
	}, stop, nil
}
