// Package model holds the domain: the types of the schema, inputs and their validation, pages,
// cursors, errors, and callers. It is the bottom layer, without SQL and HTTP, and imports only
// its folders author, collate, isbn and lang of this module.
//
// A file uses files of its line and of the lines below. Only a filter and an order look up an entity above.
//
//	import bulk change               rows of files, writes of many rows, the log
//	page facet json entity           lists and their parts, rows in /api, types by name
//	book genre category              the nouns, their inputs and patches
//	group selection filter order     the arguments of lists
//	input definition codec           inputs, their fields and the values of these
//	field form node scalar encode    descriptions of fields, untyped inputs, rows, scalars
//	model caller error               revisions, callers, errors
package model

// Revision identifies a state of the catalogue. Two reads return equal revisions only if no program
// committed between them.
type Revision struct {
	Catalogue int64 `db:"catalogue"` // changes with every write
	Reference int64 `db:"reference"` // changes with every write of genres and categories
}

// NoRevision stands for an unknown revision. It is less than every revision.
var NoRevision = Revision{Catalogue: -1, Reference: -1}

// IsKnown reports whether r is a revision.
func (r Revision) IsKnown() bool { return r != NoRevision }

// Replicas says which replicas may serve a read.
type Replicas int

// The kinds of Replicas. The primary serves the read if none of them can.
const (
	NoReplica    Replicas = iota
	FreshReplica          // one with every commit from before the read
	LateReplica           // also one that lacks recent commits, within the operator's bound
)

// Check is the result of a health check. The terms are from the Internet-Draft "Health Check
// Response Format for HTTP APIs" (draft-inadarei-api-health-check-06).
type Check struct {
	Name   string
	Status CheckStatus
	Output string // the problem and advice, public; empty if there is none
	Err    error  // cause, only logged
}

// CheckStatus is the status of a check.
type CheckStatus string

// The statuses. After a warning the service still works, but partly or not for long.
const (
	Pass CheckStatus = "pass"
	Warn CheckStatus = "warn"
	Fail CheckStatus = "fail"
)

// Sizes are approximate numbers of rows by type.
type Sizes struct{ Books, Genres, Categories int64 }

// Of returns the number of rows of a type, 0 for types without rows.
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
