// Package model holds the domain by hand: the types of the schema, inputs with
// their validation, pages and cursors, errors, and who is asking. It is the
// bottom layer: it knows neither SQL nor HTTP, and imports of this module only
// the rule by which texts are compared.
package model

// Revision names a state of the catalogue. Two revisions that were read are
// equal only if nothing was committed between the reads, by any program.
type Revision struct {
	Catalogue int64 `db:"catalogue"` // moved by every change
	Reference int64 `db:"reference"` // moved by every change of genres and categories
}

// Check is the result of looking at one thing that must hold for requests to be
// answered. Its words are those of the Internet-Draft "Health Check Response
// Format for HTTP APIs" (draft-inadarei-api-health-check-06).
type Check struct {
	Name   string
	Status CheckStatus
	Output string // what is wrong and what to do, for anybody; empty where nothing is
	Err    error  // the cause, only logged
}

// CheckStatus is how a check ended.
type CheckStatus string

// The results. After a warning requests are answered, though not all, or not for
// much longer.
const (
	Pass CheckStatus = "pass"
	Warn CheckStatus = "warn"
	Fail CheckStatus = "fail"
)

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
