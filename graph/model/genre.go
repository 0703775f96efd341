package model

import (
	"github.com/99designs/gqlgen/graphql"
)

// Genre is a kind of books.
type Genre struct {
	Ordered
	ID          ID
	Version     int64 // counts changes, from 1
	Name        string
	Description *string
	CategoryID  ID
	CreatedAt   Timestamp
	UpdatedAt   Timestamp
}

var genreDefinitions = define[Genre, CreateGenreInput, GenrePatch](
	stored(FieldInfo{Name: "id", Use: neverInFile}, idCodec, func(g *Genre) *ID { return &g.ID }),
	stored(FieldInfo{Name: "version", Use: OnDemand}, versionCodec, func(g *Genre) *int64 { return &g.Version }),
	required(FieldInfo{Name: "name", Max: maxText, Use: neverInFile}, textCodec, func(g *Genre) *string {
		return &g.Name
	}),
	optional(FieldInfo{Name: "description", Max: maxDescription, Use: Filterable | InREST | OnDemand}, textCodec,
		func(g *Genre) **string { return &g.Description }),
	required(FieldInfo{Name: "categoryId", Use: Filterable | InREST | KeptByPUT}, idCodec, func(g *Genre) *ID {
		return &g.CategoryID
	}),
	stored(FieldInfo{Name: "createdAt", Use: neverInFile | OnDemand}, timestampCodec, func(g *Genre) *Timestamp {
		return &g.CreatedAt
	}),
	stored(FieldInfo{Name: "updatedAt", Use: neverInFile | OnDemand}, timestampCodec, func(g *Genre) *Timestamp {
		return &g.UpdatedAt
	}),
)

// GenreFields are the fields of a genre.
var GenreFields = genreDefinitions.fields()

// RowID returns the genre's number.
func (g *Genre) RowID() ID { return g.ID }

// NodeID returns the genre's global id.
func (g *Genre) NodeID() string { return NodeID("Genre", g.ID) }

// CreateGenreInput is a new genre. CategoryID or Category gives its category. For Problems see
// CreateBookInput.
type CreateGenreInput struct {
	Name             string
	Description      graphql.Omittable[*string]
	CategoryID       ID // 0 if absent
	Category         *CreateGenreCategoryInput
	ClientMutationID *string
	Problems         FieldErrors
}

// CreateGenre returns the input of a new genre.
func (f Form) CreateGenre() (in CreateGenreInput) {
	in.Problems = genreDefinitions.readInput(f, &in)
	return in
}

// Validate trims the texts and returns the errors of the fields.
func (in *CreateGenreInput) Validate() FieldErrors {
	f := genreDefinitions.checkInput(in, in.Problems)
	parent(&f, "category", in.CategoryID, in.Category)
	return f
}

// ExistingCategory returns the id of the existing category and the field that names it, or "" for a
// new category.
func (in *CreateGenreInput) ExistingCategory() (field string, id ID) {
	return existing("category", in.CategoryID, in.Category)
}

// Row returns the genre to store. CategoryID is 0 for a new category.
func (in *CreateGenreInput) Row() *Genre {
	genre := genreDefinitions.fill(new(Genre), in)
	_, genre.CategoryID = in.ExistingCategory()
	return genre
}

// GenrePatch holds new values of a genre. Fields that are not set keep their values. For Problems
// see CreateBookInput.
type GenrePatch struct {
	Name        graphql.Omittable[*string]
	Description graphql.Omittable[*string]
	CategoryID  graphql.Omittable[*ID]
	Problems    FieldErrors
}

// ReplaceGenre is the same for a genre.
func (f Form) ReplaceGenre() *GenrePatch {
	p := new(GenrePatch)
	p.Problems = genreDefinitions.readPatch(f, p)
	return p
}

// Validate trims the texts and returns the errors of the set fields.
func (p *GenrePatch) Validate() FieldErrors { return genreDefinitions.checkPatch(p, p.Problems) }

// Changes returns the columns of the patch's new values.
func (p *GenrePatch) Changes() Changes { return genreDefinitions.changes(p) }

// UpsertGenreInput is the genre with the ID, or else the genre with the same name and category, or
// a new genre.
type UpsertGenreInput struct {
	ID *ID
	CreateGenreInput
	ExpectedVersion *int64
}

// Patch returns the valid new values for an existing genre.
func (in *UpsertGenreInput) Patch() *GenrePatch { return genreDefinitions.patch(&in.CreateGenreInput) }

// The inputs and results of writes of a genre.
type (
	CreateGenreCategoryInput = ParentInput[CreateCategoryInput]
	UpdateGenreInput         = UpdateInput[GenrePatch]
	DeleteGenreInput         = DeleteInput

	CreateGenrePayload = Payload[Genre]
	UpdateGenrePayload = Payload[Genre]
	UpsertGenrePayload = Payload[Genre]
	DeleteGenrePayload = DeletePayload
)
