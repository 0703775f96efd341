package model

import (
	"slices"
	"strings"

	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/collate"
)

// fileFields are the fields of a book in a file, in export order, with names of genre and category.
var fileFields = append(slices.DeleteFunc(infos(BookFields), func(f FieldInfo) bool { return !f.Is(InFile) }),
	FieldInfo{Key: "genre", Label: "Genre", Max: maxText, Spellings: strings.Fields(`
		genres subject topic topics topicalterm topicaltermorgeographicnameentryelement 655a 650a 606a
	`), Fallbacks: strings.Fields(`subjects tags manualtags schlagworter schlagworte moods`)},
	FieldInfo{Key: "category", Label: "Category", Max: maxText, Nullable: true, Spellings: strings.Fields(`
		categories category1
	`)},
)

// ImportFields are the keys of a book's fields in a file, in export order.
var ImportFields = keys(fileFields)

func keys(fields []FieldInfo) (keys []string) {
	for _, f := range fields {
		keys = append(keys, f.Key)
	}
	return keys
}

// ImportField returns the field of a key in ImportFields. A file may omit nullable fields.
func ImportField(key string) *FieldInfo { return &fileFields[slices.Index(ImportFields, key)] }

// ImportBookInput is a book of a file, with the names of its genre and category in place of
// GenreID.
type ImportBookInput struct {
	CreateBookInput
	Genre    string // name
	Category string // name; empty if absent
}

// ImportBook returns the input of an imported book.
func (f Form) ImportBook() ImportBookInput {
	in := ImportBookInput{CreateBookInput: f.CreateBook()}
	in.Genre = requiredField(f, &in.Problems, "genre", readText)
	if !f["category"].Missing() {
		in.Category = requiredField(f, &in.Problems, "category", readText)
	}
	return in
}

// Validate trims the texts and returns the errors of the fields.
func (in *ImportBookInput) Validate() FieldErrors {
	f := slices.DeleteFunc(in.CreateBookInput.Validate(), func(e FieldError) bool {
		return e.Field == "genre_id" // the name replaces it
	})
	f.text("genre", &in.Genre)
	if in.Category != "" || f.Has("category") {
		f.text("category", &in.Category)
	}
	return f
}

// Text returns the value of a key of ImportFields as a cell.
func (in *ImportBookInput) Text(field string) string {
	switch field {
	case "genre":
		return in.Genre
	case "category":
		return in.Category
	}
	i := slices.IndexFunc(BookFields, func(f RowField[Book]) bool { return f.Key == field })
	return BookFields[i].Text(in.Row())
}

// BookKey identifies a book that imports and upserts meet again: the identity of its name and author
// (collate.Identity, author.Identity). Several books may have the same key.
type BookKey struct{ Name, Author string }

// NewBookKey returns the key of a book with a name and an author.
func NewBookKey(name, by string) BookKey { return BookKey{collate.Identity(name), author.Identity(by)} }

// Key returns the key of the book.
func (b *Book) Key() BookKey { return NewBookKey(b.Name, b.Author) }

// ImportResult counts the rows of an import by result.
type ImportResult struct {
	Created, Updated, Unchanged int
	Rejected                    []RejectedRow // in row order
}

// RejectedRow is a rejected row of an import.
type RejectedRow struct {
	Index    int // of the input row, from 0
	Problems FieldErrors
}

// LoadSampleInput is the input of loadSample.
type LoadSampleInput struct{ ClientMutationID *string }

// LoadSamplePayload is the result of loadSample.
type LoadSamplePayload struct {
	Count            int
	ClientMutationID *string
}
