package model

import (
	"io"
	"strconv"
)

// OnChildren says what becomes of the rows that point at a row being deleted.
type OnChildren string

// The policies.
const (
	Restrict OnChildren = "RESTRICT" // refuse while there are any
	Cascade  OnChildren = "CASCADE"  // delete them too, in the same transaction
)

// MarshalGQL implements graphql.Marshaler.
func (o OnChildren) MarshalGQL(w io.Writer) { io.WriteString(w, strconv.Quote(string(o))) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (o *OnChildren) UnmarshalGQL(v any) error {
	text, _ := v.(string)
	switch *o = OnChildren(text); *o {
	case Restrict, Cascade:
		return nil
	}
	return fieldError("The %s field must be RESTRICT or CASCADE.")
}
