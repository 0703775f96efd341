package model

import (
	"slices"
	"strconv"
	"time"
)

// The encoders append JSON values in the formats of GraphQL and /api.

// AppendString appends s in quotes and escapes only what RFC 8259, section 7, requires, like
// gqlgen's executor.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plain(s)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		switch c := s[n]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\t':
			dst = append(dst, '\\', 't')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			const hex = "0123456789ABCDEF"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		s = s[n+1:]
	}
}

// plain returns the length of the prefix that needs no escape (RFC 8259, section 7): no quote,
// backslash or control character. It checks eight bytes at once: a byte below n borrows from its
// highest bit in x - n, and a byte that equals c is below 1 in x ^ c.
func plain(s string) (n int) {
	const ones, highest = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(s); n += 8 {
		x := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		quote, backslash := x^ones*'"', x^ones*'\\'
		if ((x-ones*0x20)&^x|(quote-ones)&^quote|(backslash-ones)&^backslash)&highest != 0 {
			break
		}
	}
	for n < len(s) && s[n] >= 0x20 && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// AppendNullable appends a nullable text.
func AppendNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return AppendString(dst, *s)
}

// AppendNumber appends the id as a number, the format of /api.
func (id ID) AppendNumber(dst []byte) []byte { return strconv.AppendInt(dst, int64(id), 10) }

// AppendJSON appends the id in quotes, the format of GraphQL.
func (id ID) AppendJSON(dst []byte) []byte { return append(id.AppendNumber(append(dst, '"')), '"') }

// AppendJSON appends the integer in quotes.
func (n BigInt) AppendJSON(dst []byte) []byte {
	return append(strconv.AppendInt(append(dst, '"'), int64(n), 10), '"')
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

// AppendJSON appends the date as YYYY-MM-DD in quotes.
func (d Date) AppendJSON(dst []byte) []byte { return append(d.append(append(dst, '"')), '"') }

func (d Date) append(dst []byte) []byte {
	year := int(d.Year)
	dst = append(append2(append2(dst, year/100), year%100), '-')
	dst = append(append2(dst, int(d.Month)), '-')
	return append2(dst, int(d.Day))
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

// append2 appends a number below 100 as two digits.
func append2(dst []byte, n int) []byte {
	return append(dst, '0'+uint8(n)/10, '0'+uint8(n)%10)
}

// The flat JSON objects of /api: the documented fields of a row, without the rows that it refers to.
var (
	BookJSON = jsonFields(BookFields, nil)
	// NestedGenreJSON is a genre nested in a book.
	NestedGenreJSON = jsonFields(GenreFields, nil)
	// GenreJSON is a genre that is not nested. It has its id twice, as id and genre_id, because /api defines both.
	GenreJSON = slices.Insert(slices.Clone(NestedGenreJSON), NestedGenreJSON.index("category_id"), jsonField[Genre]{
		`"genre_id":`, func(dst []byte, g *Genre) []byte { return g.ID.AppendNumber(dst) },
	})
	CategoryJSON = jsonFields(CategoryFields, nil)
)

// JSONFields are the fields of a JSON object of /api, in the documented order.
type JSONFields[T any] []jsonField[T]

type jsonField[T any] struct {
	key         string // quoted, with a colon
	appendValue func(dst []byte, row *T) []byte
}

// BookJSONWith is BookJSON with the OnInclude fields that have one of the keys, or with all for the key "all".
func BookJSONWith(keys []string) JSONFields[Book] { return jsonFields(BookFields, keys) }

func jsonFields[T any](fields []RowField[T], included []string) JSONFields[T] {
	var shown JSONFields[T]
	for _, f := range fields {
		if f.Is(InREST) || f.Is(OnInclude) && (slices.Contains(included, f.Key) || slices.Contains(included, "all")) {
			shown = append(shown, jsonField[T]{`"` + f.Key + `":`, f.AppendREST})
		}
	}
	return shown
}

func (fields JSONFields[T]) index(key string) int {
	return slices.IndexFunc(fields, func(f jsonField[T]) bool { return f.key == `"`+key+`":` })
}

// Before returns the fields before the one with a key.
func (fields JSONFields[T]) Before(key string) JSONFields[T] { return fields[:fields.index(key)] }

// Append appends a row as a JSON object without its closing brace.
func (fields JSONFields[T]) Append(dst []byte, row *T) []byte {
	for i, f := range fields {
		if i == 0 {
			dst = append(dst, '{')
		} else {
			dst = append(dst, ',')
		}
		dst = f.appendValue(append(dst, f.key...), row)
	}
	return dst
}
