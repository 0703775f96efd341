package model

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// definition is a field of rows T.
type definition[T any] struct {
	RowField[T]
	values                  values // nil if not writable
	inRow, inInput, inPatch int    // indexes in the structs of rows, inputs and patches, if writable
}

// define returns the fields of rows T. Inputs C and patches P have a struct field of the same name for each writable one.
func define[T, C, P any](fields ...definition[T]) definitions[T, C, P] {
	for i := range fields {
		if f := &fields[i]; f.Writable {
			f.inRow, f.inInput, f.inPatch = indexIn[T](f.Name), indexIn[C](f.Name), indexIn[P](f.Name)
		}
	}
	return fields
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

// codec holds the functions that read, check and write values of a kind.
type codec[V comparable] struct {
	kind          Kind
	appendGraphQL func(v V, dst []byte) []byte
	appendREST    func(v V, dst []byte) []byte
	text          func(V) string                        // in a cell of a file
	read          func(Value) (v V, problem string)     // from a Form or a RowField
	check         func(*FieldInfo, *V) (problem string) // checks bounds; nil if not writable
}

var (
	textCodec      = codec[string]{KindText, appendText, appendText, func(s string) string { return s }, readText, checkText}
	idCodec        = codec[ID]{KindID, ID.AppendJSON, ID.AppendNumber, ID.String, readID, checkID}
	intCodec       = codec[int]{KindInt, appendNumber[int], appendNumber[int], strconv.Itoa, readInteger, checkInt}
	versionCodec   = codec[int64]{kind: KindBigInt, appendGraphQL: appendNumber[int64], appendREST: appendNumber[int64], read: readBigInt}
	centsCodec     = codec[Cents]{KindCents, Cents.AppendJSON, Cents.AppendJSON, Cents.String, readPrice, checkCents}
	dateCodec      = codec[Date]{KindDate, Date.AppendJSON, Date.AppendJSON, Date.String, readDate, checkDate}
	timestampCodec = codec[Timestamp]{kind: KindTimestamp, appendGraphQL: Timestamp.AppendJSON, appendREST: Timestamp.AppendJSON, read: readTimestamp}
)

func appendText(s string, dst []byte) []byte { return AppendString(dst, s) }
func appendNumber[N int | int64](n N, dst []byte) []byte {
	return strconv.AppendInt(dst, int64(n), 10)
}

// nullable returns the codec of nullable values, without check.
func nullable[V comparable](c codec[V]) codec[*V] {
	orNull := func(value func(V, []byte) []byte) func(*V, []byte) []byte {
		return func(v *V, dst []byte) []byte {
			if v == nil {
				return append(dst, "null"...)
			}
			return value(*v, dst)
		}
	}
	return codec[*V]{
		kind: c.kind, appendGraphQL: orNull(c.appendGraphQL), appendREST: orNull(c.appendREST),
		text: func(v *V) string {
			if v == nil {
				return ""
			}
			return c.text(*v)
		},
		read: func(v Value) (*V, string) {
			if v.kind == null {
				return nil, ""
			}
			value, problem := c.read(v)
			return &value, problem
		},
	}
}

// checkText trims *s, puts it in NFC (Unicode Standard Annex #15) and checks that it has 1 to Max characters.
func checkText(f *FieldInfo, s *string) string {
	*s = norm.NFC.String(strings.TrimSpace(*s))
	switch {
	case *s == "":
		return MustBeRequired
	case !utf8.ValidString(*s) || strings.ContainsRune(*s, 0):
		return MustBeUTF8
	case int64(utf8.RuneCountInString(*s)) > f.Max:
		return fmt.Sprintf("The %%s field must not be greater than %d characters.", f.Max)
	}
	if f.Syntax != nil {
		canonical, ok := f.Syntax.Parse(*s)
		if !ok {
			return f.Syntax.Problem()
		}
		*s = canonical
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

// checkCents writes whole bounds without decimals.
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
