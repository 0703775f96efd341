package rest

import (
	"context"

	"library-catalogue/graph/model"
)

func (h *handler) books() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		listing: bookListing, name: "books", plural: "Books", itemFormats: itemFormats,
		operations: &rows[model.Book, *model.Book, model.CreateBookInput, model.BookPatch]{
			handler: h, typename: bookListing.typename, pageOf: query.Books, stream: h.catalogue.StreamBooks,
			row:       query.Book,
			createRow: mutation.CreateBook, updateRow: mutation.UpdateBook, deleteRow: mutation.DeleteBook,
			input: model.Form.CreateBook, patch: model.Form.ReplaceBook,
			parents: func(ctx context.Context, b *model.Book) (*model.Genre, *model.Category, error) {
				g, err := h.catalogue.Book().Genre(ctx, b)
				if err != nil {
					return nil, nil, err
				}
				c, err := h.catalogue.Genre().Category(ctx, g)
				return g, c, err
			},
			version:  func(b *model.Book) int64 { return b.Version },
			appender: bookAppender,
		},
	}
}

// bookAppender returns a function that appends a book in format f, with the genres in JSON from a cache.
func bookAppender(f *format, genres genreCache) appender[*model.Book] {
	if f.appender != nil {
		return f.appender()
	}
	return func(dst []byte, b *model.Book, g *model.Genre, c *model.Category) []byte {
		dst = append(f.books.Append(dst, b), `,"genre":`...)
		return append(genres.append(dst, g, c), '}')
	}
}
