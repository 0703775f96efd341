package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// fillRows is the number of books in a transaction of a fill.
const fillRows = 50_000

// filler fills the empty tables of a database. Each book is one row of each of its books tables.
type filler struct {
	key           func(id int) any // the id of a row; its order is that of numbers
	categoryTable table[parent]
	genreTable    table[parent]
	bookTables    []table[book]
	copies        bool // by PostgreSQL's COPY
}

// table is a table of rows, with their columns.
type table[T any] struct {
	name    string
	columns []string
	values  func(row *T) []any
}

// fill stores the books that are missing, so that an interrupted fill continues, and removes those with later ids.
func (f *filler) fill(ctx context.Context, db *sql.DB, size int) error {
	if _, err := db.ExecContext(ctx, `DELETE FROM books WHERE id > $1`, f.key(size)); err != nil {
		return err
	}
	last, err := f.last(ctx, db)
	if err != nil {
		return err
	}
	g, begin, first := newGenerator(), time.Now(), last
	for last < size {
		next := min(size, last+fillRows)
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f.step(ctx, tx, g, last, next); err != nil {
			_ = tx.Rollback()
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		last = next
		fmt.Fprintf(os.Stderr, "%d of %d books, %.0f a second\n", last, size,
			float64(last-first)/time.Since(begin).Seconds())
	}
	return nil
}

// last returns the last id of books.
func (f *filler) last(ctx context.Context, db *sql.DB) (int, error) {
	var id string
	if err := db.QueryRowContext(ctx, `SELECT coalesce(max(id), $1) FROM books`, f.key(0)).Scan(&id); err != nil {
		return 0, err
	}
	return strconv.Atoi(id)
}

// step stores the books after the id last and up to next, before the first ones also genres and categories.
func (f *filler) step(ctx context.Context, tx *sql.Tx, g *generator, last, next int) error {
	if last == 0 {
		categories, genres := g.parents()
		for _, part := range []struct {
			table[parent]
			rows []parent
		}{{f.categoryTable, categories}, {f.genreTable, genres}} {
			err := store(ctx, tx, f, []table[parent]{part.table}, len(part.rows), func(i int) parent {
				return part.rows[i]
			})
			if err != nil {
				return err
			}
		}
	}
	return store(ctx, tx, f, f.bookTables, next-last, func(i int) book { return g.book(last + 1 + i) })
}

// store stores n rows in each of tables.
func store[T any](ctx context.Context, tx *sql.Tx, f *filler, tables []table[T], n int, row func(i int) T) error {
	statements := make([]*sql.Stmt, len(tables))
	for i, t := range tables {
		columns := strings.Join(t.columns, ", ")
		text := `INSERT INTO ` + t.name + ` (` + columns + `) VALUES (?` + strings.Repeat(", ?", len(t.columns)-1) + `)`
		if f.copies {
			text = `COPY ` + t.name + ` (` + columns + `) FROM STDIN`
		}
		statement, err := tx.PrepareContext(ctx, text)
		if err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		defer statement.Close()
		statements[i] = statement
	}
	for i := range n {
		row := row(i)
		for k, t := range tables {
			if _, err := statements[k].ExecContext(ctx, t.values(&row)...); err != nil {
				return fmt.Errorf("row %d of %s: %w", i, t.name, err)
			}
		}
	}
	if f.copies {
		_, err := statements[0].ExecContext(ctx) // sends the rows
		return err
	}
	return nil
}

// text returns NULL for an empty text.
func text(value string) any {
	if value == "" {
		return nil
	}
	return value
}
