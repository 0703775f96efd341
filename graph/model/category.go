package model

import "github.com/99designs/gqlgen/graphql"

// Category is a group of genres.
type Category struct {
	Ordered
	ID          ID        `db:"id"`
	Version     int64     `db:"version"` // counts changes, from 1
	Name        string    `db:"name"`
	Description *string   `db:"description"`
	CreatedAt   Timestamp `db:"created_at"`
	UpdatedAt   Timestamp `db:"updated_at"`
	Memo        *Memo     `db:"-"`
}

// IsNode marks Category as a Node.
func (*Category) IsNode() {}

// RowID gives the category's number.
func (c *Category) RowID() ID { return c.ID }

// NodeID gives the category's global id.
func (c *Category) NodeID() string { return NodeID("Category", c.ID) }

// Pages of categories.
type (
	CategoryConnection = Connection[*Category]
	CategoryEdge       = Edge[*Category]
)

// CreateCategoryInput is a new category. Problems is as in CreateBookInput.
type CreateCategoryInput struct {
	Name             string
	Description      *string
	ClientMutationID *string
	Problems         FieldErrors
}

// Validate trims the texts and says what is wrong with the fields.
func (in *CreateCategoryInput) Validate() FieldErrors {
	f := in.Problems
	f.text("name", &in.Name)
	f.description(&in.Description)
	return f
}

// CategoryPatch holds new values for a category; what is not set keeps its
// value. Problems is as in CreateBookInput.
type CategoryPatch struct {
	Name        graphql.Omittable[*string]
	Description graphql.Omittable[*string]
	Problems    FieldErrors
}

// Validate trims the texts and says what is wrong with the fields that are set.
func (p *CategoryPatch) Validate() FieldErrors {
	f := p.Problems
	patched(&f, "name", p.Name, func(s *string) { f.text("name", s) })
	patchedDescription(&f, &p.Description)
	return f
}

// UpdateCategoryInput says which category to change, and how.
type UpdateCategoryInput struct {
	ID               ID
	Patch            *CategoryPatch
	ExpectedVersion  *int64
	ClientMutationID *string
}

// DeleteCategoryInput says which category to delete, and what becomes of its
// genres and their books.
type DeleteCategoryInput struct {
	ID               ID
	ExpectedVersion  *int64
	OnChildren       OnChildren
	ReassignTo       *ID
	ClientMutationID *string
}

// CreateCategoryPayload is what creating a category gives.
type CreateCategoryPayload struct {
	Category         *Category
	ClientMutationID *string
}

// UpdateCategoryPayload is what changing a category gives.
type UpdateCategoryPayload struct {
	Category         *Category
	ClientMutationID *string
}

// DeleteCategoryPayload is what deleting a category gives.
type DeleteCategoryPayload struct {
	DeletedCategoryID ID
	ClientMutationID  *string
}
