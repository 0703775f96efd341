package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// settings are those of a server that keeps what it has committed and holds all
// rows in memory: 100,000 books with their indexes are about 400 MB.
var settings = []string{
	"fsync=on", "synchronous_commit=on", "shared_buffers=1GB", "work_mem=32MB",
	"max_connections=300", "max_wal_size=4GB", "checkpoint_timeout=30min", "jit=off", "timezone=UTC",
}

// What every database holds. Genres are spread evenly over the categories, and
// books over the genres.
const (
	seededCategories = 20
	seededGenres     = 400
	seededBooks      = 100_000
)

// The same rows every time, and the same as other servers have. The ids count
// from 1, in the order of n.
const (
	insertCategories = `INSERT INTO categories (name, description, created_at, updated_at)
SELECT 'Category ' || n, rpad('', 120, md5(n::text) || ' '),
	timestamptz '2024-01-01Z' + n * interval '1 hour', timestamptz '2024-06-01Z' + n * interval '1 hour'
FROM generate_series(1, $1::int) n`

	insertGenres = `INSERT INTO genres (name, description, category_id, created_at, updated_at)
SELECT 'Genre ' || n, rpad('', 120, md5('g' || n) || ' '), 1 + (n - 1) % 20,
	timestamptz '2024-01-01Z' + n * interval '1 minute', timestamptz '2024-06-01Z' + n * interval '1 minute'
FROM generate_series(1, $1::int) n`

	insertBooks = `INSERT INTO books (name, description, pages, published_at, author, price_cents, genre_id, created_at, updated_at)
SELECT format('Book "%s" of the shelf %s', n, n % 977), rpad('', 200, md5('b' || n) || ' lorem ipsum — '),
	50 + n * 7919 % 950, date '1950-01-01' + (n * 104729 % 27000)::int, 'Author ' || n * 31 % 5000,
	n * 15485863 % 10000, 1 + n * 7 % 400,
	timestamptz '2024-01-01Z' + n * interval '1 second', timestamptz '2024-06-01Z' + n * interval '1 second'
FROM generate_series(1, $1::bigint) n`
)

// seed fills the service's tables.
func seed(ctx context.Context, url string, books int) error {
	return connected(url, func(conn *sql.DB) error {
		for _, step := range []struct {
			statement string
			rows      int
		}{{insertCategories, seededCategories}, {insertGenres, seededGenres}, {insertBooks, books}} {
			if _, err := conn.ExecContext(ctx, step.statement, step.rows); err != nil {
				return fmt.Errorf("filling the tables: %w", err)
			}
		}
		_, err := conn.ExecContext(ctx, `VACUUM ANALYZE`)
		return err
	})
}

// seedPeers makes and fills the tables of other servers, as their own file says.
func seedPeers(ctx context.Context, url, file string) error {
	statements, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return connected(url, func(conn *sql.DB) error {
		if _, err := conn.ExecContext(ctx, string(statements)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		_, err := conn.ExecContext(ctx, `VACUUM ANALYZE`)
		return err
	})
}

func connected(url string, fn func(*sql.DB) error) error {
	conn, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close())
}
