package model

import "context"

// CatalogueType is a type of rows whose changes are logged.
type CatalogueType string

// The types of rows.
const (
	TypeBook     CatalogueType = "BOOK"
	TypeGenre    CatalogueType = "GENRE"
	TypeCategory CatalogueType = "CATEGORY"
)

// CatalogueTypes lists every CatalogueType.
var CatalogueTypes = []CatalogueType{TypeBook, TypeGenre, TypeCategory}

// ChangeOperation is what happened to a row.
type ChangeOperation string

// The operations. After ChangeReset everything of the type may have changed, because the table was
// truncated or restored from an archive; RowID is 0.
const (
	ChangeCreate ChangeOperation = "CREATE"
	ChangeUpdate ChangeOperation = "UPDATE"
	ChangeDelete ChangeOperation = "DELETE"
	ChangeReset  ChangeOperation = "RESET"
)

// Change is one committed change of one row.
type Change struct {
	Position  string // opaque: changes after it are read with ChangeArgs.After
	Type      CatalogueType
	RowID     ID
	Operation ChangeOperation
	Version   int64 // of the row after the change; of the deleted row for ChangeDelete
	At        Timestamp
	Actor     string // subject of the token or role of the database; empty if unknown
	// The row after the change. All are nil for ChangeDelete and ChangeReset.
	Book     *Book
	Genre    *Genre
	Category *Category
}

// ChangePage is a page of changes. Position is where to go on, also if there are no changes.
type ChangePage struct {
	Nodes    []*Change
	Position string
	HasMore  bool
}

// ChangeArgs select changes. A filter needs exactly one type, and so do ids. It passes a change if
// the row before or after it matches.
type ChangeArgs struct {
	Types  []CatalogueType // nil means all
	IDs    []ID            // nil means all
	Filter map[string]any  // a filter of the type; nil means all
	After  *string         // nil means the oldest kept change for a page, and now for a stream
	First  int             // maximum number of changes of a page
}

// ActorFor returns the actor if the caller of ctx may see it, which takes a valid token, else nil.
func (c *Change) ActorFor(ctx context.Context) *string {
	if _, err := Caller(ctx); err != nil || c.Actor == "" {
		return nil
	}
	return &c.Actor
}
