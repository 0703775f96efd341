package rest

import (
	"context"
	"fmt"

	"library-catalogue/graph/model"
)

// bookShape is a book as /api writes it.
type bookShape struct {
	ID          model.ID        `json:"id"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	Pages       int             `json:"pages"`
	PublishedAt model.Date      `json:"published_at"`
	Author      string          `json:"author"`
	Price       model.Cents     `json:"price"`
	GenreID     model.ID        `json:"genre_id"`
	CreatedAt   model.Timestamp `json:"created_at"`
	UpdatedAt   model.Timestamp `json:"updated_at"`
	Genre       bookGenreShape  `json:"genre"`
}

// bookGenreShape is the genre in a book.
type bookGenreShape struct {
	ID          model.ID        `json:"id"`
	Name        string          `json:"name"`
	Description *string         `json:"description"`
	CategoryID  model.ID        `json:"category_id"`
	CreatedAt   model.Timestamp `json:"created_at"`
	UpdatedAt   model.Timestamp `json:"updated_at"`
	Category    categoryShape   `json:"category"`
}

func (h *handler) books() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		name: "books", noun: "Book", plural: "Books",
		list: func(ctx context.Context, a model.PageArgs) (list, error) {
			books, err := query.Books(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter)
			return listOf(books, h.book, err)
		},
		one: func(ctx context.Context, id string) (*object, error) {
			book, err := query.Book(ctx, id)
			return maybe(ctx, book, h.book, err)
		},
		create: func(ctx context.Context, form model.Form) (*object, error) {
			payload, err := mutation.CreateBook(ctx, form.CreateBook())
			if err != nil {
				return nil, err
			}
			return h.book(ctx, payload.Book)
		},
		update: func(ctx context.Context, id model.ID, form model.Form, version *int64) (*object, error) {
			payload, err := mutation.UpdateBook(ctx, model.UpdateBookInput{ID: id, Patch: form.ReplaceBook(), ExpectedVersion: version})
			if err != nil {
				return nil, err
			}
			return h.book(ctx, payload.Book)
		},
		remove: func(ctx context.Context, id model.ID, version *int64, _ model.OnChildren) error {
			_, err := mutation.DeleteBook(ctx, model.DeleteBookInput{ID: id, ExpectedVersion: version})
			return err
		},
	}
}

// book gives a book with its genre and category.
func (h *handler) book(ctx context.Context, b *model.Book) (*object, error) {
	g, err := h.catalogue.Book().Genre(ctx, b)
	if err != nil {
		return nil, err
	}
	c, err := h.catalogue.Genre().Category(ctx, g)
	if err != nil {
		return nil, err
	}
	return &object{
		id: b.ID, version: b.Version, tag: fmt.Sprintf(`"%d.%d.%d"`, b.Version, g.Version, c.Version),
		shape: bookShape{
			ID: b.ID, Name: b.Name, Description: b.Description, Pages: b.Pages, PublishedAt: b.PublishedAt,
			Author: b.Author, Price: b.Price, GenreID: b.GenreID, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
			Genre: bookGenreShape{
				ID: g.ID, Name: g.Name, Description: g.Description, CategoryID: g.CategoryID,
				CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, Category: shapeOf(c),
			},
		},
	}, nil
}
