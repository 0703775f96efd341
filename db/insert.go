package db

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// InsertBooks stores new books, with ids that rise in their order, and gives
// them what they have as stored.
func (s *Store) InsertBooks(ctx context.Context, books []*model.Book) error {
	return gone(insert(ctx, s, newBooks, "", books))
}

// InsertGenres is as InsertBooks.
func (s *Store) InsertGenres(ctx context.Context, genres []*model.Genre) error {
	return gone(insert(ctx, s, newGenres, "", genres))
}

// InsertCategories is as InsertBooks.
func (s *Store) InsertCategories(ctx context.Context, categories []*model.Category) error {
	return insert(ctx, s, newCategories, "", categories)
}

// newRows says what new rows of a table are stored with.
type newRows[T any] struct {
	table   table[T]
	columns []string // and their types, as PostgreSQL has them
	values  func(*T) []any
}

var (
	newBooks = newRows[model.Book]{
		bookTable, []string{"name text", "description text", "pages integer", "published_at date", "author text", "price_cents bigint", "genre_id bigint"},
		func(b *model.Book) []any {
			return []any{b.Name, b.Description, b.Pages, b.PublishedAt.String(), b.Author, b.Price, b.GenreID}
		},
	}
	newGenres = newRows[model.Genre]{
		genreTable, []string{"name text", "description text", "category_id bigint"},
		func(g *model.Genre) []any { return []any{g.Name, g.Description, g.CategoryID} },
	}
	newCategories = newRows[model.Category]{
		categoryTable, []string{"name text", "description text"},
		func(c *model.Category) []any { return []any{c.Name, c.Description} },
	}
)

// insertSQL writes the INSERT of so many rows. before is a function call that the
// engine makes before it stores any; it may be empty.
func (n newRows[T]) insertSQL(d dialect, before string, rows int) string {
	names := make([]string, len(n.columns))
	for i, column := range n.columns {
		names[i], _, _ = strings.Cut(column, " ")
	}
	return `INSERT INTO ` + n.table.name + ` AS r (` + strings.Join(names, ", ") + `) ` + d.newRows(n.columns, before, rows) +
		` RETURNING ` + n.table.selected(d, "")
}

// insert runs INSERTs of many rows each.
func insert[T any](ctx context.Context, s *Store, n newRows[T], before string, rows []*T) error {
	for part := range slices.Chunk(rows, importRows) {
		values := make([][]any, len(part))
		for i, row := range part {
			values[i] = n.values(row)
		}
		stored, err := query(ctx, s, true, n.table, n.insertSQL(s.dialect, before, len(part)), s.dialect.newValues(values)...)
		if err != nil {
			return err
		}
		// Both engines number the rows in the order in which they are given, and
		// promise nothing about the order in which they give them back.
		n.table.sort(stored, false)
		for i, row := range part {
			*row = *stored[i]
		}
	}
	return nil
}

// gone is the error of a write of many rows. What one of them points at was
// looked for before: if it is not there, it was deleted a moment ago, and the
// transaction is run again.
func gone(err error) error {
	if errors.Is(err, errForeignKey) {
		return errors.Join(errGivenUp, err)
	}
	return err
}

// HoldGenres gives those of the ids that genres have, in order, and keeps these
// genres from being deleted until the transaction ends.
func (s *Store) HoldGenres(ctx context.Context, ids []model.ID) ([]model.ID, error) {
	return hold(ctx, s, "genres", ids)
}

// HoldCategories is as HoldGenres.
func (s *Store) HoldCategories(ctx context.Context, ids []model.ID) ([]model.ID, error) {
	return hold(ctx, s, "categories", ids)
}

func hold(ctx context.Context, s *Store, table string, ids []model.ID) (found []model.ID, err error) {
	err = s.run(ctx, true, func(h handle) error {
		return sqlx.SelectContext(ctx, h, &found,
			`SELECT id FROM `+table+` WHERE `+s.dialect.in("id", "$1")+` ORDER BY id`+s.dialect.forReference(), s.dialect.keys(ids))
	})
	return found, err
}
