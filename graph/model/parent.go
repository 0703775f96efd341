package model

import (
	"io"
	"slices"
	"strconv"
)

// ParentInput is the parent of a new row, existing or new. Exactly one of the two is set.
type ParentInput[T any] struct {
	Connect *ConnectInput
	Create  *T
}

// The parents of new rows.
type (
	CreateBookGenreInput     = ParentInput[CreateGenreInput]
	CreateGenreCategoryInput = ParentInput[CreateCategoryInput]
)

// ConnectInput names an existing row.
type ConnectInput struct {
	ID ID
}

// parent adds the errors of the parent of a new row, given by id or by in.
func parent[T any, P interface {
	*T
	Validate() FieldErrors
}](f *FieldErrors, name string, id ID, in *ParentInput[T]) {
	switch {
	case in == nil && id == 0 && !f.Has(name+"_id"):
		f.Add(name+"_id", MustBeRequired)
	case in == nil:
		f.reference(name+"_id", id)
	case id != 0:
		f.Add(name, "Give either the %s id or the %s, not both.")
	case (in.Connect == nil) == (in.Create == nil):
		f.Add(name, "The %s field must have exactly one of connect and create.")
	case in.Connect != nil:
		f.reference(name+".connect.id", in.Connect.ID)
	default:
		f.nested(name+".create.", P(in.Create).Validate())
	}
}

// nested adds the errors of a nested input.
func (f *FieldErrors) nested(prefix string, problems FieldErrors) {
	for _, p := range problems {
		*f = append(*f, FieldError{Field: prefix + p.Field, Message: p.Message})
	}
}

// existing returns the field that names an existing parent, and its id.
func existing[T any](name string, id ID, in *ParentInput[T]) (string, ID) {
	switch {
	case in == nil:
		return name + "_id", id
	case in.Connect != nil:
		return name + ".connect.id", in.Connect.ID
	}
	return "", 0
}

// OnChildren decides about the rows that refer to a deleted row.
type OnChildren string

// The policies.
const (
	Restrict OnChildren = "RESTRICT" // refuse if there are any
	Cascade  OnChildren = "CASCADE"  // delete them too, in the same transaction
	Reassign OnChildren = "REASSIGN" // make them children of another row
)

// MarshalGQL implements graphql.Marshaler.
func (o OnChildren) MarshalGQL(w io.Writer) { io.WriteString(w, strconv.Quote(string(o))) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (o *OnChildren) UnmarshalGQL(v any) error {
	text, _ := v.(string)
	switch *o = OnChildren(text); *o {
	case Restrict, Cascade, Reassign:
		return nil
	}
	return fieldError("The %s field must be RESTRICT, CASCADE or REASSIGN.")
}

// Validate returns the errors of the policy for a deletion. Only Reassign takes a row for the
// children.
func (o OnChildren) Validate(to *ID, deleted ...ID) (f FieldErrors) {
	const field = "reassign_to"
	switch {
	case o != Reassign && to != nil:
		f.Add(field, "The %s field must be given with onChildren REASSIGN only.")
	case o == Reassign && to == nil:
		f.Add(field, "The %s field is required with onChildren REASSIGN.")
	case to != nil && slices.Contains(deleted, *to):
		f.Add(field, "The %s field must not name what is deleted.")
	}
	return f
}

// HasChildren returns the error for a row with children.
func HasChildren(noun string, n int, child string) error {
	if n != 1 {
		child += "s"
	}
	return Errorf(Conflict, "%s has %d %s", noun, n, child)
}
