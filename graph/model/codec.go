package model

import (
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/text/unicode/norm"
)

// codec holds the functions that read, check and write values of a kind.
type codec[V comparable] struct {
	kind          Kind
	appendGraphQL func(v V, dst []byte) []byte
	appendREST    func(v V, dst []byte) []byte
	text          func(V) string                    // in a cell of a file
	read          func(Value) (v V, problem string) // from a Form or a RowField
	// checks bounds; args follow the field's name in the format of a problem; nil if not writable
	check func(*FieldInfo, *V) (problem string, args []any)
}

var (
	textCodec = codec[string]{KindText, appendText, appendText, func(s string) string { return s }, readText,
		checkText}
	idCodec      = codec[ID]{KindID, ID.AppendJSON, ID.AppendNumber, ID.String, readID, checkID}
	intCodec     = codec[int]{KindInt, appendNumber[int], appendNumber[int], strconv.Itoa, readInteger, checkInt}
	versionCodec = codec[int64]{kind: KindBigInt, appendGraphQL: appendNumber[int64], appendREST: appendNumber[int64],
		read: readBigInt}
	centsCodec     = codec[Cents]{KindCents, Cents.AppendJSON, Cents.AppendJSON, Cents.String, readPrice, checkCents}
	dateCodec      = codec[Date]{KindDate, Date.AppendJSON, Date.AppendJSON, Date.String, readDate, checkDate}
	timestampCodec = codec[Timestamp]{kind: KindTimestamp, appendGraphQL: Timestamp.AppendJSON,
		appendREST: Timestamp.AppendJSON, read: readTimestamp}
)

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
	problem, args := MustBeRequired, []any(nil)
	if v != nil {
		problem, args = c.check(f, v)
	}
	switch {
	case problem == MustBeRequired && f.Nullable: // blank
		set[V](place, nil)
	case problem != "":
		problems.Add(f.Key, problem, args...)
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

func appendText(s string, dst []byte) []byte { return AppendString(dst, s) }

func appendNumber[N int | int64](n N, dst []byte) []byte {
	return strconv.AppendInt(dst, int64(n), 10)
}

// requiredField reads a required field. read returns an error message or "".
func requiredField[T any](f Form, p *FieldErrors, field string, read func(Value) (T, string)) (out T) {
	v := f[field]
	problem := MustBeRequired
	if !v.Missing() {
		out, problem = read(Value{v.kind, strings.TrimSpace(v.text)})
	}
	if problem != "" {
		p.Add(field, problem)
	}
	return out
}

func readText(v Value) (string, string) {
	if v.kind != text {
		return "", MustBeString
	}
	return v.text, ""
}

func readInteger(v Value) (int, string) {
	digits := v.text
	if whole, fraction, ok := strings.Cut(v.text, "."); ok && v.kind == number && strings.Trim(fraction, "0") == "" {
		digits = whole // 200.0 is an integer in JSON
	}
	n, err := strconv.Atoi(digits)
	if v.kind == other || err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, MustBeInteger
	}
	return n, "" // saturated, and beyond every bound
}

func readBigInt(v Value) (int64, string) {
	n, err := strconv.ParseInt(v.text, 10, 64)
	if v.kind != number || err != nil {
		return 0, MustBeInteger
	}
	return n, ""
}

func readID(v Value) (ID, string) {
	n, problem := readInteger(v)
	if n == 0 {
		n = -1 // matches no row; 0 means absent
	}
	return ID(n), problem
}

func readPrice(v Value) (Cents, string) {
	c, ok := ParseCents(v.text)
	if v.kind == other || !ok {
		return 0, MustBeNumber
	}
	return c, ""
}

func readDate(v Value) (Date, string) {
	d, ok := ParseDate(v.text)
	if v.kind != text || !ok {
		return Date{}, MustBeDate
	}
	return d, ""
}

func readTimestamp(v Value) (Timestamp, string) {
	t, err := time.Parse(timestampLayout, v.text)
	if v.kind != text || err != nil {
		return 0, "The %s field must be a moment like " + timestampLayout + "."
	}
	return Timestamp(t.UnixMicro()), ""
}

// checkText trims *s, puts it in NFC (Unicode Standard Annex #15) and checks that it has 1 to Max characters.
func checkText(f *FieldInfo, s *string) (problem string, args []any) {
	*s = norm.NFC.String(strings.TrimSpace(*s))
	switch {
	case *s == "":
		return MustBeRequired, nil
	case !utf8.ValidString(*s) || strings.ContainsRune(*s, 0):
		return MustBeUTF8, nil
	case int64(utf8.RuneCountInString(*s)) > f.Max:
		return "The %s field must not be greater than %d characters.", []any{f.Max}
	}
	if f.Syntax != nil {
		canonical, ok := f.Syntax.Parse(*s)
		if !ok {
			return f.Syntax.Problem, nil
		}
		*s = canonical
	}
	return "", nil
}

func checkID(_ *FieldInfo, id *ID) (problem string, args []any) {
	if *id < 1 {
		return MustExist, nil
	}
	return "", nil
}

func checkInt(f *FieldInfo, n *int) (problem string, args []any) {
	return f.bounds(int64(*n), func(bound int64) string { return strconv.FormatInt(bound, 10) })
}

// checkCents writes whole bounds without decimals.
func checkCents(f *FieldInfo, c *Cents) (problem string, args []any) {
	return f.bounds(int64(*c), func(bound int64) string {
		return strings.TrimSuffix(Cents(bound).String(), ".00")
	})
}

func (f *FieldInfo) bounds(n int64, text func(int64) string) (problem string, args []any) {
	switch {
	case n < f.Min:
		return "The %s field must be at least %s.", []any{text(f.Min)}
	case n > f.Max:
		return "The %s field must not be greater than %s.", []any{text(f.Max)}
	}
	return "", nil
}

func checkDate(_ *FieldInfo, d *Date) (problem string, args []any) {
	if *d == (Date{}) {
		return MustBeDate, nil
	}
	return "", nil
}
