package rest

import (
	"context"
	"net/http"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/cost"
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

// maxCopies is the maximum number of books with the ISBN in a response.
const maxCopies = 100

// getLookup looks up an ISBN in other libraries.
func (h *handler) getLookup(w http.ResponseWriter, r *http.Request, books *resource, _ string) error {
	w.Header().Set("Cache-Control", "no-store")
	if err := h.catalogue.Authorise(r.Context(), "books", "create"); err != nil {
		return err
	}
	isbn := parseQuery(r.URL.RawQuery).Get("isbn")
	var data []byte
	return h.options.Pipeline.Run(w, r, nil, pipeline.Ready(&pipeline.Operation{
		Price:  cost.Estimate{Total: cost.Lookup},
		Before: func(ctx context.Context) (context.Context, error) { return h.catalogue.WithLookup(ctx, isbn) },
		Read: func(ctx context.Context) (cacheable bool, err error) {
			found, err := h.catalogue.Query().Lookup(ctx, isbn)
			if err != nil {
				return false, err
			}
			has := model.Filter{"isbn": map[string]any{"eq": found.ISBN}}
			copies := model.PageArgs{First: new(maxCopies), Filter: has}
			data = envelope.Encode(found)
			data = append(data[:len(data)-1], `,"existing":[`...)
			data, _, _, err = books.appendPage(ctx, data, jsonOf(r), copies, false)
			return false, err
		},
		Answer: func(w http.ResponseWriter) {
			envelope.WriteJSON(w, http.StatusOK, envelope.Success("Lookup completed", append(data, "]}"...)))
		},
	}))
}
