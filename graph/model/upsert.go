package model

// UpsertBookInput is a book as it shall be: that with the ID, or else with the
// same Key, or a new one. An optional field that is absent keeps what there is.
type UpsertBookInput struct {
	ID *ID
	CreateBookInput
	ExpectedVersion *int64
}

// Patch returns the new values, which are valid, for the book where it is there.
func (in *UpsertBookInput) Patch() *BookPatch { return bookDefinitions.patch(&in.CreateBookInput) }

// UpsertGenreInput is a genre as it shall be: that with the ID, or else with the
// same name and category, or a new one.
type UpsertGenreInput struct {
	ID *ID
	CreateGenreInput
	ExpectedVersion *int64
}

// Patch returns the new values, which are valid, for the genre where it is there.
func (in *UpsertGenreInput) Patch() *GenrePatch { return genreDefinitions.patch(&in.CreateGenreInput) }

// UpsertCategoryInput is a category as it shall be: that with the ID, or else with the
// same name, or a new one.
type UpsertCategoryInput struct {
	ID *ID
	CreateCategoryInput
	ExpectedVersion *int64
}

// Patch returns the new values, which are valid, for the category where it is there.
func (in *UpsertCategoryInput) Patch() *CategoryPatch {
	return categoryDefinitions.patch(&in.CreateCategoryInput)
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
