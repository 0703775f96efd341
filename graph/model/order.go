package model

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Order is a total order of rows: by its keys, then by id.
type Order struct {
	Keys         []OrderKey
	IDDescending bool
	kinds        []Kind
}

// OrderKey is an order field, by its name in the enum. Text sorts by SortKey or NaturalKey.
type OrderKey struct {
	Field      string
	Descending bool
}

// OrderBy is a sort field and its direction in GraphQL.
type OrderBy struct {
	Field     string
	Direction string // ASC or DESC
}

// parseOrder checks the orderBy argument of a type. The error is BadUserInput. Rows with equal keys
// sort by id in the direction of the last key, so that one index serves both directions.
func parseOrder(typename string, orderBy []*OrderBy, searched bool) (Order, error) {
	var order Order
	if len(orderBy) == 0 && searched {
		orderBy = []*OrderBy{{Field: Relevance}}
	}
	used := map[string]bool{}
	for i, by := range orderBy {
		field, descending := by.Field, by.Direction == "DESC"
		kind, known := Entities[typename].orderKind(field)
		path := "orderBy." + strconv.Itoa(i) + ".field"
		switch {
		case !known:
			return order, BadArgument(path, "There is no field %s to order by.", field)
		case used[field]:
			return order, BadArgument(path, "The field %s is given twice.", field)
		case field == Relevance && !searched:
			return order, BadArgument(path, "To order by RELEVANCE, give a search.")
		}
		used[field] = true
		order.IDDescending = descending
		if field == "ID" {
			break // further keys have no effect
		}
		order.Keys = append(order.Keys, OrderKey{field, descending})
		order.kinds = append(order.kinds, kind)
	}
	return order, nil
}

// Place is where a row stands in an order: its keys, int64 or string, and its id.
type Place struct {
	Keys []any
	ID   ID
}

// compare returns -1 if a precedes b in the order, 1 if it follows b, and 0 if they are equal.
func (o *Order) compare(a, b *Place) int {
	for i, key := range o.Keys {
		c := 0
		switch v := a.Keys[i].(type) {
		case int64:
			c = cmp.Compare(v, b.Keys[i].(int64))
		case string:
			c = strings.Compare(v, b.Keys[i].(string))
		}
		if c != 0 {
			return directed(c, key.Descending)
		}
	}
	return directed(cmp.Compare(a.ID, b.ID), o.IDDescending)
}

func directed(c int, descending bool) int {
	if descending {
		return -c
	}
	return c
}

// A cursor is base64url of a four-byte hash of type and order, the row's keys, and its id as a
// varint.

// AppendKey appends a key to a row's OrderKeys: a number as a varint, a text after its length.
func AppendKey(dst []byte, key any) []byte {
	switch key := key.(type) {
	case int64:
		return binary.AppendVarint(dst, key)
	case string:
		return append(binary.AppendUvarint(dst, uint64(len(key))), key...)
	}
	return dst
}

func (o *Order) encodeCursor(typename string, row Node) string {
	raw := append(o.hash(typename), row.OrderKeys()...)
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(raw, uint64(row.RowID())))
}

func (o *Order) decodeCursor(typename, cursor string) (*Place, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	hash := o.hash(typename)
	if err != nil || len(raw) <= len(hash) || string(raw[:len(hash)]) != string(hash) {
		return nil, false
	}
	rest := raw[len(hash):]
	p := &Place{}
	encoded := hash
	for _, kind := range o.kinds {
		key, size := decodeKey(kind, rest)
		if key == nil {
			return nil, false
		}
		p.Keys, rest, encoded = append(p.Keys, key), rest[size:], AppendKey(encoded, key)
	}
	id, _ := binary.Uvarint(rest)
	p.ID = ID(id)
	// Refuse other spellings of the same cursor.
	return p, p.ID > 0 && base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(encoded, id)) == cursor
}

// decodeKey returns a key and its length, or nil if there is none.
func decodeKey(k Kind, raw []byte) (key any, size int) {
	if k.IsNumber() {
		n, size := binary.Varint(raw)
		if size <= 0 || k == KindInt && int64(int32(n)) != n {
			return nil, 0
		}
		return n, size
	}
	length, size := binary.Uvarint(raw)
	if size <= 0 || length > uint64(len(raw)-size) {
		return nil, 0
	}
	text := string(raw[size : size+int(length)])
	valid := utf8.ValidString(text) && !strings.ContainsRune(text, 0)
	switch k {
	case KindDate:
		d, ok := ParseDate(text)
		valid = ok && d.String() == text
	case KindTimestamp:
		var t Timestamp
		err := t.UnmarshalGQL(text)
		valid = err == nil && t.IsValid() && t.String() == text
	}
	if !valid {
		return nil, 0
	}
	return text, size + int(length)
}

func (o *Order) hash(typename string) []byte {
	h := fnv.New32a()
	h.Write([]byte(typename + " by "))
	h.Write(o.key(nil))
	if slices.Contains(o.kinds, KindNatural) { // these keys were folded texts
		h.Write([]byte("natural"))
	}
	return h.Sum(nil)
}

// key appends a text that identifies the order.
func (o *Order) key(dst []byte) []byte {
	for _, key := range o.Keys {
		dst = append(append(dst, key.Field...), direction(key.Descending)...)
	}
	return append(append(dst, "id"...), direction(o.IDDescending)...)
}

func direction(descending bool) string {
	if descending {
		return " desc "
	}
	return ""
}
