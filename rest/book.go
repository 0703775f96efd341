package rest

import (
	"context"
	"fmt"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/bookfile"
)

func (h *handler) books() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		listing: listings["books"], name: "books", noun: "Book", plural: "Books",
		list: func(ctx context.Context, f *format, a model.PageArgs) (list, error) {
			books, err := query.Books(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search)
			return listOf(f, books, h.bookAppender(f), err)
		},
		stream: func(ctx context.Context, f *format, args model.PageArgs, send func(context.Context, objects) error) error {
			return streamOf(h.catalogue.StreamBooks, h.bookAppender(f))(ctx, f, args, send)
		},
		one: func(ctx context.Context, id string) (*object, error) {
			book, err := query.Book(ctx, id)
			return objectOrNil(ctx, book, h.book, err)
		},
		create: func(ctx context.Context, form model.Form) (*object, error) {
			payload, err := mutation.CreateBook(ctx, form.CreateBook())
			return written(ctx, payload, h.book, err)
		},
		update: func(ctx context.Context, id model.ID, form model.Form, version *int64) (*object, error) {
			payload, err := mutation.UpdateBook(ctx, model.UpdateBookInput{ID: id, Patch: form.ReplaceBook(), ExpectedVersion: version})
			return written(ctx, payload, h.book, err)
		},
		remove: func(ctx context.Context, id model.ID, version *int64, _ model.OnChildren) error {
			_, err := mutation.DeleteBook(ctx, model.DeleteBookInput{ID: id, ExpectedVersion: version})
			return err
		},
	}
}

// book returns a book with its genre and category.
func (h *handler) book(ctx context.Context, b *model.Book) (*object, error) {
	g, c, err := h.parents(ctx, b)
	if err != nil {
		return nil, err
	}
	return &object{
		id: b.ID, version: b.Version, tag: fmt.Sprintf(`"%d.%d.%d"`, b.Version, g.Version, c.Version),
		json: appendBook(nil, b, appendGenreOfBook(nil, g, c)),
	}, nil
}

// bookAppender returns what appends the books of one answer. Many have the same
// genre, which is encoded once in JSON: else that takes 400 of 2,900 ns a book of a
// whole list.
func (h *handler) bookAppender(f *format) func(ctx context.Context, dst []byte, b *model.Book) ([]byte, error) {
	if f != jsonFormat {
		appendRecord := bookfile.CSV(true) // whoever takes it mostly opens it in a spreadsheet
		return func(ctx context.Context, dst []byte, b *model.Book) ([]byte, error) {
			g, c, err := h.parents(ctx, b)
			if err != nil {
				return dst, err
			}
			return appendRecord(dst, b, g, c), nil
		}
	}
	type versions struct{ genre, genreVersion, category, categoryVersion int64 }
	genres := map[versions][]byte{}
	return func(ctx context.Context, dst []byte, b *model.Book) ([]byte, error) {
		g, c, err := h.parents(ctx, b)
		if err != nil {
			return dst, err
		}
		key := versions{int64(g.ID), g.Version, int64(c.ID), c.Version}
		genre, ok := genres[key]
		if !ok {
			genre = appendGenreOfBook(nil, g, c)
			genres[key] = genre
		}
		return appendBook(dst, b, genre), nil
	}
}

// parents returns what is nested in a book.
func (h *handler) parents(ctx context.Context, b *model.Book) (*model.Genre, *model.Category, error) {
	g, err := h.catalogue.Book().Genre(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	c, err := h.catalogue.Genre().Category(ctx, g)
	return g, c, err
}
