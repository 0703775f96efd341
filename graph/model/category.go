package model

import (
	"github.com/99designs/gqlgen/graphql"
)

// Category is a group of genres.
type Category struct {
	Ordered
	ID          ID
	Version     int64 // counts changes, from 1
	Name        string
	Description *string
	CreatedAt   Timestamp
	UpdatedAt   Timestamp
}

var categoryDefinitions = define[Category, CreateCategoryInput, CategoryPatch](
	stored(FieldInfo{Name: "id", Use: neverInFile}, idCodec, func(c *Category) *ID { return &c.ID }),
	stored(FieldInfo{Name: "version", Use: OnDemand}, versionCodec, func(c *Category) *int64 { return &c.Version }),
	required(FieldInfo{Name: "name", Max: maxText, Use: neverInFile}, textCodec, func(c *Category) *string {
		return &c.Name
	}),
	optional(FieldInfo{Name: "description", Max: maxDescription, Use: Filterable | InREST | OnDemand}, textCodec,
		func(c *Category) **string { return &c.Description }),
	stored(FieldInfo{Name: "createdAt", Use: neverInFile | OnDemand}, timestampCodec, func(c *Category) *Timestamp {
		return &c.CreatedAt
	}),
	stored(FieldInfo{Name: "updatedAt", Use: neverInFile | OnDemand}, timestampCodec, func(c *Category) *Timestamp {
		return &c.UpdatedAt
	}),
)

// CategoryFields are the fields of a category.
var CategoryFields = categoryDefinitions.fields()

// RowID returns the category's number.
func (c *Category) RowID() ID { return c.ID }

// NodeID returns the category's global id.
func (c *Category) NodeID() string { return NodeID("Category", c.ID) }

// CreateCategoryInput is a new category. For Problems see CreateBookInput.
type CreateCategoryInput struct {
	Name             string
	Description      graphql.Omittable[*string]
	ClientMutationID *string
	Problems         FieldErrors
}

// CreateCategory returns the input of a new category.
func (f Form) CreateCategory() (in CreateCategoryInput) {
	in.Problems = categoryDefinitions.readInput(f, &in)
	return in
}

// Validate trims the texts and returns the errors of the fields.
func (in *CreateCategoryInput) Validate() FieldErrors {
	return categoryDefinitions.checkInput(in, in.Problems)
}

// Row returns the category to store.
func (in *CreateCategoryInput) Row() *Category { return categoryDefinitions.fill(new(Category), in) }

// CategoryPatch holds new values of a category. Fields that are not set keep their values. For
// Problems see CreateBookInput.
type CategoryPatch struct {
	Name        graphql.Omittable[*string]
	Description graphql.Omittable[*string]
	Problems    FieldErrors
}

// ReplaceCategory is the same for a category.
func (f Form) ReplaceCategory() *CategoryPatch {
	p := new(CategoryPatch)
	p.Problems = categoryDefinitions.readPatch(f, p)
	return p
}

// Validate trims the texts and returns the errors of the set fields.
func (p *CategoryPatch) Validate() FieldErrors { return categoryDefinitions.checkPatch(p, p.Problems) }

// Changes returns the columns of the patch's new values.
func (p *CategoryPatch) Changes() Changes { return categoryDefinitions.changes(p) }

// UpsertCategoryInput is the new state of the category with the ID, or without ID of the one with the
// same name. If there is none, it is created.
type UpsertCategoryInput struct {
	ID *ID
	CreateCategoryInput
	ExpectedVersion *int64
}

// Patch returns the new values, which are valid, for the category where it is there.
func (in *UpsertCategoryInput) Patch() *CategoryPatch {
	return categoryDefinitions.patch(&in.CreateCategoryInput)
}

// The inputs and results of writes of a category.
type (
	UpdateCategoryInput = UpdateInput[CategoryPatch]
	DeleteCategoryInput = DeleteInput

	CreateCategoryPayload = Payload[Category]
	UpdateCategoryPayload = Payload[Category]
	UpsertCategoryPayload = Payload[Category]
	DeleteCategoryPayload = DeletePayload
)
