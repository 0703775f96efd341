package db

import (
	"context"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	genreTable = table[model.Genre]{
		Table: query.Genres, fields: model.GenreFields,
		keys: func(g *model.Genre) *string { return &g.Keys }, id: (*model.Genre).RowID,
	}
	allGenres        = list[model.Genre]{table: genreTable, from: "genres r"}
	genresOfCategory = list[model.Genre]{table: genreTable, from: "genres r", parent: "r.category_id"}
)

// GenresByID returns the genres with these ids, in no order; what does not exist
// is left out.
func (s *Store) GenresByID(ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
	return byID(ctx, s, genreTable, ids)
}

// Genres returns a page of all genres, in its order.
func (s *Store) Genres(ctx context.Context, p *model.Page) ([]*model.Genre, error) {
	return allGenres.page(ctx, s, p, nil)
}

// CorrectGenres returns what is searched for in place of a text; nil where the text is.
func (s *Store) CorrectGenres(ctx context.Context, text string) (*string, error) {
	return allGenres.correct(ctx, s, text)
}

// CountGenres counts the genres that match.
func (s *Store) CountGenres(ctx context.Context, sel model.Selection) (int, error) {
	return allGenres.count(ctx, s, sel)
}

// GenresOfCategories returns the same page of the genres of each category.
func (s *Store) GenresOfCategories(ctx context.Context, categories []model.ID, p *model.Page) (map[model.ID][]*model.Genre, error) {
	return genresOfCategory.pages(ctx, s, categories, p)
}

// CountGenresOfCategories counts the genres of each category that has any that match.
func (s *Store) CountGenresOfCategories(ctx context.Context, categories []model.ID, sel model.Selection) (map[model.ID]int, error) {
	return genresOfCategory.counts(ctx, s, categories, sel)
}

// CreateGenre stores a genre. A category that does not exist is BadUserInput.
func (s *Store) CreateGenre(ctx context.Context, in *model.CreateGenreInput) (*model.Genre, error) {
	return create(ctx, s, newGenres, "category_id", in.Genre())
}

// UpdateGenre changes a genre. NotFound, Stale, or BadUserInput for a category
// that does not exist.
func (s *Store) UpdateGenre(ctx context.Context, id model.ID, p *model.GenrePatch, version *int64) (*model.Genre, error) {
	return update(ctx, s, genreTable, "Genre", "category_id", id, changesOf(p), version)
}

// DeleteGenre deletes a genre, and its books where the policy is Cascade.
// NotFound, Stale, or Conflict while it has books.
func (s *Store) DeleteGenre(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error {
	return s.Write(ctx, func(ctx context.Context) error {
		if err := s.lock(ctx, "genres", "Genre", id, version); err != nil {
			return err
		}
		if policy != model.Cascade {
			var books int
			if err := s.get(ctx, false, &books, `SELECT count(*) FROM books WHERE genre_id = $1`, id); err != nil {
				return err
			}
			if books > 0 {
				return model.HasChildren("Genre", books, "book")
			}
		}
		return s.DeleteGenres(ctx, []model.ID{id})
	})
}

// DeleteGenres deletes genres, which the transaction has locked, with their books.
func (s *Store) DeleteGenres(ctx context.Context, ids []model.ID) error {
	return s.each(ctx, ids, `DELETE FROM books WHERE `+s.dialect.In("genre_id", "$1"), `DELETE FROM genres WHERE `+s.dialect.In("id", "$1"))
}

// MoveBooks returns all books of some genres to another, which is held until the
// transaction ends, as they are. BadUserInput where there is no such genre.
func (s *Store) MoveBooks(ctx context.Context, from []model.ID, to model.ID) error {
	return move(ctx, s, "genres", "books", "genre_id", from, to)
}
