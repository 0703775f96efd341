package model

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
)

// definition is a field of rows T, of the inputs C that create them and of the
// patches P that change them.
type definition[T, C, P any] struct {
	RowField[T]
	input inputField[T, C, P] // nil where it is not writable
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
		Read: func(row *T, v Value) (problem string) {
			*at(row), problem = c.read(v)
			return problem
		},
		Text:  func(row *T) string { return c.text(*at(row)) },
		Equal: func(a, b *T) bool { return *at(a) == *at(b) },
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
		Read: func(row *T, v Value) string {
			if v.kind == null {
				*at(row) = nil
				return ""
			}
			value, problem := c.read(v)
			*at(row) = &value
			return problem
		},
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

// codec is how the values of a kind are read, checked and written.
type codec[V comparable] struct {
	kind          Kind
	appendGraphQL func(dst []byte, v V) []byte
	appendREST    func(dst []byte, v V) []byte
	text          func(V) string                        // in a cell of a file
	read          func(Value) (v V, problem string)     // from a Form or a RowField
	check         func(*FieldInfo, *V) (problem string) // against the bounds; nil: never written
}

var (
	textCodec      = codec[string]{KindText, AppendString, AppendString, func(s string) string { return s }, readText, checkText}
	idCodec        = codec[ID]{KindID, appendQuoted, appendNumber[ID], ID.String, readID, checkID}
	intCodec       = codec[int]{KindInt, appendNumber[int], appendNumber[int], strconv.Itoa, readInteger, checkInt}
	versionCodec   = codec[int64]{kind: KindBigInt, appendGraphQL: appendNumber[int64], appendREST: appendNumber[int64], read: readBigInt}
	centsCodec     = codec[Cents]{KindCents, appendCents, appendCents, Cents.String, readPrice, checkCents}
	dateCodec      = codec[Date]{KindDate, appendDate, appendDate, Date.String, readDate, checkDate}
	timestampCodec = codec[Timestamp]{kind: KindTimestamp, appendGraphQL: appendTimestamp, appendREST: appendTimestamp, read: readTimestamp}
)

func appendNumber[N ~int | ~int64](dst []byte, n N) []byte {
	return strconv.AppendInt(dst, int64(n), 10)
}
func appendQuoted(dst []byte, id ID) []byte          { return id.AppendJSON(dst) }
func appendCents(dst []byte, c Cents) []byte         { return c.AppendJSON(dst) }
func appendDate(dst []byte, d Date) []byte           { return d.AppendJSON(dst) }
func appendTimestamp(dst []byte, t Timestamp) []byte { return t.AppendJSON(dst) }

// checkText trims *s and checks that it has 1 to Max characters.
func checkText(f *FieldInfo, s *string) string {
	*s = strings.TrimSpace(*s)
	switch {
	case *s == "":
		return MustBeRequired
	case !utf8.ValidString(*s) || strings.ContainsRune(*s, 0):
		return MustBeUTF8
	case int64(utf8.RuneCountInString(*s)) > f.Max:
		return fmt.Sprintf("The %%s field must not be greater than %d characters.", f.Max)
	}
	return ""
}

func checkID(_ *FieldInfo, id *ID) string {
	if *id < 1 {
		return MustExist
	}
	return ""
}

func checkInt(f *FieldInfo, n *int) string {
	return f.bounds(int64(*n), func(bound int64) string { return strconv.FormatInt(bound, 10) })
}

// checkCents writes a bound of whole units without decimals.
func checkCents(f *FieldInfo, c *Cents) string {
	return f.bounds(int64(*c), func(bound int64) string {
		return strings.TrimSuffix(Cents(bound).String(), ".00")
	})
}

func (f *FieldInfo) bounds(n int64, text func(int64) string) string {
	switch {
	case n < f.Min:
		return "The %s field must be at least " + text(f.Min) + "."
	case n > f.Max:
		return "The %s field must not be greater than " + text(f.Max) + "."
	}
	return ""
}

func checkDate(_ *FieldInfo, d *Date) string {
	if *d == (Date{}) {
		return MustBeDate
	}
	return ""
}
