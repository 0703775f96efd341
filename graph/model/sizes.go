package model

// Sizes are how many rows there are of each type, about. The zero Sizes are of an
// empty catalogue.
type Sizes struct{ Books, Genres, Categories int64 }

// Of returns how many rows there are of a type, 0 for one without rows of its own.
func (s Sizes) Of(typename string) int64 {
	switch typename {
	case "Book":
		return s.Books
	case "Genre":
		return s.Genres
	case "Category":
		return s.Categories
	}
	return 0
}
