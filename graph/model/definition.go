package model

import (
	"iter"
	"reflect"
	"slices"
	"strings"
)

// definition is a field of rows T.
type definition[T any] struct {
	RowField[T]
	values                  values // nil if not writable
	inRow, inInput, inPatch int    // indexes in the structs of rows, inputs and patches, if writable
}

// define returns the fields of rows T. Inputs C and patches P have a struct field of the same name for each writable
// one.
func define[T, C, P any](fields ...definition[T]) definitions[T, C, P] {
	for i := range fields {
		if f := &fields[i]; f.Writable {
			f.inRow, f.inInput, f.inPatch = indexIn[T](f.Name), indexIn[C](f.Name), indexIn[P](f.Name)
		}
	}
	return fields
}

// definitions are the fields of rows T, in the order of /api and of errors.
type definitions[T, C, P any] []definition[T]

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

// indexIn returns the index of the field of struct S with a name in GraphQL. It panics if there is none.
func indexIn[S any](name string) int {
	s := reflect.TypeFor[S]()
	field, ok := s.FieldByNameFunc(func(other string) bool { return strings.EqualFold(other, name) })
	if !ok {
		panic(s.String() + " has no field " + name)
	}
	return field.Index[0]
}

// placeIn returns a pointer to a field of the struct that s points to.
func placeIn(s any, index int) any { return reflect.ValueOf(s).Elem().Field(index).Addr().Interface() }

// stored defines a field that the database sets.
func stored[T any, V comparable](info FieldInfo, c codec[V], at func(*T) *V) definition[T] {
	info.complete(c.kind)
	return definition[T]{RowField: RowField[T]{
		FieldInfo:     info,
		Pointer:       func(row *T) any { return at(row) },
		AppendGraphQL: func(dst []byte, row *T) []byte { return c.appendGraphQL(*at(row), dst) },
		AppendREST:    func(dst []byte, row *T) []byte { return c.appendREST(*at(row), dst) },
		Read: func(row *T, v Value) (problem string) {
			*at(row), problem = c.read(v)
			return problem
		},
		Text:  func(row *T) string { return c.text(*at(row)) },
		Equal: func(a, b *T) bool { return *at(a) == *at(b) },
	}}
}

// required defines a field that new rows must have.
func required[T any, V comparable](info FieldInfo, c codec[V], at func(*T) *V) definition[T] {
	info.Writable = true
	f := stored(info, c, at)
	f.values = &c
	return f
}

// optional defines a nullable field.
func optional[T any, V comparable](info FieldInfo, c codec[V], at func(*T) **V) definition[T] {
	info.Writable, info.Nullable = true, true
	f := stored(info, nullable(c), at)
	f.values = &c
	f.Equal = func(a, b *T) bool {
		v, w := *at(a), *at(b)
		return v == w || v != nil && w != nil && *v == *w
	}
	return f
}

// complete sets defaults.
func (f *FieldInfo) complete(kind Kind) {
	f.Kind = kind
	if f.Key == "" {
		f.Key = Snake(f.Name)
	}
	if f.Column == "" {
		f.Column = f.Key
	}
	if f.Label == "" {
		f.Label = strings.ToUpper(f.Name[:1]) + f.Name[1:]
	}
}

// fields returns the fields of the rows, without their inputs.
func (d definitions[T, C, P]) fields() []RowField[T] {
	fields := make([]RowField[T], len(d))
	bit := Projection(1)
	for i := range d {
		fields[i] = d[i].RowField
		if fields[i].Is(OnDemand) {
			fields[i].projection = bit
			bit <<= 1
		}
	}
	return fields
}

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

// apply sets the fields of a row from a patch.
func (d definitions[T, C, P]) apply(row *T, p *P) {
	for f := range d.writable {
		f.values.copy(placeIn(row, f.inRow), placeIn(p, f.inPatch))
	}
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
