package model

import "slices"

// fileFields are the fields of a book in a file, in the order of an export. A book's
// genre and category are there by their names.
var fileFields = append(slices.DeleteFunc(infos(BookFields), func(f FieldInfo) bool { return !f.Is(InFile) }),
	FieldInfo{Key: "genre", Label: "Genre", Max: maxText, Spellings: []string{"genres", "subject", "subjects", "topic"}},
	FieldInfo{Key: "category", Label: "Category", Max: maxText, Nullable: true, Spellings: []string{"categories"}},
)

// ImportFields are the keys of the fields of a book in a file, in the order of an export.
var ImportFields = keys(fileFields)

func keys(fields []FieldInfo) (keys []string) {
	for _, f := range fields {
		keys = append(keys, f.Key)
	}
	return keys
}

// ImportField returns the field of ImportFields with a key. A file may be without one
// that is nullable.
func ImportField(key string) *FieldInfo { return &fileFields[slices.Index(ImportFields, key)] }

// ImportBookInput is a book as a file holds it, with the names of its genre and
// category in place of a GenreID.
type ImportBookInput struct {
	CreateBookInput
	Genre    string // name
	Category string // name; empty where the file says nothing of it
}

// ImportBook makes the input for a book of an import.
func (f Form) ImportBook() ImportBookInput {
	in := ImportBookInput{CreateBookInput: f.CreateBook()}
	in.Genre = requiredField(f, &in.Problems, "genre", readText)
	if !f["category"].Missing() {
		in.Category = requiredField(f, &in.Problems, "category", readText)
	}
	return in
}

// Validate trims the texts and returns what is wrong with the fields.
func (in *ImportBookInput) Validate() FieldErrors {
	f := slices.DeleteFunc(in.CreateBookInput.Validate(), func(e FieldError) bool {
		return e.Field == "genre_id" // found by name instead
	})
	f.text("genre", &in.Genre)
	if in.Category != "" || f.Has("category") {
		f.text("category", &in.Category)
	}
	return f
}

// Text returns the value of one of ImportFields as a file has it.
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

// BookKey is the key by which an import finds a book. Of several books with the same
// key, an import means the first.
type BookKey struct{ Name, Author string }

// Key returns the key by which an import finds the book.
func (b *Book) Key() BookKey { return BookKey{b.Name, b.Author} }

// ImportResult counts the rows of an import by their results.
type ImportResult struct {
	Created, Updated, Unchanged int
	Rejected                    []RejectedRow // in order of rows
}

// RejectedRow is a row that was left out.
type RejectedRow struct {
	Index    int // among the rows that were given, from 0
	Problems FieldErrors
}

// LoadSampleInput asks for the sample.
type LoadSampleInput struct{ ClientMutationID *string }

// LoadSamplePayload says how many books the sample has.
type LoadSamplePayload struct {
	Count            int
	ClientMutationID *string
}
