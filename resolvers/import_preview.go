package resolvers

import (
	"context"
	"hash/maphash"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// importPreview reports the result of an import, part by part, without storing anything. Each part
// sees the changes of the parts before it.
type importPreview struct {
	categories []*model.Category
	genres     []*model.Genre
	seed       maphash.Seed
	books      map[uint64]struct{} // hashes of their keys
	moved      map[int]genreMove   // by index in the changes of the current part
}

// genreMove has the genres of a book before and after a change.
type genreMove struct{ from, to model.ID }

// PreviewImport returns a function like ImportBooks for an import into the catalogue as it is now. It stores
// nothing.
func (r *Resolver) PreviewImport() func(context.Context, []model.Form) (*model.ImportResult, error) {
	p := &importPreview{seed: maphash.MakeSeed(), books: map[uint64]struct{}{}}
	return func(ctx context.Context, rows []model.Form) (*model.ImportResult, error) {
		return r.importBooks(ctx, rows, p)
	}
}

// category returns a category that is not stored. Its id is negative, unlike stored ones.
func (p *importPreview) category(name string) *model.Category {
	made := &model.Category{ID: -1 - model.ID(len(p.categories)), Name: name}
	p.categories = append(p.categories, made)
	return made
}

func (p *importPreview) genre(name string, category model.ID) *model.Genre {
	made := &model.Genre{ID: -1 - model.ID(len(p.genres)), Name: name, CategoryID: category}
	p.genres = append(p.genres, made)
	return made
}

// recall adds the genres and categories of the earlier parts to a batch.
func (p *importPreview) recall(b *importBatch) {
	for _, c := range p.categories {
		b.addCategory(c)
	}
	for _, g := range p.genres {
		b.addGenre(g)
	}
}

// remember stores the keys of the books that a batch would create, and those without ISBN and shelf mark, by which rows
// without them find the books.
func (p *importPreview) remember(b *importBatch) {
	for _, book := range b.created {
		key := book.Key()
		p.books[maphash.Comparable(p.seed, key)] = struct{}{}
		key.ISBN, key.ShelfMark = "", ""
		p.books[maphash.Comparable(p.seed, key)] = struct{}{}
	}
}

// change adds a changed book to the result of a part.
func (p *importPreview) change(result *model.ImportResult, index int, before, after *model.Book) {
	if before.GenreID != after.GenreID {
		p.moved[len(result.Changes)] = genreMove{before.GenreID, after.GenreID}
	}
	result.Changes = append(result.Changes,
		model.BookChange{Index: index, ID: before.ID, Name: before.Name, Fields: before.Differences(after)})
}

// nameGenres adds the changed genres, by their names, to the changes of a part.
func (p *importPreview) nameGenres(ctx context.Context, store *db.Store, result *model.ImportResult) error {
	if len(p.moved) == 0 {
		return nil
	}
	names := map[model.ID]string{}
	for _, g := range p.genres {
		names[g.ID] = g.Name
	}
	var ids []model.ID
	for _, move := range p.moved {
		ids = append(ids, move.from, move.to)
	}
	stored, err := store.Genres.Unchecked(ctx).ByID(ctx, ids)
	if err != nil {
		return err
	}
	for _, g := range stored {
		names[g.ID] = g.Name
	}
	for i, move := range p.moved {
		change := &result.Changes[i]
		change.Fields = append(change.Fields,
			model.FieldChange{Field: "genre", Old: names[move.from], New: names[move.to]})
	}
	return nil
}

// created reports whether an earlier part would create the book. It is false without a preview.
func (p *importPreview) created(key model.BookKey) bool {
	if p == nil {
		return false
	}
	_, ok := p.books[maphash.Comparable(p.seed, key)]
	return ok
}
