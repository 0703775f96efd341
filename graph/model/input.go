package model

import (
	"io"
	"slices"
	"strconv"
)

// text trims a name and checks that it has 1 to maxText characters.
func (f *FieldErrors) text(field string, s *string) {
	if f.settled(field) {
		return
	}
	if problem, args := checkText(&FieldInfo{Max: maxText}, s); problem != "" {
		f.Add(field, problem, args...)
	}
}

func (f *FieldErrors) reference(field string, id ID) {
	if !f.settled(field) && id < 1 {
		f.Add(field, MustExist)
	}
}

// UpdateInput is the input of updating a row.
type UpdateInput[P any] struct {
	ID               ID
	Patch            *P
	ExpectedVersion  *int64
	ClientMutationID *string
}

// DeleteInput is the input of deleting a row. OnChildren applies to types with children.
type DeleteInput struct {
	ID               ID
	ExpectedVersion  *int64
	OnChildren       OnChildren
	ReassignTo       *ID
	ClientMutationID *string
}

// Payload is the result of creating, updating or upserting a row.
type Payload[T any] struct {
	Row              *T
	Created          bool // for upserts
	ClientMutationID *string
}

// DeletePayload is the result of deleting a row.
type DeletePayload struct {
	ID               ID
	NodeID           string
	ClientMutationID *string
}

// NewDeletePayload returns the result of deleting a row of a type.
func NewDeletePayload(typename string, id ID, clientMutationID *string) *DeletePayload {
	return &DeletePayload{ID: id, NodeID: NodeID(typename, id), ClientMutationID: clientMutationID}
}

// ParentInput is the parent of a new row, existing or new. Exactly one of the two is set.
type ParentInput[T any] struct {
	Connect *ConnectInput
	Create  *T
}

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
		f.Add(name, "Give either the %[1]s id or the %[1]s, not both.")
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
		p.Field = prefix + p.Field
		*f = append(*f, p)
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

// HasChildren returns the error for a genre with books, or a category with genres.
func HasChildren(noun string, n int) error {
	switch {
	case noun == "Genre" && n == 1:
		return Errorf(Conflict, "Genre has 1 book")
	case noun == "Genre":
		return Errorf(Conflict, "Genre has %d books", n)
	case n == 1:
		return Errorf(Conflict, "Category has 1 genre")
	}
	return Errorf(Conflict, "Category has %d genres", n)
}
