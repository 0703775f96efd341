package model

import "github.com/99designs/gqlgen/graphql"

// UpsertBookInput is a book as it shall be: that with the ID, or else with the
// same Key, or a new one. An absent Description keeps what there is.
type UpsertBookInput struct {
	ID               *ID
	Name             string
	Description      graphql.Omittable[*string]
	Pages            int
	PublishedAt      Date
	Author           string
	Price            Cents
	GenreID          ID
	ExpectedVersion  *int64
	ClientMutationID *string
}

// Create gives the input for the book where it is new.
func (in *UpsertBookInput) Create() *CreateBookInput {
	return &CreateBookInput{
		Name: in.Name, Description: in.Description.Value(), Pages: in.Pages, PublishedAt: in.PublishedAt,
		Author: in.Author, Price: in.Price, GenreID: in.GenreID,
	}
}

// Patch gives the new values, which are valid, for the book where it is there.
func (in *UpsertBookInput) Patch(valid *CreateBookInput) *BookPatch {
	return &BookPatch{
		Name: graphql.OmittableOf(&valid.Name), Description: kept(in.Description, valid.Description), Pages: graphql.OmittableOf(&valid.Pages),
		PublishedAt: graphql.OmittableOf(&valid.PublishedAt), Author: graphql.OmittableOf(&valid.Author), Price: graphql.OmittableOf(&valid.Price),
		GenreID: graphql.OmittableOf(&valid.GenreID),
	}
}

// UpsertGenreInput is as UpsertBookInput.
type UpsertGenreInput struct {
	ID               *ID
	Name             string
	Description      graphql.Omittable[*string]
	CategoryID       ID
	ExpectedVersion  *int64
	ClientMutationID *string
}

// Create gives the input for the genre where it is new.
func (in *UpsertGenreInput) Create() *CreateGenreInput {
	return &CreateGenreInput{Name: in.Name, Description: in.Description.Value(), CategoryID: in.CategoryID}
}

// Patch gives the new values, which are valid, for the genre where it is there.
func (in *UpsertGenreInput) Patch(valid *CreateGenreInput) *GenrePatch {
	return &GenrePatch{
		Name: graphql.OmittableOf(&valid.Name), Description: kept(in.Description, valid.Description), CategoryID: graphql.OmittableOf(&valid.CategoryID),
	}
}

// UpsertCategoryInput is as UpsertBookInput.
type UpsertCategoryInput struct {
	ID               *ID
	Name             string
	Description      graphql.Omittable[*string]
	ExpectedVersion  *int64
	ClientMutationID *string
}

// Create gives the input for the category where it is new.
func (in *UpsertCategoryInput) Create() *CreateCategoryInput {
	return &CreateCategoryInput{Name: in.Name, Description: in.Description.Value()}
}

// Patch gives the new values, which are valid, for the category where it is there.
func (in *UpsertCategoryInput) Patch(valid *CreateCategoryInput) *CategoryPatch {
	return &CategoryPatch{Name: graphql.OmittableOf(&valid.Name), Description: kept(in.Description, valid.Description)}
}

// kept is a value where one was given, and else none.
func kept(given graphql.Omittable[*string], valid *string) graphql.Omittable[*string] {
	if given.IsSet() {
		return graphql.OmittableOf(valid)
	}
	return given
}

// UpsertBookPayload is what an upsert of a book gives.
type UpsertBookPayload struct {
	Book             *Book
	Created          bool
	ClientMutationID *string
}

// UpsertGenrePayload is what an upsert of a genre gives.
type UpsertGenrePayload struct {
	Genre            *Genre
	Created          bool
	ClientMutationID *string
}

// UpsertCategoryPayload is what an upsert of a category gives.
type UpsertCategoryPayload struct {
	Category         *Category
	Created          bool
	ClientMutationID *string
}
