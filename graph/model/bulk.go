package model

import (
	"cmp"
	"context"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model/author"
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

// UpdateBooksInput is the input of updating books. It has either a Filter or Rows.
type UpdateBooksInput struct {
	UpdateManyInput[BookPatch]
	Rows        []*UpdateBooksRow
	PriceFactor *Decimal
	Author      *ReplaceAuthorInput
	DryRun      bool // store nothing
}

// UpdateBooksRow is a book to update, at any version if ExpectedVersion is nil.
type UpdateBooksRow struct {
	ID              ID
	ExpectedVersion *int64
}

// ReplaceAuthorInput replaces persons among the authors of a book by one.
type ReplaceAuthorInput struct {
	From []string
	To   string
}

// maxFactor is the maximum number of characters of a PriceFactor.
const maxFactor = 30

// Validate returns the errors of the input, except those of the filter and the patch. It sets the filter of Rows.
func (in *UpdateBooksInput) Validate() (f FieldErrors) {
	if (in.Filter == nil) == (in.Rows == nil) {
		f.Add("rows", "Give either filter or rows.")
	}
	if in.Rows != nil {
		ids := make([]any, len(in.Rows))
		seen := map[ID]bool{}
		for i, row := range in.Rows {
			if ids[i] = strconv.FormatInt(int64(row.ID), 10); seen[row.ID] {
				f.Add("rows", "The %s field must name each book once.")
				break
			}
			seen[row.ID] = true
		}
		in.Filter = Filter{"id": Filter{"in": ids}}
	}
	if factor := in.PriceFactor; factor != nil {
		switch {
		case in.Patch.Price.IsSet():
			f.Add("price_factor", "The %s field must not be given with a price.")
		case len(*factor) > maxFactor || strings.HasPrefix(string(*factor), "-"):
			f.Add("price_factor", "The %s field must not be negative or longer than %d characters.", maxFactor)
		}
	}
	if person := in.Author; person != nil {
		if in.Patch.Author.IsSet() {
			f.Add("author", "The %s field must not be given with an author in the patch.")
		}
		isMany := func(text string) bool { return len(author.Parse(text)) != 1 }
		if len(person.From) == 0 || slices.ContainsFunc(person.From, isMany) {
			f.Add("author.from", "The %s field must name one person in each text.")
		}
		if isMany(person.To) {
			f.Add("author.to", "The %s field must name one person.")
		}
	}
	return f
}

// NeedsBooks reports whether the change depends on the stored books.
func (in *UpdateBooksInput) NeedsBooks() bool {
	return in.Rows != nil || in.PriceFactor != nil || in.Author != nil || in.DryRun
}

// SelectsBefore reports whether ctx is of an updateBooks whose response has the books before the change.
func SelectsBefore(ctx context.Context) bool {
	operation := graphql.GetOperationContext(ctx)
	selected := graphql.GetFieldContext(ctx).Field.Selections
	for _, field := range graphql.CollectFields(operation, selected, []string{"UpdateBooksPayload"}) {
		for _, f := range graphql.CollectFields(operation, field.Selections, []string{"BookResult"}) {
			if f.Name == "before" {
				return true
			}
		}
	}
	return false
}

// Change returns a book with the new values, or their errors.
func (in *UpdateBooksInput) Change(before *Book) (changed *Book, problems FieldErrors) {
	var own BookPatch
	if in.PriceFactor != nil {
		price := before.Price.Times(*in.PriceFactor)
		own.Price = graphql.OmittableOf(&price)
	}
	if in.Author != nil {
		text, ok := author.Replace(before.Author, in.Author.From, in.Author.To)
		own.Author = graphql.OmittableOf(&text)
		if !ok {
			problems.Add("author", "The %s field cannot be read with the new name: write a semicolon between the authors first.")
		}
	}
	problems = append(problems, own.Validate()...)
	after := *before
	bookDefinitions.apply(&after, in.Patch)
	bookDefinitions.apply(&after, &own)
	return &after, problems
}

// Times returns c times a factor, rounded as ParseCents rounds.
func (c Cents) Times(factor Decimal) Cents {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(factor)), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	product, _ := new(big.Int).SetString(whole+fraction, 10)
	shift, _ := parseExponent(cmp.Or(exponent, "0"))
	product.Mul(product, big.NewInt(int64(c)))
	c, _ = ParseCents(product.String() + "e" + strconv.Itoa(shift-len(fraction)-2))
	return c
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
	Index  int
	Row    *T        // after the write, or before its deletion; nil if not written
	Before *T        // before updateBooks
	Error  *RowError // nil if there is none
}

// RowError is the error of a row. Its fields have their GraphQL names.
type RowError struct {
	Code           Code
	Message        string
	Fields         []FieldError
	CurrentVersion *int64 // of the row, for a Stale error
}

// The bulk writes of each type.
type (
	CreateBooksInput      = BulkInput[CreateBookInput]
	CreateGenresInput     = BulkInput[CreateGenreInput]
	CreateCategoriesInput = BulkInput[CreateCategoryInput]

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
	return BadArgument(field, "The %s field must not have more than %d rows.", field, MaxRows)
}

// ParseBulkSelection returns the selection of a bulk write. The error is BadUserInput. A filter
// that matches every row is an error.
func ParseBulkSelection(typename string, filter Filter, atMost int) (Selection, error) {
	if atMost < 1 || atMost > MaxRows {
		return Selection{}, BadArgument("atMost", "The atMost field must be between 1 and %d.", MaxRows)
	}
	selection, err := ParseSelection(typename, filter, nil)
	if err == nil && selection.Where.outcome() == 1 {
		err = BadArgument("filter", "The filter must have a condition.")
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
		if e.Version != 0 {
			p.Results[i].Error.CurrentVersion = &e.Version
		}
	}
	return p
}
