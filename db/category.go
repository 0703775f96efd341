package db

import (
	"context"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	categoryTable = table[model.Category]{
		Table: query.Categories, fields: model.CategoryFields,
		keys: func(c *model.Category) *string { return &c.Keys }, id: (*model.Category).RowID,
	}
	allCategories = list[model.Category]{table: categoryTable, from: "categories r"}
)

// CategoriesByID returns the categories with these ids, in no order; what does
// not exist is left out.
func (s *Store) CategoriesByID(ctx context.Context, ids []model.ID) ([]*model.Category, error) {
	return byID(ctx, s, categoryTable, ids)
}

// Categories returns a page of all categories.
func (s *Store) Categories(ctx context.Context, p *model.Page) ([]*model.Category, error) {
	return allCategories.page(ctx, s, p, nil)
}

// CorrectCategories returns what is searched for in place of a text; nil where the text is.
func (s *Store) CorrectCategories(ctx context.Context, text string) (*string, error) {
	return allCategories.correct(ctx, s, text)
}

// CountCategories counts the categories that match.
func (s *Store) CountCategories(ctx context.Context, sel model.Selection) (int, error) {
	return allCategories.count(ctx, s, sel)
}

// CreateCategory stores a category.
func (s *Store) CreateCategory(ctx context.Context, in *model.CreateCategoryInput) (*model.Category, error) {
	return create(ctx, s, newCategories, "", in.Category())
}

// UpdateCategory changes a category. NotFound or Stale.
func (s *Store) UpdateCategory(ctx context.Context, id model.ID, p *model.CategoryPatch, version *int64) (*model.Category, error) {
	return update(ctx, s, categoryTable, "Category", "", id, changesOf(p), version)
}

// DeleteCategory deletes a category, and its genres with their books where the
// policy is Cascade. NotFound, Stale, or Conflict while it has genres.
func (s *Store) DeleteCategory(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error {
	return s.Write(ctx, func(ctx context.Context) error {
		if err := s.lock(ctx, "categories", "Category", id, version); err != nil {
			return err
		}
		if policy != model.Cascade {
			var genres int
			if err := s.get(ctx, false, &genres, `SELECT count(*) FROM genres WHERE category_id = $1`, id); err != nil {
				return err
			}
			if genres > 0 {
				return model.HasChildren("Category", genres, "genre")
			}
		}
		return s.DeleteCategories(ctx, []model.ID{id})
	})
}

// DeleteCategories deletes categories, which the transaction has locked, with their
// genres and the books of these.
func (s *Store) DeleteCategories(ctx context.Context, ids []model.ID) error {
	genres := `SELECT id FROM genres WHERE ` + s.dialect.In("category_id", "$1")
	return s.each(ctx, ids,
		genres+s.dialect.ForUpdate, // so that no book can be added to them meanwhile
		`DELETE FROM books WHERE genre_id IN (`+genres+`)`,
		`DELETE FROM genres WHERE `+s.dialect.In("category_id", "$1"),
		`DELETE FROM categories WHERE `+s.dialect.In("id", "$1"))
}

// MoveGenres returns all genres of some categories to another, which is held until
// the transaction ends, as they are. BadUserInput where there is no such category.
func (s *Store) MoveGenres(ctx context.Context, from []model.ID, to model.ID) error {
	return move(ctx, s, "categories", "genres", "category_id", from, to)
}
