package model

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// codec is how the values of a kind are read, checked and written.
type codec[V comparable] struct {
	kind          Kind
	appendGraphQL func(dst []byte, v V) []byte
	appendREST    func(dst []byte, v V) []byte
	text          func(V) string                        // in a cell of a file
	read          func(Value) (v V, problem string)     // from a Form
	check         func(*FieldInfo, *V) (problem string) // against the bounds; nil: never written
}

var (
	textCodec      = codec[string]{KindText, AppendString, AppendString, func(s string) string { return s }, readText, checkText}
	idCodec        = codec[ID]{KindID, appendQuoted, appendNumber[ID], ID.String, readID, checkID}
	intCodec       = codec[int]{KindInt, appendNumber[int], appendNumber[int], strconv.Itoa, readInteger, checkInt}
	versionCodec   = codec[int64]{kind: KindInt, appendGraphQL: appendNumber[int64], appendREST: appendNumber[int64]}
	centsCodec     = codec[Cents]{KindCents, appendCents, appendCents, Cents.String, readPrice, checkCents}
	dateCodec      = codec[Date]{KindDate, appendDate, appendDate, Date.String, readDate, checkDate}
	timestampCodec = codec[Timestamp]{kind: KindTimestamp, appendGraphQL: appendTimestamp, appendREST: appendTimestamp}
)

func appendNumber[N ~int | ~int64](dst []byte, n N) []byte {
	return strconv.AppendInt(dst, int64(n), 10)
}
func appendQuoted(dst []byte, id ID) []byte          { return id.AppendJSON(dst) }
func appendCents(dst []byte, c Cents) []byte         { return c.AppendJSON(dst) }
func appendDate(dst []byte, d Date) []byte           { return d.AppendJSON(dst) }
func appendTimestamp(dst []byte, t Timestamp) []byte { return t.AppendJSON(dst) }

// checkText trims *s and holds it to 1..Max characters.
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

// checkCents tells a lower bound without its decimals, as it always has.
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
