package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// CatalogueType is a type of logged rows.
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
	Version   int64 // version after the change; for ChangeDelete the last one
	At        Timestamp
	Actor     string // subject of the token or role of the database; empty if unknown
	Set       ChangeSetID
	// The row after the change. All are nil for ChangeDelete and ChangeReset.
	Book     *Book
	Genre    *Genre
	Category *Category

	Deleted *string // name of the row of ChangeDelete; nil if the log no longer has it

	// Old returns the row before the change, nil if it is unknown. It is set only for changes that Follow sends when
	// they are committed.
	Old func() any
}

// MayAffect reports whether a selection of rows of the change's type by a condition may differ after the change.
func (c *Change) MayAffect(where *Condition) bool {
	if where == nil || c.Operation == ChangeReset || c.Operation != ChangeDelete && c.row() == nil {
		return true
	}
	if row := c.row(); row != nil && where.MayMatch(row) {
		return true
	}
	if c.Operation == ChangeCreate {
		return false
	}
	if c.Old == nil {
		return true
	}
	old := c.Old()
	return old == nil || where.MayMatch(old)
}

// row returns the row after the change, or nil.
func (c *Change) row() any {
	switch {
	case c.Book != nil:
		return c.Book
	case c.Genre != nil:
		return c.Genre
	case c.Category != nil:
		return c.Category
	}
	return nil
}

// SetRow sets the row after the change: a *Book, *Genre or *Category.
func (c *Change) SetRow(row any) {
	switch row := row.(type) {
	case *Book:
		c.Book = row
	case *Genre:
		c.Genre = row
	case *Category:
		c.Category = row
	}
}

// Name returns the name of the row after the change, or before ChangeDelete; nil if the log no longer has it.
func (c *Change) Name() *string {
	switch {
	case c.Book != nil:
		return &c.Book.Name
	case c.Genre != nil:
		return &c.Genre.Name
	case c.Category != nil:
		return &c.Category.Name
	}
	return c.Deleted
}

// RowIDOrNil returns the id of the row, or nil for ChangeReset.
func (c *Change) RowIDOrNil() *ID {
	if c.RowID == 0 {
		return nil
	}
	return &c.RowID
}

// RowNodeID returns the global id of the row, or nil for ChangeReset.
func (c *Change) RowNodeID() *string {
	if c.RowID == 0 {
		return nil
	}
	id := NodeID(string(c.Type[:1])+strings.ToLower(string(c.Type[1:])), c.RowID)
	return &id
}

// ChangePage is a page of changes. Position is where to go on, also if there are no changes.
type ChangePage struct {
	Nodes    []*Change
	Position string
	HasMore  bool
	Looked   int // changes of the log that Follow examined for the page alone
}

// LookPrice returns the price of the examined changes. A delivered change costs four times as much.
func (p *ChangePage) LookPrice() int64 { return int64(p.Looked) / 2 }

// ChangeArgs select changes. A filter needs exactly one type, and so do ids. It passes a change if
// the row before or after it matches.
type ChangeArgs struct {
	Types  []CatalogueType // nil means all
	IDs    []ID            // nil means all
	Filter map[string]any  // a filter of the type; nil means all
	After  *string         // nil means the oldest kept change for a page, and now for a stream
	First  int             // maximum number of changes of a page
}

// RecentArgs select the newest changes. Nil means all.
type RecentArgs struct {
	Types      []CatalogueType
	Operations []ChangeOperation
	Actor      *string
	Since      *Timestamp
	After      *string // a position: older changes; nil means the newest ones
	First      int
}

// ActorFor returns the actor if the caller of ctx may see it, which takes a valid token, else nil.
func (c *Change) ActorFor(ctx context.Context) *string {
	if _, err := CallerOf(ctx); err != nil || c.Actor == "" {
		return nil
	}
	return &c.Actor
}

// AppendJSON appends the change as a JSON object of /api. data has the fields of the row, without the rows that it
// refers to. It is null if the row was deleted.
func (c *Change) AppendJSON(dst []byte) []byte {
	dst = AppendString(append(dst, `{"position":`...), c.Position)
	dst = AppendString(append(dst, `,"type":`...), strings.ToLower(string(c.Type)))
	dst = c.RowID.AppendNumber(append(dst, `,"id":`...))
	dst = AppendString(append(dst, `,"operation":`...), string(c.Operation))
	dst = strconv.AppendInt(append(dst, `,"version":`...), c.Version, 10)
	dst = c.At.AppendJSON(append(dst, `,"at":`...))
	dst = append(dst, `,"actor":`...)
	if c.Actor == "" {
		dst = append(dst, "null"...)
	} else {
		dst = AppendString(dst, c.Actor)
	}
	dst = append(dst, `,"data":`...)
	switch {
	case c.Book != nil:
		dst = append(BookJSON.Append(dst, c.Book), '}')
	case c.Genre != nil:
		dst = append(GenreJSON.Append(dst, c.Genre), '}')
	case c.Category != nil:
		dst = append(CategoryJSON.Append(dst, c.Category), '}')
	default:
		dst = append(dst, "null"...)
	}
	return append(dst, '}')
}

// Position is a place in the log of changes: after the change Seq of a tick, or after all its changes if Seq is 0.
// Package db/changes explains ticks.
type Position struct{ Tick, Seq int64 }

func (p Position) String() string { return fmt.Sprintf("%d.%d", p.Tick, p.Seq) }

// Before reports whether p is before q in the log.
func (p Position) Before(q Position) bool {
	return cmp.Or(cmp.Compare(p.Tick, q.Tick), cmp.Compare(p.Last(), q.Last())) < 0
}

// Last returns the greatest seq that a change of the tick can have before the position.
func (p Position) Last() int64 {
	if p.Seq == 0 {
		return math.MaxInt64
	}
	return p.Seq
}

// ParsePosition parses a position. It returns false for another text.
func ParsePosition(text string) (p Position, ok bool) {
	tick, seq, _ := strings.Cut(text, ".")
	p.Tick, _ = strconv.ParseInt(tick, 10, 64)
	p.Seq, _ = strconv.ParseInt(seq, 10, 64)
	return p, p.Tick >= 0 && p.Seq >= 0 && p.String() == text
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
	Position         *string // position of a change of the row; nil takes the newest change back
	ExpectedVersion  *int64  // version of the row, or its last one if it is deleted
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

// Webhook is an endpoint that gets changes by HTTP.
type Webhook struct {
	ID          ID
	URL         string
	Types       []CatalogueType // nil means all
	Description string
	Secrets     []string // that sign, the current one first; nil in a list
	Position    string   // position of the last change delivered
	Failures    int      // failed attempts of the next change
	Error       string   // error of the last attempt; empty after a success
	DueAt       Timestamp
	Disabled    string     // the reason; empty if it is enabled
	DeliveredAt *Timestamp // nil before the first delivery
	CreatedAt   Timestamp
}

// changeSetKey is the context key for the number of a change set.
type changeSetKey struct{}

// WithChangeSet returns a context whose transactions share a new change set.
func WithChangeSet(ctx context.Context) context.Context {
	return context.WithValue(ctx, changeSetKey{}, int64(rand.Uint64()))
}

// ChangeSetOf returns the change set that the transactions of ctx share, or 0.
func ChangeSetOf(ctx context.Context) int64 {
	set, _ := ctx.Value(changeSetKey{}).(int64)
	return set
}

// ChangeSetID identifies a change set. A change that has none in the log is a set of its own: Row and Seq identify it.
type ChangeSetID struct {
	Set int64 `db:"change_set"`
	Row int64 `db:"row_id"`
	Seq int64
}

func (id ChangeSetID) String() string {
	if id.Seq == 0 {
		return strconv.FormatInt(id.Set, 10)
	}
	return strconv.FormatInt(id.Row, 10) + "." + strconv.FormatInt(id.Seq, 10)
}

// ParseChangeSetID parses an id. It returns false for another text.
func ParseChangeSetID(text string) (id ChangeSetID, ok bool) {
	row, seq, single := strings.Cut(text, ".")
	if single {
		id.Row, _ = strconv.ParseInt(row, 10, 64)
		id.Seq, _ = strconv.ParseInt(seq, 10, 64)
	} else {
		id.Set, _ = strconv.ParseInt(text, 10, 64)
	}
	return id, id.String() == text
}

// ChangeSet is the changes of one write: a transaction, or an import.
type ChangeSet struct {
	ID        ChangeSetID
	Operation *ChangeOperation // nil if its changes have several
	Counts    []*ChangeCount
}

// Key returns the id as a text.
func (s *ChangeSet) Key() string { return s.ID.String() }

// ChangeCount is the number of changes of a set with one type and operation.
type ChangeCount struct {
	Type      CatalogueType
	Operation ChangeOperation
	Count     int
}

// OnConflict is what an undo does if a row cannot be as it was before.
type OnConflict string

// The policies.
const (
	RejectConflicts OnConflict = "REJECT" // nothing is undone
	SkipConflicts   OnConflict = "SKIP"   // such rows stay as they are
)

// UndoChangeSetInput selects the change set to undo.
type UndoChangeSetInput struct {
	ID               string
	OnConflict       OnConflict
	DryRun           bool
	ClientMutationID *string
}

// UndoneRow is a row of an undo. Operation is what brings it back. Conflict is nil, or why it stays as it is.
type UndoneRow struct {
	Type      CatalogueType
	RowID     ID
	Operation ChangeOperation
	Conflict  *UndoConflict
}

// UndoConflict is why a row of an undo stays as it is.
type UndoConflict string

// The conflicts.
const (
	ChangedSince  UndoConflict = "CHANGED_SINCE"
	HasOtherRows  UndoConflict = "HAS_OTHER_ROWS" // a created genre or category has other rows now
	ParentMissing UndoConflict = "PARENT_MISSING"
)

// UndoChangeSetPayload is the result of an undo.
type UndoChangeSetPayload struct {
	Rows             []*UndoneRow
	ChangeSetID      *string // of the undo; nil if it changed nothing
	ClientMutationID *string
}
