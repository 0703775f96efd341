package resolvers

import (
	"context"
	"slices"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// createBooks stores new books, with the genres and categories that are new
// with them, in one transaction. A book with problems is left out, and is nil;
// where all is set, every other then is too.
func (r *Resolver) createBooks(ctx context.Context, inputs []*model.CreateBookInput, all bool) (books []*model.Book, problems []model.FieldErrors, err error) {
	err = r.store.Write(ctx, func(ctx context.Context) error {
		c := newCreation(inputs)
		for i, in := range inputs {
			c.genre(i, "", in.ExistingGenre)
			if in.Genre != nil && in.Genre.Create != nil {
				c.category(i, "genre.create.", in.Genre.Create.ExistingCategory)
			}
		}
		good, err := c.good(ctx, r.store, all)
		if err != nil {
			return err
		}
		problems = c.problems
		books, err = r.addBooks(ctx, pick(inputs, good))
		return err
	})
	return books, problems, err
}

// createGenres is createBooks for genres.
func (r *Resolver) createGenres(ctx context.Context, inputs []*model.CreateGenreInput, all bool) (genres []*model.Genre, problems []model.FieldErrors, err error) {
	err = r.store.Write(ctx, func(ctx context.Context) error {
		c := newCreation(inputs)
		for i, in := range inputs {
			c.category(i, "", in.ExistingCategory)
		}
		good, err := c.good(ctx, r.store, all)
		if err != nil {
			return err
		}
		problems = c.problems
		genres, err = r.addGenres(ctx, pick(inputs, good))
		return err
	})
	return genres, problems, err
}

// createCategories is createBooks for categories.
func (r *Resolver) createCategories(ctx context.Context, inputs []*model.CreateCategoryInput, all bool) (categories []*model.Category, problems []model.FieldErrors, err error) {
	err = r.store.Write(ctx, func(ctx context.Context) error {
		c := newCreation(inputs)
		good, err := c.good(ctx, r.store, all)
		if err != nil {
			return err
		}
		problems = c.problems
		categories, err = r.addCategories(ctx, pick(inputs, good))
		return err
	})
	return categories, problems, err
}

// bookScopes gives the scopes that are needed to create a book.
func bookScopes(in *model.CreateBookInput) []string {
	scopes := []string{"books:create"}
	if in.Genre != nil && in.Genre.Create != nil {
		scopes = append(scopes, genreScopes(in.Genre.Create)...)
	}
	return scopes
}

// genreScopes gives the scopes that are needed to create a genre.
func genreScopes(in *model.CreateGenreInput) []string {
	scopes := []string{"genres:create"}
	if in.Category != nil && in.Category.Create != nil {
		scopes = append(scopes, "categories:create")
	}
	return scopes
}

// creation is new rows that are looked at: what is wrong with each, and which
// rows they want to be there already.
type creation struct {
	problems           []model.FieldErrors
	genres, categories []reference
}

// reference is an id that a field of a new row has.
type reference struct {
	row   int
	field string
	id    model.ID
}

func newCreation[T any, P interface {
	*T
	Validate() model.FieldErrors
}](inputs []P) *creation {
	c := &creation{problems: make([]model.FieldErrors, len(inputs))}
	for i, in := range inputs {
		c.problems[i] = in.Validate()
	}
	return c
}

func (c *creation) genre(row int, prefix string, existing func() (string, model.ID)) {
	c.add(&c.genres, row, prefix, existing)
}

func (c *creation) category(row int, prefix string, existing func() (string, model.ID)) {
	c.add(&c.categories, row, prefix, existing)
}

// add notes a reference, unless its field has a problem already.
func (c *creation) add(to *[]reference, row int, prefix string, existing func() (string, model.ID)) {
	if field, id := existing(); field != "" && !c.problems[row].Has(prefix+field) {
		*to = append(*to, reference{row, prefix + field, id})
	}
}

// good looks for what the rows refer to, holds that, and tells which rows can
// be stored: where all is set, every one or none.
func (c *creation) good(ctx context.Context, store *db.Store, all bool) ([]bool, error) {
	// In the order in which a category is deleted, so that of the two one waits.
	if err := c.find(ctx, c.categories, store.HoldCategories); err != nil {
		return nil, err
	}
	if err := c.find(ctx, c.genres, store.HoldGenres); err != nil {
		return nil, err
	}
	good := make([]bool, len(c.problems))
	for i, p := range c.problems {
		good[i] = len(p) == 0
	}
	if all && slices.Contains(good, false) {
		clear(good)
	}
	return good, nil
}

func (c *creation) find(ctx context.Context, references []reference, hold func(context.Context, []model.ID) ([]model.ID, error)) error {
	if len(references) == 0 {
		return nil
	}
	ids := make([]model.ID, len(references))
	for i, r := range references {
		ids[i] = r.id
	}
	slices.Sort(ids)
	found, err := hold(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	for _, r := range references {
		if _, there := slices.BinarySearch(found, r.id); !there {
			c.problems[r.row].Add(r.field, model.MustExist)
		}
	}
	return nil
}

// pick gives the inputs that are good, and nil in place of each other.
func pick[T any](inputs []*T, good []bool) []*T {
	picked := make([]*T, len(inputs))
	for i, in := range inputs {
		if good[i] {
			picked[i] = in
		}
	}
	return picked
}

// addBooks stores a book for each input, and gives nil for each nil.
func (r *Resolver) addBooks(ctx context.Context, inputs []*model.CreateBookInput) ([]*model.Book, error) {
	genres, err := r.addGenres(ctx, newParents(inputs, func(in *model.CreateBookInput) *model.CreateBookGenreInput { return in.Genre }))
	if err != nil {
		return nil, err
	}
	return add(ctx, inputs, r.store.InsertBooks, func(i int, in *model.CreateBookInput) *model.Book {
		b := in.Book()
		if genres[i] != nil {
			b.GenreID = genres[i].ID
		}
		return b
	})
}

// addGenres is addBooks for genres.
func (r *Resolver) addGenres(ctx context.Context, inputs []*model.CreateGenreInput) ([]*model.Genre, error) {
	categories, err := r.addCategories(ctx, newParents(inputs, func(in *model.CreateGenreInput) *model.CreateGenreCategoryInput { return in.Category }))
	if err != nil {
		return nil, err
	}
	return add(ctx, inputs, r.store.InsertGenres, func(i int, in *model.CreateGenreInput) *model.Genre {
		g := &model.Genre{Name: in.Name, Description: in.Description}
		if _, g.CategoryID = in.ExistingCategory(); categories[i] != nil {
			g.CategoryID = categories[i].ID
		}
		return g
	})
}

// addCategories is addBooks for categories.
func (r *Resolver) addCategories(ctx context.Context, inputs []*model.CreateCategoryInput) ([]*model.Category, error) {
	return add(ctx, inputs, r.store.InsertCategories, func(_ int, in *model.CreateCategoryInput) *model.Category {
		return &model.Category{Name: in.Name, Description: in.Description}
	})
}

// newParents gives the new parent of each input, or nil.
func newParents[T, P any](inputs []*T, of func(*T) *model.ParentInput[P]) []*P {
	created := make([]*P, len(inputs))
	for i, in := range inputs {
		if in == nil {
			continue
		}
		if parent := of(in); parent != nil {
			created[i] = parent.Create
		}
	}
	return created
}

// add inserts a row for each input that is not nil.
func add[I, T any](ctx context.Context, inputs []*I, insert func(context.Context, []*T) error, row func(i int, in *I) *T) ([]*T, error) {
	rows := make([]*T, len(inputs))
	var stored []*T
	for i, in := range inputs {
		if in != nil {
			rows[i] = row(i, in)
			stored = append(stored, rows[i])
		}
	}
	return rows, insert(ctx, stored)
}

// only gives the one row that was to be stored.
func only[T any](rows []*T, problems []model.FieldErrors, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return rows[0], problems[0].Err()
}
