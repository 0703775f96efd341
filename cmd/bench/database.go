package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/db/dbtest"
)

// databases is the PostgreSQL server of a run.
type databases struct {
	url   *url.URL
	admin *sql.DB
	pid   int // of its first process; 0 where it is not on this machine
}

// openDatabases uses the server at given, or starts one in folder. What it
// makes, cleanup takes away.
func openDatabases(ctx context.Context, given, folder string, cleanup *cleanup) (*databases, error) {
	if given == "" {
		cluster, err := dbtest.Serve(folder, settings()...)
		if err != nil {
			return nil, err
		}
		cleanup.add(cluster.Close)
		given = cluster.URL()
	}
	u, err := url.Parse(given)
	if err != nil {
		return nil, err
	}
	admin, err := sql.Open("postgres", given)
	if err != nil {
		return nil, err
	}
	cleanup.add(admin.Close)
	var backend int
	if err := admin.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&backend); err != nil {
		return nil, fmt.Errorf("PostgreSQL: %w", err)
	}
	d := &databases{url: u, admin: admin}
	if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", backend)); strings.HasPrefix(string(name), "postgres") {
		d.pid = readProcesses()[backend].parent
	}
	return d, nil
}

// settings are those of a server that keeps what it has committed, and holds
// all rows in memory where there is enough.
func settings() []string {
	buffers := "128MB"
	if availableMemory() >= 4<<30 {
		buffers = "1GB"
	}
	return []string{
		"fsync=on", "synchronous_commit=on", "shared_buffers=" + buffers, "work_mem=32MB",
		"max_connections=300", "max_wal_size=4GB", "checkpoint_timeout=30min", "jit=off", "timezone=UTC",
	}
}

func availableMemory() int64 {
	info, _ := os.ReadFile("/proc/meminfo")
	_, rest, _ := strings.Cut(string(info), "MemAvailable:")
	line, _, _ := strings.Cut(rest, " kB")
	kilobytes, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return kilobytes << 10
}

// create makes an empty database and gives its URL.
func (d *databases) create(ctx context.Context, cleanup *cleanup) (string, error) {
	name := "catalogue_bench_" + strings.ToLower(rand.Text())
	if _, err := d.admin.ExecContext(ctx, "CREATE DATABASE "+pq.QuoteIdentifier(name)+" TEMPLATE template0 ENCODING 'UTF8'"); err != nil {
		return "", err
	}
	cleanup.add(func() error {
		_, err := d.admin.Exec("DROP DATABASE " + pq.QuoteIdentifier(name) + " WITH (FORCE)")
		return err
	})
	u := *d.url
	u.Path = "/" + name
	return u.String(), nil
}

// cleanup is what is to be done at the end, the last first.
type cleanup []func() error

func (c *cleanup) add(undo func() error) { *c = append(*c, undo) }

func (c *cleanup) run() error {
	var errs []error
	for i := len(*c) - 1; i >= 0; i-- {
		errs = append(errs, (*c)[i]())
	}
	return errors.Join(errs...)
}
