package model

import "strconv"

// Moment is a place in the log of changes. A row with a Moment is of the past: its changes up to
// the Moment are in it, and no later ones.
type Moment struct {
	Tick int64 // of the engine that has ticks; see package db
	Seq  int64 // changes of the tick up to this one are included
}

// NoLists returns BadUserInput for a row of the past, whose lists are not kept.
func (o *Ordered) NoLists() error {
	if o.Moment == nil {
		return nil
	}
	return Errorf(BadUserInput, "The lists of a row of the past are not kept. Ask for them without asOf, or for single rows with it.")
}

// HistoryArgs select a page of the history of a row.
type HistoryArgs struct {
	Type  CatalogueType
	First int
	After *string // a position in the history; nil means the newest change
}

// Key returns a text that is equal for equal arguments.
func (a *HistoryArgs) Key() string {
	key := string(a.Type) + " " + strconv.Itoa(a.First)
	if a.After != nil {
		key += " " + *a.After
	}
	return key
}

// RestoreInput names the state to which a row is restored.
type RestoreInput struct {
	ID               ID
	Position         *string // of a change of the row; nil takes the newest change back
	ExpectedVersion  *int64  // of the row, or of the deleted row
	ClientMutationID *string
}

// The restores of each type.
type (
	RestoreBookInput     = RestoreInput
	RestoreGenreInput    = RestoreInput
	RestoreCategoryInput = RestoreInput

	RestoreBookPayload     = Payload[Book]
	RestoreGenrePayload    = Payload[Genre]
	RestoreCategoryPayload = Payload[Category]
)
