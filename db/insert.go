package db

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// InsertBooks stores new books, with ids that rise in their order, and gives
// them what they have as stored.
func (s *Store) InsertBooks(ctx context.Context, books []*model.Book) error {
	return gone(s.insertBooks(ctx, books))
}

func (s *Store) insertBooks(ctx context.Context, books []*model.Book) error {
	return insert(ctx, s, bookTable, `name, description, pages, published_at, author, price_cents, genre_id`, books, func(b *model.Book) []any {
		return []any{b.Name, b.Description, b.Pages, b.PublishedAt.String(), b.Author, b.Price, b.GenreID}
	})
}

// InsertGenres is as InsertBooks.
func (s *Store) InsertGenres(ctx context.Context, genres []*model.Genre) error {
	return gone(insert(ctx, s, genreTable, `name, description, category_id`, genres, func(g *model.Genre) []any {
		return []any{g.Name, g.Description, g.CategoryID}
	}))
}

// InsertCategories is as InsertBooks.
func (s *Store) InsertCategories(ctx context.Context, categories []*model.Category) error {
	return insert(ctx, s, categoryTable, `name, description`, categories, func(c *model.Category) []any {
		return []any{c.Name, c.Description}
	})
}

// insert runs INSERTs of many rows each. values gives those of a row, in the
// order of columns.
func insert[T any, P interface {
	*T
	RowID() model.ID
}](ctx context.Context, s *Store, t table[T], columns string, rows []P, values func(P) []any) error {
	for part := range slices.Chunk(rows, importRows) {
		var args []any
		for _, row := range part {
			args = append(args, values(row)...)
		}
		text := `INSERT INTO ` + t.name + ` AS r (` + columns + `) VALUES ` + tuples(len(part), len(args)/len(part)) + ` RETURNING ` + t.selected(s.dialect, "")
		stored, err := query(ctx, s, true, t, s.numbered(text), args...)
		if err != nil {
			return err
		}
		// Both engines number the rows in the order of VALUES, and promise nothing
		// about the order in which they give them back.
		slices.SortFunc(stored, func(a, b *T) int { return cmp.Compare(P(a).RowID(), P(b).RowID()) })
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
