package model

import (
	"fmt"
	"io"
	"strconv"
)

// MaxRows is the maximum number of rows of a bulk write.
const MaxRows = 10_000

// ErrorPolicy decides whether valid rows of a bulk write are written if others are invalid.
type ErrorPolicy string

// The policies.
const (
	RejectAll ErrorPolicy = "REJECT_ALL" // write nothing unless every row is valid
	RejectRow ErrorPolicy = "REJECT_ROW" // write the valid rows
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

// BulkInput is the input of creating rows of a type.
type BulkInput[T any] struct {
	Rows             []*T
	ErrorPolicy      ErrorPolicy
	ClientMutationID *string
}

// UpdateManyInput is the input of updating rows of a type.
type UpdateManyInput[P any] struct {
	Filter           Filter
	Patch            *P
	AtMost           int
	ClientMutationID *string
}

// DeleteManyInput is the input of deleting rows of a type. OnChildren applies to types with
// children.
type DeleteManyInput struct {
	Filter           Filter
	AtMost           int
	OnChildren       OnChildren
	ReassignTo       *ID
	ErrorPolicy      ErrorPolicy
	ClientMutationID *string
}

// BulkPayload is the result of a bulk write.
type BulkPayload[T any] struct {
	Count            int // written rows
	Results          []*RowResult[T]
	ClientMutationID *string
}

// RowResult is the result of one row of a bulk write.
type RowResult[T any] struct {
	Index int
	Row   *T        // after the write, or before its deletion; nil if not written
	Error *RowError // nil if there is none
}

// RowError is the error of a row. Its fields have their GraphQL names.
type RowError struct {
	Code    Code
	Message string
	Fields  []FieldError
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

// CheckRows returns an error for field if a bulk write has too many rows.
func CheckRows(field string, rows int) error {
	if rows <= MaxRows {
		return nil
	}
	return badArgument(field, fmt.Sprintf("The %s field must not have more than %d rows.", field, MaxRows))
}

// ParseBulkSelection returns the selection of a bulk write. The error is BadUserInput. A filter
// that matches every row is an error.
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

// NewBulkPayload returns the results of a bulk write that wrote count rows. A row was written, has
// an error, or was skipped because of another row's error.
func NewBulkPayload[T any](rows []*T, errs []error, count int, clientMutationID *string) *BulkPayload[T] {
	p := &BulkPayload[T]{Count: count, Results: make([]*RowResult[T], len(rows)), ClientMutationID: clientMutationID}
	for i, row := range rows {
		p.Results[i] = &RowResult[T]{Index: i, Row: row}
		if errs[i] == nil {
			continue
		}
		e := AsError(errs[i])
		p.Results[i].Error = &RowError{Code: e.Code.InGraphQL(), Message: e.Message, Fields: e.Fields.InGraphQL()}
	}
	return p
}
