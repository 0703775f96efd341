// Package book draws the pages of one book: its page, its history, and the forms that store books.
package book

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/web/view"
)

// Pages draws the pages of a book.
type Pages struct {
	view.Source
	PublicURL string   // origin of absolute addresses; empty: none
	Encodings []string // that an import may have
	ReadValue ReadValue
	Lookup    bool // other libraries are asked for the book of an ISBN
}

// ReadValue reads a value of a kind in any usual notation. The problem says what to write instead.
type ReadValue func(kind model.Kind, text string) (plain string, problem model.Message)

// book is a book as a page's query selects it.
type book struct {
	ID, Name, Author, PublishedAt, Price, GenreID string
	Version, Pages                                int
	Description                                   *string
	CreatedAt, UpdatedAt                          string
	Genre                                         struct {
		ID, Name string
		Category view.Named
		Books    struct {
			TotalCount int
			Nodes      []*book
		}
	}
}

// Cloth returns the CSS classes of the binding's colour.
func (b *book) Cloth() string { return view.Cloth(b.GenreID, b.ID) }

// Neighbours returns up to six other books of its genre.
func (b *book) Neighbours() []*book {
	others := slices.DeleteFunc(slices.Clone(b.Genre.Books.Nodes), func(other *book) bool { return other.ID == b.ID })
	return others[:min(len(others), 6)]
}

// wholeBook is a book with the values of all fields by their GraphQL names.
type wholeBook struct {
	book
	PublicURL string `json:"-"` // origin of its canonical address; empty: none
	values    map[string]any
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *wholeBook) UnmarshalJSON(text []byte) error {
	return errors.Join(json.Unmarshal(text, &b.book), json.Unmarshal(text, &b.values))
}

// bookResponse is the response to a query for a book, for the genres, or for both.
type bookResponse struct {
	view.Live
	Book   *wholeBook
	Genres struct {
		Nodes []struct {
			view.Named
			Category view.Named
		}
	}
}

// one runs a query for the book with the id in the path. The error is NotFound if there is none.
func (p Pages) one(r *http.Request, query string) (response bookResponse, playground string, err error) {
	id := r.PathValue("id")
	if model.ParseID(id) > 0 {
		playground, err = p.Execute(r, query, view.Variables{"id": id}, &response)
	}
	if err == nil && response.Book == nil {
		err = missingBook(id)
	}
	return response, playground, err
}

// ISBN redirects to the book with the ISBN in the path, to the list of its copies, or to the form for a new book.
func (p Pages) ISBN(r *http.Request) (*view.Page, error) {
	digits, ok := isbn.Parse(r.PathValue("isbn"))
	if !ok {
		return nil, model.Errorf(model.NotFound,
			"%s is not an ISBN. An ISBN has 10 or 13 digits, and the last one checks the others.", r.PathValue("isbn"))
	}
	var response struct{ BooksByIsbn []struct{ ID string } }
	if _, err := p.Execute(r, "isbn", view.Variables{"isbn": digits}, &response); err != nil {
		return nil, err
	}
	switch books := response.BooksByIsbn; len(books) {
	case 0:
		return nil, view.RedirectError("/books/new?isbn=" + digits)
	case 1:
		return nil, view.RedirectError("/books/" + books[0].ID)
	}
	return nil, view.RedirectError("/?q=" + digits)
}

// Book returns the page of a book.
func (p Pages) Book(r *http.Request) (*view.Page, error) {
	response, playground, err := p.one(r, "book")
	if model.IsCode(err, model.NotFound) {
		return p.deletedBook(r)
	}
	if err != nil {
		return nil, err
	}
	response.Book.PublicURL = p.PublicURL
	return &view.Page{
		Name: "book.html", Title: response.Book.Name, Section: "books", Query: playground, Script: "dialogs.js",
		State: response.State, Covers: true, Path: "/books/" + response.Book.ID, Main: response.Book,
	}, nil
}
