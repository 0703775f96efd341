package db

import (
	"context"
	"errors"
	"strconv"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// MatchBooks returns the ids of the books that match, in order, and holds these
// books until the transaction ends. More than atMost are BadUserInput.
func (s *Store) MatchBooks(ctx context.Context, sel model.Selection, atMost int) ([]model.ID, error) {
	return matching(ctx, s, allBooks, sel, atMost)
}

// MatchGenres is as MatchBooks.
func (s *Store) MatchGenres(ctx context.Context, sel model.Selection, atMost int) ([]model.ID, error) {
	return matching(ctx, s, allGenres, sel, atMost)
}

// MatchCategories is as MatchBooks.
func (s *Store) MatchCategories(ctx context.Context, sel model.Selection, atMost int) ([]model.ID, error) {
	return matching(ctx, s, allCategories, sel, atMost)
}

func matching[T any](ctx context.Context, s *Store, l list[T], sel model.Selection, atMost int) (ids []model.ID, err error) {
	b, err := s.newSelect(ctx, l.Table, sel)
	if err != nil {
		return nil, err
	}
	text := b.IDs(l.query(), sel.Where, b.candidates(false), atMost+1)
	err = s.run(ctx, true, func(h handle) error {
		return sqlx.SelectContext(ctx, handleFor(h, sel), &ids, text, b.Args...)
	})
	if err != nil || len(ids) <= atMost {
		return ids, err
	}
	all, err := l.count(ctx, s, sel)
	if err != nil {
		return nil, err
	}
	var f model.FieldErrors
	f.Add("at_most", "The filter matches "+strconv.Itoa(all)+" "+l.table.Name+", and atMost is "+strconv.Itoa(atMost)+". Nothing was changed.")
	return nil, f.Err()
}

// UpdateBooks changes books, which the transaction has locked, and returns them in order
// of id. A genre that does not exist is BadUserInput.
func (s *Store) UpdateBooks(ctx context.Context, ids []model.ID, p *model.BookPatch) ([]*model.Book, error) {
	return updateAll(ctx, s, bookTable, "genre_id", ids, changesOf(p))
}

// UpdateGenres is as UpdateBooks.
func (s *Store) UpdateGenres(ctx context.Context, ids []model.ID, p *model.GenrePatch) ([]*model.Genre, error) {
	return updateAll(ctx, s, genreTable, "category_id", ids, changesOf(p))
}

// UpdateCategories is as UpdateBooks.
func (s *Store) UpdateCategories(ctx context.Context, ids []model.ID, p *model.CategoryPatch) ([]*model.Category, error) {
	return updateAll(ctx, s, categoryTable, "", ids, changesOf(p))
}

func updateAll[T any](ctx context.Context, s *Store, t table[T], reference string, ids []model.ID, c changes) (rows []*T, err error) {
	switch {
	case len(ids) == 0:
	case len(c.assignments) == 0:
		rows, err = byID(ctx, s, t, ids)
	default:
		where := s.dialect.In("id", "$"+strconv.Itoa(len(c.args)+1))
		rows, err = fetch(ctx, s, true, t, s.updateSQL(t.Name, c, where)+` RETURNING `+t.selected(s.dialect, ""), c.and(s.dialect.Array(ids))...)
	}
	if errors.Is(err, errForeignKey) {
		return nil, unknownReference(reference)
	}
	t.sort(rows, false)
	return rows, err
}

// DeleteBooks deletes books.
func (s *Store) DeleteBooks(ctx context.Context, ids []model.ID) error {
	return s.each(ctx, ids, `DELETE FROM books WHERE `+s.dialect.In("id", "$1"))
}

// InsertBooks stores new books, with ids that rise in their order, and sets what the
// database gives them.
func (s *Store) InsertBooks(ctx context.Context, books []*model.Book) error {
	return retryForeignKey(insert(ctx, s, newBooks, "", books))
}

// InsertGenres is as InsertBooks.
func (s *Store) InsertGenres(ctx context.Context, genres []*model.Genre) error {
	return retryForeignKey(insert(ctx, s, newGenres, "", genres))
}

// InsertCategories is as InsertBooks.
func (s *Store) InsertCategories(ctx context.Context, categories []*model.Category) error {
	return insert(ctx, s, newCategories, "", categories)
}

// LockGenres returns those of the ids that genres have, in order, and keeps these
// genres from being deleted until the transaction ends.
func (s *Store) LockGenres(ctx context.Context, ids []model.ID) ([]model.ID, error) {
	return lockReferenced(ctx, s, "genres", ids)
}

// LockCategories is as LockGenres.
func (s *Store) LockCategories(ctx context.Context, ids []model.ID) ([]model.ID, error) {
	return lockReferenced(ctx, s, "categories", ids)
}

func lockReferenced(ctx context.Context, s *Store, table string, ids []model.ID) (found []model.ID, err error) {
	err = s.selectRows(ctx, true, &found,
		`SELECT id FROM `+table+` WHERE `+s.dialect.In("id", "$1")+` ORDER BY id`+s.dialect.ForKeyShare, s.dialect.Array(ids))
	return found, err
}
