package model

import "github.com/99designs/gqlgen/graphql"

// Genre says what kind of books its books are.
type Genre struct {
	Ordered
	ID          ID        `db:"id"`
	Version     int64     `db:"version"` // counts changes, from 1
	Name        string    `db:"name"`
	Description *string   `db:"description"`
	CategoryID  ID        `db:"category_id"`
	CreatedAt   Timestamp `db:"created_at"`
	UpdatedAt   Timestamp `db:"updated_at"`
	Memo        *Memo     `db:"-"`
}

// IsNode marks Genre as a Node.
func (*Genre) IsNode() {}

// RowID gives the genre's number.
func (g *Genre) RowID() ID { return g.ID }

// NodeID gives the genre's global id.
func (g *Genre) NodeID() string { return NodeID("Genre", g.ID) }

// Pages of genres.
type (
	GenreConnection = Connection[*Genre]
	GenreEdge       = Edge[*Genre]
)

// CreateGenreInput is a new genre, whose category is given by CategoryID or by
// Category. Problems is as in CreateBookInput.
type CreateGenreInput struct {
	Name             string
	Description      *string
	CategoryID       ID // 0 where it is not given
	Category         *CreateGenreCategoryInput
	ClientMutationID *string
	Problems         FieldErrors
}

// Validate trims the texts and says what is wrong with the fields.
func (in *CreateGenreInput) Validate() FieldErrors {
	f := in.Problems
	f.text("name", &in.Name)
	f.description(&in.Description)
	parent(&f, "category", in.CategoryID, in.Category)
	return f
}

// ExistingCategory gives the id of the category where that is to be there
// already, and the field that says so; "" where there is no such field.
func (in *CreateGenreInput) ExistingCategory() (field string, id ID) {
	return existing("category", in.CategoryID, in.Category)
}

// GenrePatch holds new values for a genre; what is not set keeps its value.
// Problems is as in CreateBookInput.
type GenrePatch struct {
	Name        graphql.Omittable[*string]
	Description graphql.Omittable[*string]
	CategoryID  graphql.Omittable[*ID]
	Problems    FieldErrors
}

// Validate trims the texts and says what is wrong with the fields that are set.
func (p *GenrePatch) Validate() FieldErrors {
	f := p.Problems
	patched(&f, "name", p.Name, func(s *string) { f.text("name", s) })
	patchedDescription(&f, &p.Description)
	patched(&f, "category_id", p.CategoryID, func(id *ID) { f.reference("category_id", *id) })
	return f
}

// UpdateGenreInput says which genre to change, and how.
type UpdateGenreInput struct {
	ID               ID
	Patch            *GenrePatch
	ExpectedVersion  *int64
	ClientMutationID *string
}

// DeleteGenreInput says which genre to delete, and what becomes of its books.
type DeleteGenreInput struct {
	ID               ID
	ExpectedVersion  *int64
	OnChildren       OnChildren
	ReassignTo       *ID
	ClientMutationID *string
}

// CreateGenrePayload is what creating a genre gives.
type CreateGenrePayload struct {
	Genre            *Genre
	ClientMutationID *string
}

// UpdateGenrePayload is what changing a genre gives.
type UpdateGenrePayload struct {
	Genre            *Genre
	ClientMutationID *string
}

// DeleteGenrePayload is what deleting a genre gives.
type DeleteGenrePayload struct {
	DeletedGenreID   ID
	ClientMutationID *string
}
