package sru

import (
	"context"
	"encoding/json"
	"errors"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/author"
)

// document is the GraphQL query of a search.
const document = `query SRU($first: Int, $offset: Int, $filter: BookFilter, $search: String, $orderBy: [BookOrder!]) {
  books(first: $first, offset: $offset, filter: $filter, search: $search, orderBy: $orderBy) {
    totalCount correction
    nodes {
      id name description pages publishedAt author isbn publisher language shelfMark
      subtitle series seriesNumber price createdAt updatedAt
      genre { name category { name } }
    }
  }
}`

// response is the response to document.
type response struct {
	Books struct {
		TotalCount int
		Correction *string
		Nodes      []book
	}
}

// book is a book with its genre and category.
type book struct {
	model.Book
	Genre    model.Genre
	Category model.Category
}

// Authors returns the persons and institutions in the author.
func (b *book) Authors() []author.Person { return author.Parse(b.Author) }

// UnmarshalJSON reads a book as GraphQL writes it.
func (b *book) UnmarshalJSON(data []byte) error {
	var in struct {
		ID, Name, PublishedAt, Author, Price, CreatedAt, UpdatedAt string
		Description, ISBN, Publisher, Language, ShelfMark          *string
		Subtitle, Series, SeriesNumber                             *string
		Pages                                                      int
		Genre                                                      struct {
			Name     string
			Category struct{ Name string }
		}
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	b.Book = model.Book{
		Name: in.Name, Author: in.Author, Pages: in.Pages,
		Description: in.Description, ISBN: in.ISBN, Publisher: in.Publisher, Language: in.Language,
		ShelfMark: in.ShelfMark, Subtitle: in.Subtitle, Series: in.Series, SeriesNumber: in.SeriesNumber,
	}
	b.Genre.Name, b.Category.Name = in.Genre.Name, in.Genre.Category.Name
	return errors.Join(
		b.ID.UnmarshalGQL(in.ID), b.PublishedAt.UnmarshalGQL(in.PublishedAt), b.Price.UnmarshalGQL(in.Price),
		b.CreatedAt.UnmarshalGQL(in.CreatedAt), b.UpdatedAt.UnmarshalGQL(in.UpdatedAt),
	)
}

// find runs document.
func (h Handler) find(ctx context.Context, variables map[string]any) (found response, _ error) {
	encoded, err := json.Marshal(variables)
	if err != nil {
		return found, err
	}
	data, err := h.Query(ctx, document, encoded)
	if err != nil {
		return found, err
	}
	return found, json.Unmarshal(data, &found)
}
