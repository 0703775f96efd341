package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// ID is the id of a row, from 1. GraphQL writes "12" and accepts 12 and "12" (GraphQL September 2025,
// section 3.5.5).
type ID int64

// ParseID parses a decimal id. Other texts return -1, which is no row's id.
func ParseID(text string) ID {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return -1
	}
	return ID(n)
}

func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalGQL implements graphql.Marshaler.
func (id ID) MarshalGQL(w io.Writer) { w.Write(id.AppendJSON(nil)) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (id *ID) UnmarshalGQL(v any) error {
	if v == nil { // only for nullable ids
		*id = 0
		return nil
	}
	text, ok := scalarText(v)
	if !ok {
		return fieldError("The %s field must be an id.")
	}
	*id = ParseID(text)
	return nil
}

// AppendJSON appends the id in quotes, the format of GraphQL.
func (id ID) AppendJSON(dst []byte) []byte { return append(id.AppendNumber(append(dst, '"')), '"') }

// AppendNumber appends the id as a number, the format of /api.
func (id ID) AppendNumber(dst []byte) []byte { return strconv.AppendInt(dst, int64(id), 10) }

// MarshalInt writes an Int.
func MarshalInt(n int) graphql.Marshaler { return graphql.MarshalInt(n) }

// UnmarshalInt reads an Int!. It refuses null, which a nullable variable may pass although the argument has a default
// (GraphQL September 2025, section Coercing Argument Values). gqlgen would read 0.
func UnmarshalInt(v any) (int, error) {
	if v == nil {
		return 0, &Error{Code: BadUserInput, Message: "An argument of the type Int! must not be null."}
	}
	return graphql.UnmarshalInt(v)
}

// BigInt is a 64-bit integer, too large for GraphQL's Int. It is written as a string.
type BigInt int64

func (n BigInt) String() string { return strconv.FormatInt(int64(n), 10) }

// MarshalGQL implements graphql.Marshaler.
func (n BigInt) MarshalGQL(w io.Writer) { w.Write(n.AppendJSON(nil)) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (n *BigInt) UnmarshalGQL(v any) error {
	text, _ := scalarText(v)
	parsed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return fieldError("The %s field must be an integer.")
	}
	*n = BigInt(parsed)
	return nil
}

// AppendJSON appends the integer in quotes.
func (n BigInt) AppendJSON(dst []byte) []byte {
	return append(strconv.AppendInt(append(dst, '"'), int64(n), 10), '"')
}

// Cents is an exact amount in hundredths. It is written with two decimals, "19.99", without floats.
type Cents int64

// MaxPrice is the maximum price of a book, 99,999,999.99.
const MaxPrice Cents = 9_999_999_999

// ParseCents parses a JSON number (RFC 8259, section 6) and rounds it half up to two decimals. It
// saturates at ±10^15, beyond all bounds. ok is false for an invalid number.
func ParseCents(text string) (c Cents, ok bool) {
	c, next, _, ok := parseDecimal(text)
	switch {
	case next < 5:
		return c, ok
	case strings.HasPrefix(text, "-"):
		return c - 1, ok
	}
	return c + 1, ok
}

// parseDecimal parses like ParseCents, but rounds towards zero. It returns the first digit after
// the cents, and whether all further digits are 0.
func parseDecimal(text string) (c Cents, next int, exact, ok bool) {
	const limit = 15 // maximum digits before the point
	rest, negative := strings.CutPrefix(text, "-")
	if !negative {
		rest = strings.TrimPrefix(rest, "+")
	}
	mantissa, exponent := rest, 0
	if i := strings.IndexAny(rest, "eE"); i >= 0 {
		mantissa = rest[:i]
		var err error
		if exponent, err = parseExponent(rest[i+1:]); err != nil {
			return 0, 0, false, false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, 0, false, false
	}
	point := len(whole) + exponent // position of the point in digits
	trimmed := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(trimmed)
	at := func(i int) int {
		if i < 0 || i >= len(trimmed) {
			return 0
		}
		return int(trimmed[i] - '0')
	}
	switch {
	case trimmed == "":
		return 0, 0, true, true
	case point < -2:
		return 0, 0, false, true
	case point > limit:
		c, exact = 1e17, true
	default:
		for i := range point + 2 {
			c = c*10 + Cents(at(i))
		}
		next, exact = at(point+2), strings.Trim(trimmed[min(point+2, len(trimmed)):], "0") == ""
	}
	if negative {
		c = -c
	}
	return c, next, exact, true
}

// parseExponent clamps the exponent to bound the loops.
func parseExponent(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) {
		err = nil
	}
	return min(max(n, -1_000_000_000), 1_000_000_000), err
}

func (c Cents) String() string { return string(c.append(nil)) }

// MarshalText implements encoding.TextMarshaler.
func (c Cents) MarshalText() ([]byte, error) { return c.append(nil), nil }

// MarshalGQL implements graphql.Marshaler.
func (c Cents) MarshalGQL(w io.Writer) { w.Write(c.AppendJSON(nil)) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (c *Cents) UnmarshalGQL(v any) error {
	text, ok := scalarText(v)
	if ok {
		*c, ok = ParseCents(strings.TrimSpace(text))
	}
	if !ok {
		return fieldError("The %s field must be a number.")
	}
	return nil
}

// AppendJSON appends the amount as a string with two decimals.
func (c Cents) AppendJSON(dst []byte) []byte { return append(c.append(append(dst, '"')), '"') }

func (c Cents) append(dst []byte) []byte {
	if c < 0 {
		dst, c = append(dst, '-'), -c
	}
	dst = append(strconv.AppendInt(dst, int64(c/100), 10), '.')
	return append2(dst, int(c%100))
}

// Decimal is an amount in a filter, as unrounded text.
type Decimal string

func (d Decimal) String() string { return string(d) }

// MarshalGQL implements graphql.Marshaler.
func (d Decimal) MarshalGQL(w io.Writer) { graphql.MarshalString(string(d)).MarshalGQL(w) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (d *Decimal) UnmarshalGQL(v any) error {
	text, _ := scalarText(v)
	*d = Decimal(strings.TrimSpace(text))
	_, ok := ParseCents(string(*d))
	if !ok {
		return fieldError("The %s field must be a number.")
	}
	return nil
}

// Date is a calendar date of the years 1 to 9999 (proleptic Gregorian) without a time zone.
type Date struct {
	Year  int16
	Month uint8 // 1 to 12
	Day   uint8 // 1 to 31
}

// IsYear reports whether the date stands for a year without month and day: whether it is 1 January.
func (d Date) IsYear() bool { return d.Month == 1 && d.Day == 1 }

// ParseDate parses YYYY-MM-DD, or the date of a date-time (RFC 3339). ok is false for an invalid
// date.
func ParseDate(text string) (d Date, ok bool) {
	if len(text) > len(time.DateOnly) {
		if c := text[len(time.DateOnly)]; c != 'T' && c != 't' && c != ' ' {
			return Date{}, false
		}
		if !isTimeOfDay(text[len(time.DateOnly)+1:]) {
			return Date{}, false
		}
		text = text[:len(time.DateOnly)]
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1 {
		return Date{}, false
	}
	return DateOf(t), true
}

// isTimeOfDay reports whether text is a time of day with an optional zone.
func isTimeOfDay(text string) bool {
	for _, layout := range []string{"15:04:05Z07:00", "15:04:05", "15:04Z07:00", "15:04", "15:04:05Z0700"} {
		if _, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return true
		}
	}
	return false
}

// DateOf returns the date of t in its own zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{Year: int16(y), Month: uint8(m), Day: uint8(d)}
}

func (d Date) String() string { return string(d.append(nil)) }

// MarshalText implements encoding.TextMarshaler.
func (d Date) MarshalText() ([]byte, error) { return d.append(nil), nil }

// MarshalGQL implements graphql.Marshaler.
func (d Date) MarshalGQL(w io.Writer) { w.Write(d.AppendJSON(nil)) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (d *Date) UnmarshalGQL(v any) error {
	text, ok := v.(string)
	if ok {
		*d, ok = ParseDate(strings.TrimSpace(text))
	}
	if !ok {
		return fieldError("The %s field must be a valid date.")
	}
	return nil
}

// AppendJSON appends the date as YYYY-MM-DD in quotes.
func (d Date) AppendJSON(dst []byte) []byte { return append(d.append(append(dst, '"')), '"') }

func (d Date) append(dst []byte) []byte {
	year := int(d.Year)
	dst = append(append2(append2(dst, year/100), year%100), '-')
	dst = append(append2(dst, int(d.Month)), '-')
	return append2(dst, int(d.Day))
}

// Scan implements sql.Scanner for times, texts and days since 1970-01-01.
func (d *Date) Scan(src any) error {
	switch v := src.(type) {
	case int64:
		*d = DateOf(time.Unix(v*86_400, 0).UTC())
		return nil
	case time.Time:
		*d = DateOf(v)
		return nil
	case string:
		if parsed, ok := ParseDate(v); ok {
			*d = parsed
			return nil
		}
	}
	return fmt.Errorf("no date: %v", src)
}

// Timestamp is a time in microseconds since 1970-01-01 UTC.
type Timestamp int64

// timestampLayout is ISO 8601 with microseconds and Z.
const timestampLayout = "2006-01-02T15:04:05.000000Z"

// minTimestamp and maxTimestamp bound the years 1 to 9999.
const (
	minTimestamp Timestamp = -62_135_596_800_000_000
	maxTimestamp Timestamp = 253_402_300_799_999_999
)

// IsValid reports whether the time is in the years 1 to 9999, the range of the format.
func (t Timestamp) IsValid() bool { return t >= minTimestamp && t <= maxTimestamp }

func (t Timestamp) String() string { return string(t.append(nil)) }

// MarshalGQL implements graphql.Marshaler.
func (t Timestamp) MarshalGQL(w io.Writer) { w.Write(t.AppendJSON(nil)) }

// UnmarshalGQL implements graphql.Unmarshaler.
func (t *Timestamp) UnmarshalGQL(v any) error {
	text, _ := v.(string)
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fieldError("The %s field must be a valid date and time.")
	}
	*t = Timestamp(parsed.UnixMicro())
	return nil
}

// AppendJSON appends the time in UTC with microseconds, in quotes.
func (t Timestamp) AppendJSON(dst []byte) []byte { return append(t.append(append(dst, '"')), '"') }

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil), nil }

func (t Timestamp) append(dst []byte) []byte {
	at := time.UnixMicro(int64(t)).UTC()
	hour, minute, second := at.Clock()
	micros := at.Nanosecond() / 1_000
	dst = append(DateOf(at).append(dst), 'T')
	dst = append(append2(dst, hour), ':')
	dst = append(append2(dst, minute), ':')
	dst = append(append2(dst, second), '.')
	dst = append2(append2(append2(dst, micros/10_000), micros/100%100), micros%100)
	return append(dst, 'Z')
}

// Scan implements sql.Scanner for PostgreSQL's time and SQLite's text.
func (t *Timestamp) Scan(src any) error {
	switch v := src.(type) {
	case time.Time:
		*t = Timestamp(v.UnixMicro())
		return nil
	case string:
		parsed, err := time.Parse(timestampLayout, v)
		*t = Timestamp(parsed.UnixMicro())
		return err
	}
	return fmt.Errorf("no timestamp: %v", src)
}

// scalarText returns the text of a string or number. A number is a float only if its text is lost.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// fieldError returns the error of a scalar. The caller gives its format the field's name.
func fieldError(format string) error {
	return &Error{Code: BadUserInput, Message: format, Fields: FieldErrors{{Message: format}}}
}
