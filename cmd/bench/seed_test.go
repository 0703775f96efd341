package main

import (
	"database/sql"
	"errors"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
)

func seeded(t *testing.T, books int) (url string, conn *sql.DB) {
	t.Helper()
	url = dbtest.Postgres(t)
	store, err := db.Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.Migrate(t.Context()), store.Close(), seed(t.Context(), url, books)); err != nil {
		t.Fatal(err)
	}
	conn, err = sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return url, conn
}

// TestSeed looks at one row of each table, and at how many there are.
func TestSeed(t *testing.T) {
	t.Parallel()
	_, conn := seeded(t, 30)
	for query, want := range map[string]string{
		`SELECT (SELECT count(*) FROM categories) || ' ' || (SELECT count(*) FROM genres) || ' ' || (SELECT count(*) FROM books)`: "20 400 30",

		`SELECT concat_ws('|', name, length(description), left(description, 35), created_at AT TIME ZONE 'UTC') FROM categories WHERE id = 20`: "Category 20|120|98f13708210194c475687be6106a3b84 98|2024-01-01 20:00:00",

		`SELECT concat_ws('|', name, length(description), category_id, updated_at AT TIME ZONE 'UTC') FROM genres WHERE id = 21`: "Genre 21|120|1|2024-06-01 00:21:00",

		`SELECT concat_ws('|', name, pages, published_at, author, price_cents, genre_id, version, created_at AT TIME ZONE 'UTC') FROM books WHERE id = 30`: `Book "30" of the shelf 30|120|1977-01-09|Author 930|5890|211|1|2024-01-01 00:00:30`,

		`SELECT concat_ws('|', left(description, 40), length(description)) FROM books WHERE id = 1`: "edbab45572c72a5d9440b40bcc0500c0 lorem i|200",
	} {
		var got string
		if err := conn.QueryRow(query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %q and not %q", query, got, want)
		}
	}
}

// TestBaseline holds the page written by hand to the service's form.
func TestBaseline(t *testing.T) {
	t.Parallel()
	_, conn := seeded(t, 2)
	b, err := newBaseline(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.appendPage(t.Context(), []byte("before "), 1)
	if err != nil {
		t.Fatal(err)
	}
	const want = `before {"data":{"books":{"nodes":[{"id":"2","name":"Book \"2\" of the shelf 2",` +
		`"description":"fbfba2e45c2045dc5cab22a5afe83d9d lorem ipsum — fbfba2e45c2045dc5cab22a5afe83d9d lorem ipsum — ` +
		`fbfba2e45c2045dc5cab22a5afe83d9d lorem ipsum — fbfba2e45c2045dc5cab22a5afe83d9d lorem ipsum — fbfba2e45c20",` +
		`"pages":688,"publishedAt":"2006-01-05","author":"Author 62","price":"17.26",` +
		`"createdAt":"2024-01-01T00:00:02.000000Z","updatedAt":"2024-06-01T00:00:02.000000Z","genre":{"id":"15","name":"Genre 15",` +
		`"description":"2442f47728d5b9cd17a9f40b5ad7e681 2442f47728d5b9cd17a9f40b5ad7e681 2442f47728d5b9cd17a9f40b5ad7e681 2442f47728d5b9cd17a9f",` +
		`"createdAt":"2024-01-01T00:15:00.000000Z","updatedAt":"2024-06-01T00:15:00.000000Z","category":{"id":"15","name":"Category 15",` +
		`"description":"9bf31c7ff062936a96d3c8bd1f8f2ff3 9bf31c7ff062936a96d3c8bd1f8f2ff3 9bf31c7ff062936a96d3c8bd1f8f2ff3 9bf31c7ff062936a96d3c",` +
		`"createdAt":"2024-01-01T15:00:00.000000Z","updatedAt":"2024-06-01T15:00:00.000000Z"}}}]}}}`
	if string(got) != want {
		t.Errorf("the page is\n%s\nand not\n%s", got, want)
	}
}
