package model

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// ID is the number of a row, from 1. GraphQL prints it as "12" and takes 12 or
// "12" (GraphQL October 2021, section 3.5.5).
type ID int64

// ParseID returns the number of a row that is written in decimal. Of any other text
// it is -1, which no row has.
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
	if v == nil { // only where an id may be left out
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

// NodeID makes a global id of a type's name and a row's number.
func NodeID(typename string, id ID) string {
	return base64.RawURLEncoding.EncodeToString([]byte(typename + ":" + id.String()))
}

// ParseNodeID takes a global id apart. ok is false where it is not one.
func ParseNodeID(nodeID string) (typename string, id ID, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(nodeID)
	if err != nil {
		return "", 0, false
	}
	typename, number, _ := strings.Cut(string(raw), ":")
	id = ParseID(number)
	return typename, id, id > 0 && NodeID(typename, id) == nodeID // it has one spelling
}

// BigInt is an integer of 64 bits, which GraphQL's Int cannot hold. It is
// written as a string.
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

// Cents is an exact amount of money in hundredths. It is written with two
// decimals, "19.99", and never passes through a float.
type Cents int64

// MaxPrice is the highest price a book may have, 99,999,999.99.
const MaxPrice Cents = 9_999_999_999

// ParseCents reads a decimal number with an optional exponent, as in JSON
// (RFC 8259 section 6), and rounds it half up to two decimals on its text.
// Amounts past ±10^15 are cut to that, which is past every bound. ok is false
// where text is no such number.
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

// parseDecimal is as ParseCents, but rounds towards zero: it returns the digit that
// follows the cents, and reports whether all that follow are 0.
func parseDecimal(text string) (c Cents, next int, exact, ok bool) {
	const limit = 15 // digits before the point
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
	point := len(whole) + exponent // where the point stands in digits
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

// parseExponent bounds the exponent, so that no text makes a loop long.
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

// Decimal is the text of an amount in a filter, which is not rounded.
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

// Date is a calendar day of the years 1 to 9999, in the proleptic Gregorian
// calendar and without a time zone.
type Date struct {
	Year  int16
	Month uint8 // 1 to 12
	Day   uint8 // 1 to 31
}

// ParseDate reads YYYY-MM-DD. Of a date-time (RFC 3339) it takes the date as
// written. ok is false where text is no day that exists.
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

// DateOf returns the day of t in t's own zone.
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

// Scan implements sql.Scanner, for a time, a text, and the days since 1970-01-01.
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

// Timestamp is a moment in microseconds since 1970-01-01 UTC.
type Timestamp int64

// timestampLayout is ISO 8601 with six digits of seconds and a Z.
const timestampLayout = "2006-01-02T15:04:05.000000Z"

// minTimestamp and maxTimestamp are the moments of the years 1 to 9999.
const (
	minTimestamp Timestamp = -62_135_596_800_000_000
	maxTimestamp Timestamp = 253_402_300_799_999_999
)

// IsValid reports whether the moment is in the years 1 to 9999, as both engines hold it
// and the format can say it.
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

// Scan implements sql.Scanner: PostgreSQL's driver has a time, SQLite's a text.
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

// scalarText returns the text of a scalar that may be written as a string or as
// a number. A number is a float only where its text was not passed on.
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

// fieldError is the error of a scalar that does not know its field. The caller that
// knows it replaces %s by its name.
func fieldError(message string) error {
	return &Error{Code: BadUserInput, Message: message, Fields: FieldErrors{{Message: message}}}
}

var (
	_ graphql.Unmarshaler = (*ID)(nil)
	_ graphql.Unmarshaler = (*BigInt)(nil)
	_ graphql.Unmarshaler = (*Cents)(nil)
	_ graphql.Unmarshaler = (*Date)(nil)
	_ graphql.Unmarshaler = (*Timestamp)(nil)
)
