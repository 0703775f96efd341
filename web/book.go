package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"library-catalogue/graph/model"
)

// book is a book of a page, with what the query of that page asks for.
type book struct {
	ID, Name, Author, PublishedAt, Price, GenreID string
	Version, Pages                                int
	Description                                   *string
	CreatedAt, UpdatedAt                          string
	Genre                                         struct {
		ID, Name string
		Category named
		Books    struct {
			TotalCount int
			Nodes      []*book
		}
	}
	Search string `json:"-"` // what was looked for
}

// Year returns the year of publication.
func (b *book) Year() string { return strings.TrimLeft(b.PublishedAt[:4], "0") }

// NameHits and AuthorHits return the text with what was looked for marked.
func (b *book) NameHits() []textPart   { return hits(b.Name, b.Search) }
func (b *book) AuthorHits() []textPart { return hits(b.Author, b.Search) }

// Authors returns the authors one by one.
func (b *book) Authors() []string {
	authors := strings.Split(b.Author, ",")
	for i, name := range authors {
		authors[i] = strings.TrimSpace(name)
	}
	return slices.DeleteFunc(authors, func(name string) bool { return name == "" })
}

// Neighbours returns other books of its genre.
func (b *book) Neighbours() []*book {
	others := slices.DeleteFunc(slices.Clone(b.Genre.Books.Nodes), func(other *book) bool { return other.ID == b.ID })
	return others[:min(len(others), 6)]
}

// wholeBook is a book with the values of all its fields, by their names in GraphQL.
type wholeBook struct {
	book
	values map[string]any
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *wholeBook) UnmarshalJSON(text []byte) error {
	return errors.Join(json.Unmarshal(text, &b.book), json.Unmarshal(text, &b.values))
}

// bookAnswer is the answer to a query for a book, for the genres, or for both.
type bookAnswer struct {
	Book   *wholeBook
	Genres struct {
		Nodes []struct {
			named
			Category named
		}
	}
}

// one answers a query for the book that a request's path names.
func (p *Pages) one(r *http.Request, query string) (answer bookAnswer, playground string, err error) {
	id := r.PathValue("id")
	if model.ParseID(id) > 0 {
		playground, err = p.execute(r, query, variables{"id": id}, &answer)
	}
	if err == nil && answer.Book == nil {
		err = model.Errorf(model.NotFound, "There is no book %s. It may have been deleted, or the address has a slip in it.", leading(id, 20))
	}
	return answer, playground, err
}

// book draws the page of a book.
func (p *Pages) book(r *http.Request) (*page, error) {
	answer, playground, err := p.one(r, "book")
	if err != nil {
		return nil, err
	}
	return &page{name: "book.html", Title: answer.Book.Name, Section: "books", Query: playground, Main: answer.Book}, nil
}

// formView is what the form of a book is drawn with.
type formView struct {
	New    bool
	Book   *wholeBook
	Groups []genreGroup
}

// genreGroup are the genres of a category, to choose from.
type genreGroup struct {
	Category string
	Genres   []named
}

// groups returns the genres, which are in order of their categories, by these.
func (a *bookAnswer) groups() []genreGroup {
	var groups []genreGroup
	for _, g := range a.Genres.Nodes {
		if n := len(groups); n == 0 || groups[n-1].Category != g.Category.Name {
			groups = append(groups, genreGroup{Category: g.Category.Name})
		}
		last := &groups[len(groups)-1]
		last.Genres = append(last.Genres, g.named)
	}
	return groups
}

// editBook draws the form that changes a book.
func (p *Pages) editBook(r *http.Request) (*page, error) {
	answer, playground, err := p.one(r, "edit")
	if err != nil {
		return nil, err
	}
	view := &formView{Book: answer.Book, Groups: answer.groups()}
	return &page{name: "form.html", Title: "Edit " + answer.Book.Name, Section: "books", Query: playground, Main: view}, nil
}

// newBook draws the form that makes a book.
func (p *Pages) newBook(r *http.Request) (*page, error) {
	var answer bookAnswer
	playground, err := p.execute(r, "new", nil, &answer)
	if err != nil {
		return nil, err
	}
	view := &formView{New: true, Book: &wholeBook{}, Groups: answer.groups()}
	return &page{name: "form.html", Title: "Add a book", Section: "books", Query: playground, Main: view}, nil
}
