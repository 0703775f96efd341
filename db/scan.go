package db

import (
	"encoding/binary"
	"fmt"

	"library-catalogue/graph/model"
)

// database/sql has a fast way only for the driver's own types: what is scanned
// into a named integer it prints and parses again. The columns are therefore
// scanned into int64 where that is what a type is made of, and by the scanners
// here where it is not.

// scanTarget returns where the value of a field is scanned to, of which p is the pointer.
func scanTarget(p any) any {
	switch p := p.(type) {
	case *model.ID:
		return (*int64)(p)
	case *model.Cents:
		return (*int64)(p)
	case *int:
		return (*number)(p)
	case *model.Timestamp:
		return (*timestamp)(p)
	case **string:
		return &nullableText{target: p}
	}
	return p
}

// newKey returns where a key of an order is scanned to.
func newKey(kind model.Kind) any {
	switch kind {
	case model.KindText:
		return new(string)
	case model.KindDate:
		return new(model.Date)
	case model.KindTimestamp:
		return new(model.Timestamp)
	}
	return new(int64)
}

// keyValue returns a key that was scanned as model.Position has it.
func keyValue(key any) any {
	switch key := key.(type) {
	case *string:
		return *key
	case *int64:
		return *key
	}
	return key.(fmt.Stringer).String() // *model.Date or *model.Timestamp
}

// number scans an int that fits.
type number int

// Scan implements sql.Scanner.
func (n *number) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("no integer: %v", src)
	}
	*n = number(v)
	return nil
}

// nullableText scans a text that may be null.
type nullableText struct {
	target **string
	texts  slab[string]
}

// Scan implements sql.Scanner.
func (n *nullableText) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*n.target = nil
	case string:
		*n.target = n.texts.add(v)
	case []byte:
		*n.target = n.texts.add(string(v))
	default:
		return fmt.Errorf("no text: %v", src)
	}
	return nil
}

// timestamp scans what the dialect's Timestamp returns.
type timestamp model.Timestamp

// epoch is 2000-01-01, from which PostgreSQL counts, in microseconds since 1970.
const epoch = 946_684_800_000_000

// Scan implements sql.Scanner.
func (t *timestamp) Scan(src any) error {
	if binaryForm, ok := src.([]byte); ok && len(binaryForm) == 8 {
		*t = timestamp(int64(binary.BigEndian.Uint64(binaryForm)) + epoch)
		return nil
	}
	return (*model.Timestamp)(t).Scan(src)
}
