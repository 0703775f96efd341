package resolvers

import (
	"context"
	"hash/maphash"

	"library-catalogue/graph/model"
)

// importPreview reports the result of an import, part by part, without storing anything. Each part
// sees the changes of the parts before it.
type importPreview struct {
	categories []*model.Category
	genres     []*model.Genre
	seed       maphash.Seed
	books      map[uint64]struct{} // hashes of their keys
}

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
		p.books[maphash.Comparable(p.seed, model.BookKey{Name: key.Name, Author: key.Author})] = struct{}{}
	}
}

// created reports whether an earlier part would create the book. It is false without a preview.
func (p *importPreview) created(key model.BookKey) bool {
	if p == nil {
		return false
	}
	_, ok := p.books[maphash.Comparable(p.seed, key)]
	return ok
}
