package model

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
)

// Bounds of what may be stored; the database holds the same as constraints.
const (
	maxText        = 1_000  // characters of a name or an author
	maxDescription = 20_000 // characters
	maxPages       = 1_000_000
)

// Messages that more than one place gives. "%s" is the field in words.
const (
	MustBeRequired = "The %s field is required."
	MustBeString   = "The %s field must be a string."
	MustBeInteger  = "The %s field must be an integer."
	MustBeNumber   = "The %s field must be a number."
	MustBeDate     = "The %s field must be a valid date."
	MustExist      = "The selected %s is invalid."
	MustBeUTF8     = "The %s field must be valid UTF-8 without NUL characters."
)

// settled tells whether field has a message already, found when the input was
// read. It then puts the message last, because the fields are checked in their
// order, and so stay in it.
func (f *FieldErrors) settled(field string) bool {
	i := slices.IndexFunc(*f, func(e FieldError) bool { return e.Field == field })
	if i < 0 {
		return false
	}
	*f = append(slices.Concat((*f)[:i], (*f)[i+1:]), (*f)[i])
	return true
}

// text trims *s and holds it to 1..maxText characters.
func (f *FieldErrors) text(field string, s *string) {
	if f.settled(field) {
		return
	}
	*s = strings.TrimSpace(*s)
	if *s == "" {
		f.Add(field, MustBeRequired)
		return
	}
	f.length(field, *s, maxText)
}

// description trims **s and makes an empty one null.
func (f *FieldErrors) description(s **string) {
	const field = "description"
	if f.settled(field) || *s == nil {
		return
	}
	trimmed := strings.TrimSpace(**s)
	if trimmed == "" {
		*s = nil
		return
	}
	*s = &trimmed
	f.length(field, trimmed, maxDescription)
}

func (f *FieldErrors) length(field, s string, longest int) {
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		f.Add(field, MustBeUTF8)
	case utf8.RuneCountInString(s) > longest:
		f.Add(field, fmt.Sprintf("The %%s field must not be greater than %d characters.", longest))
	}
}

func (f *FieldErrors) pages(n int) {
	const field = "pages"
	switch {
	case f.settled(field):
	case n < 1:
		f.Add(field, "The %s field must be at least 1.")
	case n > maxPages:
		f.Add(field, fmt.Sprintf("The %%s field must not be greater than %d.", maxPages))
	}
}

func (f *FieldErrors) price(c Cents) {
	const field = "price"
	switch {
	case f.settled(field):
	case c < 0:
		f.Add(field, "The %s field must be at least 0.")
	case c > MaxPrice:
		f.Add(field, "The %s field must not be greater than "+MaxPrice.String()+".")
	}
}

func (f *FieldErrors) date(field string, d Date) {
	if !f.settled(field) && d == (Date{}) {
		f.Add(field, MustBeDate)
	}
}

func (f *FieldErrors) reference(field string, id ID) {
	if !f.settled(field) && id < 1 {
		f.Add(field, MustExist)
	}
}

// patched runs check on the value of a field that is there; a null is an error
// where the field cannot be cleared.
func patched[T any](f *FieldErrors, field string, o graphql.Omittable[*T], check func(*T)) {
	v, set := o.ValueOK()
	switch {
	case !set:
	case v == nil:
		if !f.settled(field) {
			f.Add(field, MustBeRequired)
		}
	default:
		check(v)
	}
}

// patchedDescription is patched for the one field that a null clears.
func patchedDescription(f *FieldErrors, o *graphql.Omittable[*string]) {
	if v, set := o.ValueOK(); set {
		f.description(&v)
		*o = graphql.OmittableOf(v)
	}
}
