package model

import (
	"fmt"
	"io"
	"strconv"
)

// MaxRows is how many rows one bulk write may have.
const MaxRows = 10_000

// ErrorPolicy is whether the good rows of a bulk write are written where another row
// is bad.
type ErrorPolicy string

// The policies.
const (
	RejectAll ErrorPolicy = "REJECT_ALL" // nothing is written unless every row is good
	RejectRow ErrorPolicy = "REJECT_ROW" // the good rows are written
)

// MarshalGQL implements graphql.Marshaler.
func (p ErrorPolicy) MarshalGQL(w io.Writer) { io.WriteString(w, strconv.Quote(string(p))) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (p *ErrorPolicy) UnmarshalGQL(v any) error {
	text, _ := v.(string)
	switch *p = ErrorPolicy(text); *p {
	case RejectAll, RejectRow:
		return nil
	}
	return fieldError("The %s field must be REJECT_ALL or REJECT_ROW.")
}

// BulkInput is new rows of one type.
type BulkInput[T any] struct {
	Rows             []*T
	ErrorPolicy      ErrorPolicy
	ClientMutationID *string
}

// UpdateManyInput says which rows of one type to change, and how.
type UpdateManyInput[P any] struct {
	Filter           Filter
	Patch            *P
	AtMost           int
	ClientMutationID *string
}

// DeleteManyInput says which rows of one type to delete, and what becomes of
// their children, if they can have any.
type DeleteManyInput struct {
	Filter           Filter
	AtMost           int
	OnChildren       OnChildren
	ReassignTo       *ID
	ErrorPolicy      ErrorPolicy
	ClientMutationID *string
}

// BulkPayload is the answer to a bulk write.
type BulkPayload[T any] struct {
	Count            int // of rows that were written
	Results          []*RowResult[T]
	ClientMutationID *string
}

// RowResult is the result of one row of a bulk write.
type RowResult[T any] struct {
	Index int
	Row   *T        // as stored, or as it was where it was deleted; nil where it was not stored
	Error *RowError // nil where nothing is wrong
}

// RowError is what is wrong with a row, as data. Its fields have their names in
// GraphQL.
type RowError struct {
	Code    string
	Message string
	Fields  []RowFieldError
}

// RowFieldError is one thing wrong with one field of a row.
type RowFieldError struct {
	Field   string
	Message string
}

// The bulk writes of each type.
type (
	CreateBooksInput      = BulkInput[CreateBookInput]
	CreateGenresInput     = BulkInput[CreateGenreInput]
	CreateCategoriesInput = BulkInput[CreateCategoryInput]

	UpdateBooksInput      = UpdateManyInput[BookPatch]
	UpdateGenresInput     = UpdateManyInput[GenrePatch]
	UpdateCategoriesInput = UpdateManyInput[CategoryPatch]

	DeleteBooksInput      = DeleteManyInput
	DeleteGenresInput     = DeleteManyInput
	DeleteCategoriesInput = DeleteManyInput

	CreateBooksPayload      = BulkPayload[Book]
	CreateGenresPayload     = BulkPayload[Genre]
	CreateCategoriesPayload = BulkPayload[Category]
	UpdateBooksPayload      = BulkPayload[Book]
	UpdateGenresPayload     = BulkPayload[Genre]
	UpdateCategoriesPayload = BulkPayload[Category]
	DeleteBooksPayload      = BulkPayload[Book]
	DeleteGenresPayload     = BulkPayload[Genre]
	DeleteCategoriesPayload = BulkPayload[Category]

	BookResult     = RowResult[Book]
	GenreResult    = RowResult[Genre]
	CategoryResult = RowResult[Category]
)

// CheckRows refuses more rows than one bulk write may have, given in field.
func CheckRows(field string, rows int) error {
	if rows <= MaxRows {
		return nil
	}
	return FieldErrors{{Field: field, Message: fmt.Sprintf("The %s field must not have more than %d rows.", field, MaxRows)}}.Err()
}

// ParseBulkSelection checks which rows of a type a bulk write is to take. The error
// is BadUserInput: a filter that is true of every row is no choice of rows.
func ParseBulkSelection(typename string, filter Filter, atMost int) (Selection, error) {
	if atMost < 1 || atMost > MaxRows {
		return Selection{}, badArgument("atMost", fmt.Sprintf("The atMost field must be between 1 and %d.", MaxRows))
	}
	selection, err := ParseSelection(typename, filter, nil)
	if err == nil && selection.Where.outcome() == 1 {
		err = badArgument("filter", "The filter must have a condition.")
	}
	return selection, err
}

// outcome is 1 for a condition that is true of every row, whatever is in it, -1 for
// one that is true of none, and 0 for one that asks something of a row.
func (c *Condition) outcome() int {
	switch {
	case c == nil:
		return 1
	case c.Op == And:
		all := 1
		for _, part := range c.Of {
			all = min(all, part.outcome())
		}
		return all
	case c.Op == Or:
		some := -1
		for _, part := range c.Of {
			some = max(some, part.outcome())
		}
		return some
	case c.Op == Not:
		return -c.Of[0].outcome()
	case c.Op == Related: // there may be no related row
		return min(0, c.Of[0].outcome())
	}
	return 0
}

// NewBulkPayload returns the results of rows, of which count were written: each was
// written, or has an error, or was left out because of the error of another.
func NewBulkPayload[T any](rows []*T, errs []error, count int, clientMutationID *string) *BulkPayload[T] {
	p := &BulkPayload[T]{Count: count, Results: make([]*RowResult[T], len(rows)), ClientMutationID: clientMutationID}
	for i, row := range rows {
		p.Results[i] = &RowResult[T]{Index: i, Row: row}
		if errs[i] == nil {
			continue
		}
		e := AsError(errs[i])
		rowError := &RowError{Code: string(e.Code), Message: e.Message, Fields: make([]RowFieldError, len(e.Fields))}
		for j, f := range e.Fields {
			rowError.Fields[j] = RowFieldError{Field: Camel(f.Field), Message: f.Message}
		}
		p.Results[i].Error = rowError
	}
	return p
}
