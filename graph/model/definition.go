package model

import "github.com/99designs/gqlgen/graphql"

// definition is a field of rows T, of the inputs C that create them and of the
// patches P that change them.
type definition[T, C, P any] struct {
	RowField[T]
	input inputField[T, C, P] // nil where nobody writes it
}

// cell is a value in a struct S; it may be absent, and nil is null.
type cell[S, V any] struct {
	get func(*S) (v *V, set bool)
	set func(*S, *V)
}

func valueCell[S, V any](at func(*S) *V) cell[S, V] {
	return cell[S, V]{func(s *S) (*V, bool) { return at(s), true }, func(s *S, v *V) { *at(s) = *v }}
}

func nullableCell[S, V any](at func(*S) **V) cell[S, V] {
	return cell[S, V]{func(s *S) (*V, bool) { return *at(s), true }, func(s *S, v *V) { *at(s) = v }}
}

func omittableCell[S, V any](at func(*S) *graphql.Omittable[*V]) cell[S, V] {
	return cell[S, V]{func(s *S) (*V, bool) { return at(s).ValueOK() }, func(s *S, v *V) { *at(s) = graphql.OmittableOf(v) }}
}

// stored is a field that the database sets.
func stored[T any, V comparable](info FieldInfo, c codec[V], at func(*T) *V) RowField[T] {
	info.complete(c.kind)
	return RowField[T]{
		FieldInfo:     info,
		Pointer:       func(row *T) any { return at(row) },
		AppendGraphQL: func(dst []byte, row *T) []byte { return c.appendGraphQL(dst, *at(row)) },
		AppendREST:    func(dst []byte, row *T) []byte { return c.appendREST(dst, *at(row)) },
		Text:          func(row *T) string { return c.text(*at(row)) },
		Equal:         func(a, b *T) bool { return *at(a) == *at(b) },
	}
}

// required is a field that a new row must have.
func required[T, C, P any, V comparable](info FieldInfo, c codec[V],
	at func(*T) *V, create func(*C) *V, patch func(*P) *graphql.Omittable[*V],
) definition[T, C, P] {
	info.Writable = true
	f := stored(info, c, at)
	return definition[T, C, P]{f, &accessors[T, C, P, V]{&f.FieldInfo, c, valueCell(at), valueCell(create), omittableCell(patch)}}
}

// optional is a field that a row may be without.
func optional[T, C, P any, V comparable](info FieldInfo, c codec[V],
	at func(*T) **V, create func(*C) *graphql.Omittable[*V], patch func(*P) *graphql.Omittable[*V],
) definition[T, C, P] {
	info.Writable, info.Nullable = true, true
	info.complete(c.kind)
	f := RowField[T]{
		FieldInfo: info,
		Pointer:   func(row *T) any { return at(row) },
		Text: func(row *T) string {
			if v := *at(row); v != nil {
				return c.text(*v)
			}
			return ""
		},
		Equal: func(a, b *T) bool {
			v, w := *at(a), *at(b)
			return v == w || v != nil && w != nil && *v == *w
		},
		AppendGraphQL: appendNullable(at, c.appendGraphQL),
		AppendREST:    appendNullable(at, c.appendREST),
	}
	return definition[T, C, P]{f, &accessors[T, C, P, V]{&f.FieldInfo, c, nullableCell(at), omittableCell(create), omittableCell(patch)}}
}

func appendNullable[T, V any](at func(*T) **V, value func([]byte, V) []byte) func([]byte, *T) []byte {
	return func(dst []byte, row *T) []byte {
		if v := *at(row); v != nil {
			return value(dst, *v)
		}
		return append(dst, "null"...)
	}
}

// complete sets what is not given.
func (f *FieldInfo) complete(kind Kind) {
	f.Kind = kind
	if f.Key == "" {
		f.Key = snake(f.Name)
	}
	if f.Column == "" {
		f.Column = f.Key
	}
}

// fields returns the fields of the rows, without their inputs.
func (d definitions[T, C, P]) fields() []RowField[T] {
	fields := make([]RowField[T], len(d))
	for i := range d {
		fields[i] = d[i].RowField
	}
	return fields
}
