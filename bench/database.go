package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/lib/pq"
	"github.com/prometheus/procfs"

	"library-catalogue/db/dbtest"
)

// Every category has as many genres, and every genre as many books.
const (
	allBooks      = 100_000
	allGenres     = 400
	allCategories = 20
	shelves       = 977 // search terms in the names of books
)

// books returns allBooks books as CSV, always the same. Their ids count from 1.
func books() io.Reader {
	in, out := io.Pipe()
	go func() {
		fmt.Fprintln(out, "name,description,pages,published_at,author,price,genre,category")
		for n := 1; n <= allBooks; n++ {
			const line = `"Book ""%d"" of the shelf %d",%.200s,%d,%d-%02d-%02d,Author %d,%d.%02d,Genre %d,Category %d`
			text := strings.Repeat(fmt.Sprintf("%08x lorem ipsum — ", uint32(n)*2_654_435_761), 10)
			fmt.Fprintf(out, line+"\n", n, n%shelves, text,
				50+n*7919%950, 1950+n*31%70, 1+n%12, 1+n%28, n*31%5000, n*15485863%10000/100, n%100,
				n*7%allGenres, n*7%allCategories)
		}
		out.Close()
	}()
	return in
}

// settings make commits durable and hold all rows in memory.
var settings = []string{
	"fsync=on", "synchronous_commit=on", "shared_buffers=1GB", "work_mem=32MB",
	"max_connections=300", "max_wal_size=4GB", "checkpoint_timeout=30min", "jit=off", "timezone=UTC",
}

// databases returns a function that creates an empty database and returns its URL, and one that drops them all.
func databases(engine, folder string) (create func() (string, error), drop func() error, err error) {
	switch engine {
	case "sqlite":
		create = func() (string, error) { return "sqlite:" + filepath.Join(folder, rand.Text()+".db"), nil }
		return create, func() error { return nil }, nil
	case "postgres":
		if err := os.Chmod(folder, 0o711); err != nil { // PostgreSQL may run as another user
			return nil, nil, err
		}
		return dbtest.Serve(folder, settings...)
	}
	return nil, nil, fmt.Errorf("--engine must be sqlite or postgres, not %q", engine)
}

// analyze updates the statistics of PostgreSQL. It returns the first process of its server, 0 for SQLite.
func analyze(ctx context.Context, url string) (pid int, err error) {
	if strings.HasPrefix(url, "sqlite:") {
		return 0, nil
	}
	db, err := sql.Open("postgres", url)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return 0, err
	}
	if backend, err := procfs.NewProc(pid); err == nil { // fails if the server is on another machine
		stat, err := backend.Stat()
		return stat.PPID, err
	}
	return 0, nil
}
