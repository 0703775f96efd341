package model

import "github.com/99designs/gqlgen/graphql"

// Book is a book on the shelf.
type Book struct {
	Ordered
	ID          ID        `db:"id"`
	Version     int64     `db:"version"` // counts changes, from 1
	Name        string    `db:"name"`
	Description *string   `db:"description"`
	Pages       int       `db:"pages"`
	PublishedAt Date      `db:"published_at"`
	Author      string    `db:"author"`
	Price       Cents     `db:"price_cents"`
	GenreID     ID        `db:"genre_id"`
	CreatedAt   Timestamp `db:"created_at"`
	UpdatedAt   Timestamp `db:"updated_at"`
}

// IsNode marks Book as a Node.
func (*Book) IsNode() {}

// RowID gives the book's number.
func (b *Book) RowID() ID { return b.ID }

// NodeID gives the book's global id.
func (b *Book) NodeID() string { return NodeID("Book", b.ID) }

// Pages of books.
type (
	BookConnection = Connection[*Book]
	BookEdge       = Edge[*Book]
)

// CreateBookInput is a new book, whose genre is given by GenreID or by Genre.
// Problems holds what was wrong with it already when it was read; Validate gives
// it back with what it finds itself.
type CreateBookInput struct {
	Name             string
	Description      *string
	Pages            int
	PublishedAt      Date
	Author           string
	Price            Cents
	GenreID          ID // 0 where it is not given
	Genre            *CreateBookGenreInput
	ClientMutationID *string
	Problems         FieldErrors
}

// Validate trims the texts and says what is wrong with the fields.
func (in *CreateBookInput) Validate() FieldErrors {
	f := in.Problems
	f.text("name", &in.Name)
	f.description(&in.Description)
	f.pages(in.Pages)
	f.date("published_at", in.PublishedAt)
	f.text("author", &in.Author)
	f.price(in.Price)
	parent(&f, "genre", in.GenreID, in.Genre)
	return f
}

// ExistingGenre gives the id of the genre where that is to be there already,
// and the field that says so; "" where there is no such field.
func (in *CreateBookInput) ExistingGenre() (field string, id ID) {
	return existing("genre", in.GenreID, in.Genre)
}

// Book gives the book as it is to be stored, of the genre that is to be there
// already: 0 where that is new too.
func (in *CreateBookInput) Book() *Book {
	_, genre := in.ExistingGenre()
	return &Book{
		Name: in.Name, Description: in.Description, Pages: in.Pages, PublishedAt: in.PublishedAt,
		Author: in.Author, Price: in.Price, GenreID: genre,
	}
}

// BookPatch holds new values for a book; what is not set keeps its value.
// Problems is as in CreateBookInput.
type BookPatch struct {
	Name        graphql.Omittable[*string]
	Description graphql.Omittable[*string]
	Pages       graphql.Omittable[*int]
	PublishedAt graphql.Omittable[*Date]
	Author      graphql.Omittable[*string]
	Price       graphql.Omittable[*Cents]
	GenreID     graphql.Omittable[*ID]
	Problems    FieldErrors
}

// Validate trims the texts and says what is wrong with the fields that are set.
func (p *BookPatch) Validate() FieldErrors {
	f := p.Problems
	patched(&f, "name", p.Name, func(s *string) { f.text("name", s) })
	patchedDescription(&f, &p.Description)
	patched(&f, "pages", p.Pages, func(n *int) { f.pages(*n) })
	patched(&f, "published_at", p.PublishedAt, func(d *Date) { f.date("published_at", *d) })
	patched(&f, "author", p.Author, func(s *string) { f.text("author", s) })
	patched(&f, "price", p.Price, func(c *Cents) { f.price(*c) })
	patched(&f, "genre_id", p.GenreID, func(id *ID) { f.reference("genre_id", *id) })
	return f
}

// UpdateBookInput says which book to change, and how.
type UpdateBookInput struct {
	ID               ID
	Patch            *BookPatch
	ExpectedVersion  *int64
	ClientMutationID *string
}

// DeleteBookInput says which book to delete.
type DeleteBookInput struct {
	ID               ID
	ExpectedVersion  *int64
	ClientMutationID *string
}

// CreateBookPayload is what creating a book gives.
type CreateBookPayload struct {
	Book             *Book
	ClientMutationID *string
}

// UpdateBookPayload is what changing a book gives.
type UpdateBookPayload struct {
	Book             *Book
	ClientMutationID *string
}

// DeleteBookPayload is what deleting a book gives.
type DeleteBookPayload struct {
	DeletedBookID    ID
	ClientMutationID *string
}
