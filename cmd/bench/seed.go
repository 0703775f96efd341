package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"library-catalogue/db"
)

// What every database holds. Genres are spread evenly over the categories, and
// books over the genres.
const (
	seededCategories = 20
	seededGenres     = 400
	seededBooks      = 100_000
)

// The same rows every time, and the same as other servers have (seedPeers). The
// ids count from 1, in the order of n.
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

// seed makes the service's tables in an empty database and fills them.
func seed(ctx context.Context, url string, books int) error {
	store, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(store.Migrate(ctx), store.Close()); err != nil {
		return err
	}
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

// The price of a book in cents, in the service's tables and in those of others.
const (
	ourCents   = `b.price_cents`
	theirCents = `(b.price * 100)::bigint`
)

// fingerprint is the same for two databases only if their rows have the same
// values.
func fingerprint(ctx context.Context, url, cents string) (sum string, err error) {
	err = connected(url, func(conn *sql.DB) error {
		return conn.QueryRowContext(ctx, `SELECT md5(string_agg(md5(concat_ws('|',
	b.id, b.name, b.description, b.pages, b.published_at, b.author, `+cents+`, extract(epoch FROM b.created_at), extract(epoch FROM b.updated_at),
	g.id, g.name, g.description, extract(epoch FROM g.created_at), extract(epoch FROM g.updated_at),
	c.id, c.name, c.description, extract(epoch FROM c.created_at), extract(epoch FROM c.updated_at))), '' ORDER BY b.id))
FROM books b JOIN genres g ON g.id = b.genre_id JOIN categories c ON c.id = g.category_id`).Scan(&sum)
	})
	return sum, err
}

func connected(url string, fn func(*sql.DB) error) error {
	conn, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close())
}
