package model

import (
	"io"
	"iter"
	"reflect"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
)

// values reads, checks and copies the values of a writable field. A place is a pointer to one in a row, an input or a
// patch.
type values interface {
	// readInto sets the value from a form, or adds an error. It does not set an absent optional field.
	readInto(place any, f *FieldInfo, form Form, put bool, problems *FieldErrors)
	// checkAt normalizes the value, or adds an error.
	checkAt(place any, f *FieldInfo, problems *FieldErrors)
	// copy copies the value if it is set.
	copy(to, from any)
	// valueAt returns a pointer to the value, nil for null.
	valueAt(place any) (value any, set bool)
}

// placeIn returns a pointer to a field of the struct that s points to.
func placeIn(s any, index int) any { return reflect.ValueOf(s).Elem().Field(index).Addr().Interface() }

// get returns the value of a place, nil for null.
func get[V any](place any) (v *V, set bool) {
	switch at := place.(type) {
	case *V:
		return at, true
	case **V:
		return *at, true
	}
	return place.(*graphql.Omittable[*V]).ValueOK()
}

func set[V any](place any, v *V) {
	switch at := place.(type) {
	case *V:
		*at = *v
	case **V:
		*at = v
	case *graphql.Omittable[*V]:
		*at = graphql.OmittableOf(v)
	}
}

func (c *codec[V]) readInto(place any, f *FieldInfo, form Form, put bool, problems *FieldErrors) {
	given := form[f.Key]
	if given.kind == absent && (f.Nullable || put && f.Is(KeptByPUT)) {
		return
	}
	var v *V
	if !f.Nullable || !given.Missing() {
		v = new(requiredField(form, problems, f.Key, c.read))
	}
	set(place, v)
}

func (c *codec[V]) checkAt(place any, f *FieldInfo, problems *FieldErrors) {
	v, isSet := get[V](place)
	if !isSet || v == nil && f.Nullable || problems.settled(f.Key) {
		return
	}
	problem := MustBeRequired
	if v != nil {
		problem = c.check(f, v)
	}
	switch {
	case problem == MustBeRequired && f.Nullable: // blank
		set[V](place, nil)
	case problem != "":
		problems.Add(f.Key, problem)
	}
}

func (c *codec[V]) copy(to, from any) {
	if v, isSet := get[V](from); isSet {
		set(to, v)
	}
}

func (c *codec[V]) valueAt(place any) (any, bool) {
	v, isSet := get[V](place)
	if v == nil {
		return nil, isSet
	}
	return v, isSet
}

// definitions are the fields of rows T, in the order of /api and of errors.
type definitions[T, C, P any] []definition[T]

func (d definitions[T, C, P]) writable(yield func(*definition[T]) bool) {
	for i := range d {
		if d[i].Writable && !yield(&d[i]) {
			return
		}
	}
}

// readPatch sets the fields of a patch from the form of a PUT.
func (d definitions[T, C, P]) readPatch(form Form, p *P) (problems FieldErrors) {
	for f := range d.writable {
		f.values.readInto(placeIn(p, f.inPatch), &f.FieldInfo, form, true, &problems)
	}
	return problems
}

// readInput sets the fields of a new row from a form.
func (d definitions[T, C, P]) readInput(form Form, in *C) (problems FieldErrors) {
	for f := range d.writable {
		f.values.readInto(placeIn(in, f.inInput), &f.FieldInfo, form, false, &problems)
	}
	return problems
}

// checkInput checks all fields except the parent and returns problems with the new errors.
func (d definitions[T, C, P]) checkInput(in *C, problems FieldErrors) FieldErrors {
	for f := range d.writable {
		if f.Kind != KindID {
			f.values.checkAt(placeIn(in, f.inInput), &f.FieldInfo, &problems)
		}
	}
	return problems
}

func (d definitions[T, C, P]) checkPatch(p *P, problems FieldErrors) FieldErrors {
	for f := range d.writable {
		f.values.checkAt(placeIn(p, f.inPatch), &f.FieldInfo, &problems)
	}
	return problems
}

// fill sets the fields of a row from an input, but not those with the keys in except, and returns the row.
func (d definitions[T, C, P]) fill(row *T, in *C, except ...string) *T {
	for f := range d.writable {
		if !slices.Contains(except, f.Key) {
			f.values.copy(placeIn(row, f.inRow), placeIn(in, f.inInput))
		}
	}
	return row
}

func (d definitions[T, C, P]) patch(in *C) *P {
	p := new(P)
	for f := range d.writable {
		f.values.copy(placeIn(p, f.inPatch), placeIn(in, f.inInput))
	}
	return p
}

// Changes are columns with new values: pointers as in RowField, nil for null.
type Changes = iter.Seq2[string, any]

func (d definitions[T, C, P]) changes(p *P) Changes {
	return func(yield func(string, any) bool) {
		for f := range d.writable {
			if v, set := f.values.valueAt(placeIn(p, f.inPatch)); set && !yield(f.Column, v) {
				return
			}
		}
	}
}

// Bounds of stored values. The database has the same as constraints.
const (
	maxText        = 1_000  // characters of a name or an author
	maxDescription = 20_000 // characters
)

// Messages of several checks. "%s" is the field in words.
const (
	MustBeRequired = "The %s field is required."
	MustBeString   = "The %s field must be a string."
	MustBeInteger  = "The %s field must be an integer."
	MustBeNumber   = "The %s field must be a number."
	MustBeDate     = "The %s field must be a valid date."
	MustExist      = "The selected %s is invalid."
	MustBeUTF8     = "The %s field must be valid UTF-8 without NUL characters."
)

// settled reports whether field has an error from reading the input, and moves that error to the
// end, because errors are in the order of the checked fields.
func (f *FieldErrors) settled(field string) bool {
	i := slices.IndexFunc(*f, func(e FieldError) bool { return e.Field == field })
	if i < 0 {
		return false
	}
	*f = append(slices.Concat((*f)[:i], (*f)[i+1:]), (*f)[i])
	return true
}

// text trims a name and checks that it has 1 to maxText characters.
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
	ClientMutationID *string
}

// The writes of one row of each type.
type (
	UpdateBookInput     = UpdateInput[BookPatch]
	UpdateGenreInput    = UpdateInput[GenrePatch]
	UpdateCategoryInput = UpdateInput[CategoryPatch]

	DeleteBookInput     = DeleteInput
	DeleteGenreInput    = DeleteInput
	DeleteCategoryInput = DeleteInput

	CreateBookPayload     = Payload[Book]
	UpdateBookPayload     = Payload[Book]
	UpsertBookPayload     = Payload[Book]
	CreateGenrePayload    = Payload[Genre]
	UpdateGenrePayload    = Payload[Genre]
	UpsertGenrePayload    = Payload[Genre]
	CreateCategoryPayload = Payload[Category]
	UpdateCategoryPayload = Payload[Category]
	UpsertCategoryPayload = Payload[Category]

	DeleteBookPayload     = DeletePayload
	DeleteGenrePayload    = DeletePayload
	DeleteCategoryPayload = DeletePayload
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
