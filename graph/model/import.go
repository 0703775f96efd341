package model

import (
	"slices"
	"strings"

	"library-catalogue/graph/model/author"
	"library-catalogue/graph/model/collate"
)

// fileFields are the fields of a book in a file, in export order, with names of genre and category.
var fileFields = slices.Concat(fileFieldsOf(InFile), []FieldInfo{
	{Key: "genre", Label: "Genre", Max: maxText, Spellings: strings.Fields(`
		genres subject topic topics topicalterm topicaltermorgeographicnameentryelement 655a 650a 606a
	`), Fallbacks: strings.Fields(`subjects keyword keywords tags manualtags schlagworter schlagworte moods`)},
	{Key: "category", Label: "Category", Max: maxText, Nullable: true, Spellings: strings.Fields(`
		categories category1
	`)},
}, fileFieldsOf(InFile|OnInclude))

func fileFieldsOf(use Use) []FieldInfo {
	return slices.DeleteFunc(infos(BookFields), func(f FieldInfo) bool { return f.Use&(InFile|OnInclude) != use })
}

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

// StandIn returns a value that a list may give to all books for which it has none.
func (f *FieldInfo) StandIn() string {
	switch f.Kind {
	case KindDate:
		return "1900-01-01"
	case KindCents:
		return "0"
	case KindInt:
		return "1"
	}
	return "Unknown"
}

// ImportBookInput is a book of a file, with the names of its genre and category in place of
// GenreID.
type ImportBookInput struct {
	CreateBookInput
	Genre    string // name
	Category string // name; empty if absent
	Apart    bool   // it is another book than one with its name and author, unless all values are equal
	// StandIns are the fields with default values. A stored book keeps its own values there.
	StandIns []string
}

// Apart and StandIns are the names in a Form of the fields of ImportBookInput, which no column has.
const (
	Apart    = "\x00apart"
	StandIns = "\x00standins" // separated by spaces
)

// ImportBook returns the input of an imported book.
func (f Form) ImportBook() ImportBookInput {
	in := ImportBookInput{CreateBookInput: f.CreateBook(), Apart: !f[Apart].Missing(),
		StandIns: strings.Fields(f[StandIns].Written())}
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

// Key identifies a book that imports and upserts meet again: the identity of its name and author (collate.Identity,
// author.Identity), its ISBN, its shelf mark and its name with the subtitle, each as a text or as its hash. Several
// books may have the same key.
type Key[T comparable] struct {
	Name, Author    T
	ISBN, ShelfMark T // zero: none
	Whole           T // the name with the subtitle; zero: no subtitle
}

// BookKey is the key of a book in texts.
type BookKey = Key[string]

// Key returns the key of the book.
func (b *Book) Key() BookKey {
	key := BookKey{Name: collate.Identity(b.Name), Author: author.Identity(b.Author), ISBN: deref(b.ISBN),
		ShelfMark: deref(b.ShelfMark)}
	if b.Subtitle != nil {
		key.Whole = collate.Identity(b.Title())
	}
	return key
}

// titleJoint joins a name and a subtitle in lists that have one column for both.
const titleJoint = ": "

// Title returns the name with the subtitle.
func (b *Book) Title() string {
	if b.Subtitle == nil {
		return b.Name
	}
	return b.Name + titleJoint + *b.Subtitle
}

// Names returns the names by which a book with a key is met: the name and the whole name.
func (k Key[T]) Names() []T {
	if k.Whole == *new(T) {
		return []T{k.Name}
	}
	return []T{k.Name, k.Whole}
}

// WithoutSubtitle returns the names that a key may have if its name ends with a subtitle.
func WithoutSubtitle(k BookKey) (names []string) {
	if i := strings.Index(k.Name, titleJoint); i > 0 && k.Whole == "" {
		names = append(names, k.Name[:i], k.Name[:strings.LastIndex(k.Name, titleJoint)])
	}
	return names
}

// JoinsTitle reports whether the name of an input is the whole name of a book that it means, so that the book keeps its
// name and its subtitle.
func (in *CreateBookInput) JoinsTitle(b *Book) bool {
	return !in.Subtitle.IsSet() && b.Subtitle != nil && collate.Identity(in.Name) == collate.Identity(b.Title())
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Means reports whether a row with one key may mean a book with the other: they have one name, and one ISBN or one
// author, and no other ISBN (another edition) or shelf mark (another copy). Names count with the subtitle, and without
// it where one of them has none or both have one ISBN.
func (k Key[T]) Means(other Key[T]) bool {
	var none T
	differ := func(a, b T) bool { return a != none && b != none && a != b }
	whole := func(k Key[T]) T {
		if k.Whole == none {
			return k.Name
		}
		return k.Whole
	}
	hasISBN := k.ISBN != none && k.ISBN == other.ISBN
	hasName := whole(k) == whole(other) ||
		k.Name == other.Name && (hasISBN || !differ(k.Whole, other.Whole))
	return hasName && (k.Author == other.Author || hasISBN) && !differ(k.ISBN, other.ISBN) &&
		!differ(k.ShelfMark, other.ShelfMark)
}

// Meant returns the books among others that a row with a key may mean. Its ISBN and then its shelf mark tell several
// apart.
func Meant[T comparable, B any](key Key[T], others []B, keyOf func(B) Key[T]) (met []B) {
	for _, other := range others {
		if key.Means(keyOf(other)) {
			met = append(met, other)
		}
	}
	met = closer(met, func(other B) bool { return key.ISBN == keyOf(other).ISBN })
	return closer(met, func(other B) bool { return key.ShelfMark == keyOf(other).ShelfMark })
}

// closer returns the books that are closer to a row, or all if none is.
func closer[B any](books []B, isCloser func(B) bool) []B {
	if kept := slices.DeleteFunc(slices.Clone(books), func(b B) bool { return !isCloser(b) }); len(kept) > 0 {
		return kept
	}
	return books
}

// KeyedBook is a book with its key.
type KeyedBook struct {
	*Book
	Of BookKey
}

// MeetAgain returns the books among others that a row with a key may mean: one, unless several have its key and nothing
// tells them apart: the ISBN, the shelf mark, the spelling, or all other values but the genre.
func MeetAgain(row *Book, key BookKey, others []KeyedBook) (met []*Book) {
	all := Meant(key, others, func(other KeyedBook) BookKey { return other.Of })
	for _, other := range closer(all, func(other KeyedBook) bool {
		return row.Name == other.Name && row.Author == other.Author
	}) {
		like := *row
		if like.GenreID = other.GenreID; like.SameContent(other.Book) {
			return []*Book{other.Book}
		}
		met = append(met, other.Book)
	}
	return met
}

// AmbiguousBook is the error message for a row that may mean several books.
func AmbiguousBook(n int) Message {
	return Messagef("%d books match: give the ISBN or the shelf mark that tells them apart.", n)
}

// ImportResult counts the rows of an import by result.
type ImportResult struct {
	Created, Updated, Unchanged int
	// created books with the name of a stored one and another author; only of a preview
	Namesakes int
	Rejected  []RejectedRow // in row order
	Changes   []BookChange  // changes of books, in row order; only in a preview
}

// BookChange is a stored book that a row of an import would change.
type BookChange struct {
	Index  int // index of the input row, from 0
	ID     ID
	Name   string // stored
	Fields []FieldChange
}

// FieldChange has the values of a field before and after a change, as cells of a file.
type FieldChange struct{ Field, Old, New string }

// Differences returns the fields of a file that differ between two values of a book, without genre and category.
func (b *Book) Differences(after *Book) (differences []FieldChange) {
	for _, f := range BookFields {
		if f.Writable && f.Is(InFile) && !f.Equal(b, after) {
			differences = append(differences, FieldChange{f.Key, f.Text(b), f.Text(after)})
		}
	}
	return differences
}

// RejectedRow is a rejected row of an import.
type RejectedRow struct {
	Index    int // index of the input row, from 0
	Problems FieldErrors
}

// LoadSampleInput is the input of loadSample.
type LoadSampleInput struct{ ClientMutationID *string }

// LoadSamplePayload is the result of loadSample.
type LoadSamplePayload struct {
	Count            int
	ClientMutationID *string
}
