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
		listing: listings["books"], name: "books", noun: "Book", plural: "Books", itemFormats: itemFormats,
		list: func(ctx context.Context, f *format, a model.PageArgs) (list, error) {
			books, err := query.Books(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search)
			return listOf(f, books, h.bookAppender(f, nil), err)
		},
		stream: func(ctx context.Context, f *format, args model.PageArgs, send func(context.Context, objects) error) error {
			return streamOf(h.catalogue.StreamBooks, h.bookAppender(f, genreCache{}))(ctx, f, args, send)
		},
		one: func(ctx context.Context, f *format, id string) (*object, error) {
			book, err := query.Book(ctx, id, nil)
			return objectOrNil(ctx, book, h.bookIn(f), err)
		},
		create: func(ctx context.Context, f *format, form model.Form) (*object, error) {
			payload, err := mutation.CreateBook(ctx, form.CreateBook())
			return written(ctx, h, "Book", payload, h.bookIn(f), err)
		},
		update: func(ctx context.Context, f *format, id model.ID, form model.Form, version *int64) (*object, error) {
			payload, err := mutation.UpdateBook(ctx, model.UpdateBookInput{ID: id, Patch: form.ReplaceBook(), ExpectedVersion: version})
			return written(ctx, h, "Book", payload, h.bookIn(f), err)
		},
		remove: func(ctx context.Context, id model.ID, version *int64, _ model.OnChildren) error {
			_, err := mutation.DeleteBook(ctx, model.DeleteBookInput{ID: id, ExpectedVersion: version})
			return err
		},
	}
}

// bookIn returns a function that returns the object of a book in format f, with its genre and category.
func (h *handler) bookIn(f *format) func(context.Context, *model.Book) (*object, error) {
	return func(ctx context.Context, b *model.Book) (*object, error) {
		g, c, err := h.parents(ctx, b)
		if err != nil {
			return nil, err
		}
		return &object{
			id: b.ID, version: b.Version, tag: fmt.Sprintf(`"%d.%d.%d%s"`, b.Version, g.Version, c.Version, f.tagSuffix),
			text: appenderOf(f, nil)(nil, b, g, c),
		}, nil
	}
}

// appenderOf returns a function that appends a book in format f, with the genres in JSON from a cache.
func appenderOf(f *format, genres genreCache) bookfile.Appender {
	if f.appender != nil {
		return f.appender()
	}
	return func(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
		return appendBook(dst, f.books, b, g, c, genres)
	}
}

// bookAppender is like appenderOf, and reads the genre and the category of the book.
func (h *handler) bookAppender(f *format, genres genreCache) func(ctx context.Context, dst []byte, b *model.Book) ([]byte, error) {
	appendTo := appenderOf(f, genres)
	return func(ctx context.Context, dst []byte, b *model.Book) ([]byte, error) {
		g, c, err := h.parents(ctx, b)
		if err != nil {
			return dst, err
		}
		return appendTo(dst, b, g, c), nil
	}
}

func (h *handler) parents(ctx context.Context, b *model.Book) (*model.Genre, *model.Category, error) {
	g, err := h.catalogue.Book().Genre(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	c, err := h.catalogue.Genre().Category(ctx, g)
	return g, c, err
}
