package resolvers

import (
	"context"
	"maps"
	"slices"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// ImportBooks imports rows of a file in one transaction, in their order:
//   - A book that is stored, by its key or better by its spelling, is updated if its content differs.
//   - Any other book is created, with its genre and category if they are missing.
//   - An invalid row is rejected.
func (r *Resolver) ImportBooks(ctx context.Context, rows []model.Form) (*model.ImportResult, error) {
	return r.importBooks(ctx, rows, nil)
}

// importBooks imports the rows, or only reports the result if there is a preview.
func (r *Resolver) importBooks(
	ctx context.Context, rows []model.Form, preview *importPreview,
) (*model.ImportResult, error) {
	if _, err := model.Authorise(ctx); err != nil {
		return nil, err
	}
	inputs := make([]model.ImportBookInput, len(rows))
	problems := make([]model.FieldErrors, len(rows))
	for i, row := range rows {
		inputs[i] = row.ImportBook()
		problems[i] = inputs[i].Validate()
	}
	var result model.ImportResult
	err := r.store.Write(ctx, func(ctx context.Context) error {
		b := importBatch{store: r.store, preview: preview}
		if preview != nil {
			preview.moved = map[int]genreMove{}
		} else if err := r.store.LockImports(ctx); err != nil {
			return err
		}
		if err := b.read(ctx, inputs, problems); err != nil {
			return err
		}
		for i := range inputs {
			if err := b.add(ctx, i, &inputs[i], problems[i]); err != nil {
				return err
			}
		}
		result = b.result
		if preview != nil {
			preview.remember(&b)
			return preview.nameGenres(ctx, r.store, &result)
		}
		return b.write(ctx)
	})
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// Background is like db.Store.Background.
func (r *Resolver) Background(fn func(life context.Context)) bool { return r.store.Background(fn) }

// AnalyzeGrown updates the database's statistics after an import that created many books.
func (r *Resolver) AnalyzeGrown(ctx context.Context, created int) error {
	if _, err := model.Authorise(ctx); err != nil {
		return err
	}
	return r.store.AnalyzeGrown(ctx, created)
}

// Atomically runs fn in one transaction. fn may run more than once, as in db.Store.Write.
func (r *Resolver) Atomically(ctx context.Context, fn func(ctx context.Context) error) error {
	if _, err := model.Authorise(ctx); err != nil {
		return err
	}
	return r.store.Write(ctx, fn)
}

// importBatch is the state of an import. It reads the rows' genres, categories and books first, and
// writes books at the end with few statements.
type importBatch struct {
	store      *db.Store
	preview    *importPreview               // nil: the rows are stored
	categories map[string][]*model.Category // by identity of the name
	genres     map[string][]*model.Genre    // by identity of the name
	stored     []*model.Book                // as they were before the import
	now        []*model.Book                // the same books after it
	created    []*model.Book                // in order of their rows
	books      map[string][]model.KeyedBook // by identity of the name
	keys       []model.BookKey              // keys of the valid rows
	names      map[string]bool              // identities of names of stored books, by any author
	result     model.ImportResult
}

// read reads the genres, categories and books of the valid rows.
func (b *importBatch) read(ctx context.Context, inputs []model.ImportBookInput, problems []model.FieldErrors) error {
	b.categories = map[string][]*model.Category{}
	b.genres = map[string][]*model.Genre{}
	b.books = map[string][]model.KeyedBook{}
	names := struct{ categories, genres map[string]bool }{map[string]bool{}, map[string]bool{}}
	b.keys = make([]model.BookKey, len(inputs))
	keys := map[model.BookKey]bool{}
	for i, in := range inputs {
		if len(problems[i]) > 0 {
			continue
		}
		if in.Category != "" {
			names.categories[in.Category] = true
		}
		names.genres[in.Genre] = true
		b.keys[i] = in.Row().Key()
		keys[b.keys[i]] = true
	}
	categories, err := b.store.Categories.Named(ctx, slices.Sorted(maps.Keys(names.categories)))
	if err != nil {
		return err
	}
	for _, c := range categories {
		b.addCategory(c)
	}
	genres, err := b.store.Genres.Named(ctx, slices.Sorted(maps.Keys(names.genres)))
	if err != nil {
		return err
	}
	for _, g := range genres {
		b.addGenre(g)
	}
	if b.stored, b.names, err = b.store.BooksKeyed(ctx, slices.Collect(maps.Keys(keys))); err != nil {
		return err
	}
	for _, book := range b.stored {
		book = new(*book)
		b.now = append(b.now, book)
		b.addBook(book, book.Key())
	}
	if b.preview != nil {
		b.preview.recall(b)
	}
	return nil
}

func (b *importBatch) addCategory(c *model.Category) {
	key := collate.Identity(c.Name)
	b.categories[key] = append(b.categories[key], c)
}

func (b *importBatch) addGenre(g *model.Genre) {
	key := collate.Identity(g.Name)
	b.genres[key] = append(b.genres[key], g)
}

func (b *importBatch) addBook(book *model.Book, key model.BookKey) {
	for _, name := range key.Names() {
		b.books[name] = append(b.books[name], model.KeyedBook{Book: book, Of: key})
	}
}

// named returns the books that have one of the names of a key.
func (b *importBatch) named(key model.BookKey) []model.KeyedBook {
	books := b.books[key.Name]
	if key.Whole != "" {
		books = slices.Concat(books, slices.DeleteFunc(slices.Clone(b.books[key.Whole]),
			func(other model.KeyedBook) bool { return slices.Contains(other.Of.Names(), key.Name) }))
	}
	return books
}

// change sets a book to its values after a row.
func (b *importBatch) change(book, after *model.Book) {
	for _, name := range book.Key().Names() {
		b.books[name] = slices.DeleteFunc(b.books[name], func(keyed model.KeyedBook) bool { return keyed.Book == book })
	}
	*book = *after
	b.addBook(book, book.Key())
}

// add applies one row.
func (b *importBatch) add(ctx context.Context, index int, in *model.ImportBookInput, problems model.FieldErrors) error {
	row, key := in.Row(), b.keys[index]
	var before *model.Book
	met := model.MeetAgain(row, key, b.named(key))
	if in.Apart {
		met = slices.DeleteFunc(met, func(book *model.Book) bool {
			like := *row
			like.GenreID = book.GenreID
			return !like.SameContent(book)
		})
	}
	if len(met) > 0 {
		if before = met[0]; len(met) > 1 && len(problems) == 0 {
			problems = model.FieldErrors{model.AmbiguousBook(len(met)).At("isbn")}
		}
	}
	var genre model.ID
	if len(problems) == 0 {
		var err error
		if before != nil && slices.Contains(in.StandIns, "genre") {
			genre = before.GenreID
		} else if genre, err = b.genre(ctx, in, before); err != nil {
			return err
		}
		if genre == 0 {
			problems = model.FieldErrors{
				{Field: "category", Message: "The category field is required to create the genre " + in.Genre + "."}}
		}
	}
	if len(problems) > 0 {
		b.result.Rejected = append(b.result.Rejected, model.RejectedRow{Index: index, Problems: problems})
		return nil
	}
	after := new(model.Book)
	if before != nil {
		*after = *before
		kept := in.StandIns
		if in.JoinsTitle(before) {
			kept = append(slices.Clip(kept), "name")
		}
		in.Fill(after, kept...)
	} else {
		in.Fill(after)
	}
	after.GenreID = genre
	switch {
	case before == nil && !in.Apart && b.preview.created(key):
		b.result.Unchanged++
	case before == nil:
		b.result.Created++
		if b.preview != nil && b.isNamesake(key) {
			b.result.Namesakes++
		}
		b.created = append(b.created, after)
		b.addBook(after, key)
	case before.SameContent(after):
		b.result.Unchanged++
	default:
		b.result.Updated++
		if b.preview != nil {
			b.preview.change(&b.result, index, before, after)
		}
		b.change(before, after)
	}
	return nil
}

// isNamesake reports whether the catalogue has books with the name of a key, and none of them has its author.
func (b *importBatch) isNamesake(key model.BookKey) bool {
	return b.names[key.Name] && !slices.ContainsFunc(b.books[key.Name], func(other model.KeyedBook) bool {
		return other.Of.Author == key.Author
	})
}

// genre returns the genre of a row and creates it if it is missing. It returns 0 if the row does
// not name the category of a new genre. If several genres have the name, it returns the book's
// current one, or the first that is spelled alike, or the first.
func (b *importBatch) genre(ctx context.Context, in *model.ImportBookInput, book *model.Book) (model.ID, error) {
	if slices.Contains(in.StandIns, "category") { // it is for new genres only
		asked := *in
		asked.Category, asked.StandIns = "", nil
		if id, err := b.genre(ctx, &asked, book); id != 0 || err != nil {
			return id, err
		}
	}
	key, categories := collate.Identity(in.Genre), b.categories[collate.Identity(in.Category)]
	var first *model.Genre
	for _, g := range b.genres[key] {
		if in.Category != "" && !slices.ContainsFunc(categories, func(c *model.Category) bool {
			return c.ID == g.CategoryID
		}) {
			continue
		}
		if book != nil && book.GenreID == g.ID {
			return g.ID, nil
		}
		if first == nil || g.Name == in.Genre && first.Name != in.Genre {
			first = g
		}
	}
	switch {
	case first != nil:
		return first.ID, nil
	case in.Category == "":
		return 0, nil
	}
	category, err := b.category(ctx, in.Category, categories)
	if err != nil {
		return 0, err
	}
	genre, err := b.createGenre(ctx, in.Genre, category.ID)
	if err != nil {
		return 0, err
	}
	b.genres[key] = append(b.genres[key], genre)
	return genre.ID, nil
}

// category returns the first of some categories that is spelled alike, or the first, or a new one.
func (b *importBatch) category(ctx context.Context, name string, known []*model.Category) (*model.Category, error) {
	if len(known) > 0 {
		i := slices.IndexFunc(known, func(c *model.Category) bool { return c.Name == name })
		return known[max(i, 0)], nil
	}
	made, err := b.createCategory(ctx, name)
	if err == nil {
		b.addCategory(made)
	}
	return made, err
}

func (b *importBatch) createCategory(ctx context.Context, name string) (*model.Category, error) {
	if b.preview != nil {
		return b.preview.category(name), nil
	}
	return b.store.Categories.Create(ctx, &model.CreateCategoryInput{Name: name})
}

func (b *importBatch) createGenre(ctx context.Context, name string, category model.ID) (*model.Genre, error) {
	if b.preview != nil {
		return b.preview.genre(name, category), nil
	}
	return b.store.Genres.Create(ctx, &model.CreateGenreInput{Name: name, CategoryID: category})
}

func (b *importBatch) write(ctx context.Context) error {
	var changed []*model.Book
	for i, before := range b.stored {
		if !before.SameContent(b.now[i]) {
			changed = append(changed, b.now[i])
		}
	}
	if err := b.store.ReplaceBooks(ctx, changed); err != nil {
		return err
	}
	return b.store.Books.Insert(ctx, b.created)
}
