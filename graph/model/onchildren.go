package model

import (
	"io"
	"slices"
	"strconv"
)

// OnChildren says what becomes of the rows that point at a row being deleted.
type OnChildren string

// The policies.
const (
	Restrict OnChildren = "RESTRICT" // refuse while there are any
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

// Validate says what is wrong with the policy for rows that are to be deleted:
// Reassign, and nothing else, wants a row that takes the children.
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

// HasChildren is the error of a row that may not be deleted.
func HasChildren(noun string, n int, child string) error {
	if n != 1 {
		child += "s"
	}
	return Errorf(Conflict, "%s has %d %s", noun, n, child)
}
