package resolvers

import (
	"context"
	"slices"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// createAll validates new rows and stores them in one transaction, with the parents that they create. refer tells the
// checker which stored rows a new row refers to. A row with problems is not stored and is nil in the result. If all is
// set, one such row prevents the others.
func createAll[I, T any, P interface {
	*I
	Validate() model.FieldErrors
}](ctx context.Context, r *Resolver, inputs []P, all bool, refer func(c *checker, i int, in P),
	insert func(context.Context, []P) ([]*T, error),
) (rows []*T, problems []model.FieldErrors, err error) {
	err = r.store.Write(ctx, func(ctx context.Context) error {
		c := newChecker(inputs)
		for i, in := range inputs {
			refer(c, i, in)
		}
		valid, err := c.valid(ctx, r.store, all)
		if err != nil {
			return err
		}
		problems = c.problems
		rows, err = insert(ctx, nilUnless(valid, inputs))
		return err
	})
	return rows, problems, err
}

func (r *Resolver) createBooks(
	ctx context.Context, inputs []*model.CreateBookInput, all bool,
) ([]*model.Book, []model.FieldErrors, error) {
	return createAll(ctx, r, inputs, all, func(c *checker, i int, in *model.CreateBookInput) {
		c.addGenre(i, "", in.ExistingGenre)
		if in.Genre != nil && in.Genre.Create != nil {
			c.addCategory(i, "genre.create.", in.Genre.Create.ExistingCategory)
		}
	}, r.insertBooks)
}

func (r *Resolver) createGenres(
	ctx context.Context, inputs []*model.CreateGenreInput, all bool,
) ([]*model.Genre, []model.FieldErrors, error) {
	return createAll(ctx, r, inputs, all,
		func(c *checker, i int, in *model.CreateGenreInput) {
			c.addCategory(
				i, "", in.ExistingCategory,
			)
		}, r.insertGenres)
}

func (r *Resolver) createCategories(
	ctx context.Context, inputs []*model.CreateCategoryInput, all bool,
) ([]*model.Category, []model.FieldErrors, error) {
	return createAll(ctx, r, inputs, all, func(*checker, int, *model.CreateCategoryInput) {}, r.insertCategories)
}

// singleCreated returns the only row, or its problems.
func singleCreated[T any](rows []*T, problems []model.FieldErrors, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return rows[0], problems[0].Err()
}

// checker validates the fields of new rows, and checks that the rows they refer to exist.
type checker struct {
	problems           []model.FieldErrors // by row
	genres, categories []reference
}

// reference is an id in a field of a new row.
type reference struct {
	row   int
	field string
	id    model.ID
}

func newChecker[T any, P interface {
	*T
	Validate() model.FieldErrors
}](inputs []P) *checker {
	c := &checker{problems: make([]model.FieldErrors, len(inputs))}
	for i, in := range inputs {
		c.problems[i] = in.Validate()
	}
	return c
}

func (c *checker) addGenre(row int, prefix string, existing func() (string, model.ID)) {
	c.add(&c.genres, row, prefix, existing)
}

func (c *checker) addCategory(row int, prefix string, existing func() (string, model.ID)) {
	c.add(&c.categories, row, prefix, existing)
}

// add adds a reference, unless its field already has a problem.
func (c *checker) add(to *[]reference, row int, prefix string, existing func() (string, model.ID)) {
	if field, id := existing(); field != "" && !c.problems[row].Has(prefix+field) {
		*to = append(*to, reference{row, prefix + field, id})
	}
}

// valid locks the referenced rows and reports which new rows can be stored: every row or none, if all is set.
func (c *checker) valid(ctx context.Context, store *db.Store, all bool) ([]bool, error) {
	// Deleting a category locks in the same order, which prevents a deadlock.
	if err := c.lock(ctx, c.categories, store.Categories.Hold); err != nil {
		return nil, err
	}
	if err := c.lock(ctx, c.genres, store.Genres.Hold); err != nil {
		return nil, err
	}
	valid := make([]bool, len(c.problems))
	for i, p := range c.problems {
		valid[i] = len(p) == 0
	}
	if all && slices.Contains(valid, false) {
		clear(valid)
	}
	return valid, nil
}

// lock locks the referenced rows and adds a problem for each missing one.
func (c *checker) lock(
	ctx context.Context, references []reference, lock func(context.Context, []model.ID) ([]model.ID, error),
) error {
	if len(references) == 0 {
		return nil
	}
	ids := make([]model.ID, len(references))
	for i, r := range references {
		ids[i] = r.id
	}
	slices.Sort(ids)
	found, err := lock(ctx, slices.Compact(ids))
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

// nilUnless replaces the invalid inputs by nil.
func nilUnless[P any](valid []bool, inputs []P) []P {
	selected := make([]P, len(inputs))
	for i, in := range inputs {
		if valid[i] {
			selected[i] = in
		}
	}
	return selected
}

// insertBooks stores a book for each input that is not nil, and returns nil for the others.
func (r *Resolver) insertBooks(ctx context.Context, inputs []*model.CreateBookInput) ([]*model.Book, error) {
	genres, err := r.insertGenres(ctx, newParents(inputs, func(in *model.CreateBookInput) *model.CreateBookGenreInput {
		return in.Genre
	}))
	if err != nil {
		return nil, err
	}
	return insertRows(ctx, inputs, r.store.Books.Insert, func(i int, in *model.CreateBookInput) *model.Book {
		b := in.Row()
		if genres[i] != nil {
			b.GenreID = genres[i].ID
		}
		return b
	})
}

// insertGenres is like insertBooks.
func (r *Resolver) insertGenres(ctx context.Context, inputs []*model.CreateGenreInput) ([]*model.Genre, error) {
	categories, err := r.insertCategories(ctx,
		newParents(inputs, func(in *model.CreateGenreInput) *model.CreateGenreCategoryInput { return in.Category }))
	if err != nil {
		return nil, err
	}
	return insertRows(ctx, inputs, r.store.Genres.Insert, func(i int, in *model.CreateGenreInput) *model.Genre {
		g := in.Row()
		if categories[i] != nil {
			g.CategoryID = categories[i].ID
		}
		return g
	})
}

// insertCategories is like insertBooks.
func (r *Resolver) insertCategories(
	ctx context.Context, inputs []*model.CreateCategoryInput,
) ([]*model.Category, error) {
	return insertRows(ctx, inputs, r.store.Categories.Insert,
		func(_ int, in *model.CreateCategoryInput) *model.Category {
			return in.Row()
		})
}

// newParents returns the new parent of each input, or nil.
func newParents[T, P any](inputs []*T, parentOf func(*T) *model.ParentInput[P]) []*P {
	parents := make([]*P, len(inputs))
	for i, in := range inputs {
		if in == nil {
			continue
		}
		if parent := parentOf(in); parent != nil {
			parents[i] = parent.Create
		}
	}
	return parents
}

// insertRows inserts a row for each input that is not nil.
func insertRows[I, T any](
	ctx context.Context, inputs []*I, insert func(context.Context, []*T) error, newRow func(i int, in *I) *T,
) ([]*T, error) {
	rows := make([]*T, len(inputs))
	var stored []*T
	for i, in := range inputs {
		if in != nil {
			rows[i] = newRow(i, in)
			stored = append(stored, rows[i])
		}
	}
	return rows, insert(ctx, stored)
}
