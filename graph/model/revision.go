package model

// Revision names a state of the catalogue. Two revisions that were read are
// equal only if nothing was committed between the reads, by any program.
type Revision struct {
	Catalogue int64 `db:"catalogue"` // moved by every change
	Reference int64 `db:"reference"` // moved by every change of genres and categories
}
