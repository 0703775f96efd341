package model

import "slices"

// Bounds of what may be stored; the database holds the same as constraints.
const (
	maxText        = 1_000  // characters of a name or an author
	maxDescription = 20_000 // characters
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

// text trims a name and holds it to 1..maxText characters.
func (f *FieldErrors) text(field string, s *string) {
	if f.settled(field) {
		return
	}
	if problem := checkText(&FieldInfo{Max: maxText}, s); problem != "" {
		f.Add(field, problem)
	}
}

func (f *FieldErrors) reference(field string, id ID) {
	if !f.settled(field) && id < 1 {
		f.Add(field, MustExist)
	}
}
