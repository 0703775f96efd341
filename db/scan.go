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

// nullable scans a text that may be null.
type nullable struct {
	into  **string
	texts slab[string]
}

// Scan implements sql.Scanner.
func (n *nullable) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*n.into = nil
	case string:
		*n.into = n.texts.keep(v)
	case []byte:
		*n.into = n.texts.keep(string(v))
	default:
		return fmt.Errorf("no text: %v", src)
	}
	return nil
}

// moment scans what the dialect's moment gives.
type moment model.Timestamp

// epoch is 2000-01-01, from which PostgreSQL counts, in microseconds since 1970.
const epoch = 946_684_800_000_000

// Scan implements sql.Scanner.
func (m *moment) Scan(src any) error {
	if binaryForm, ok := src.([]byte); ok && len(binaryForm) == 8 {
		*m = moment(int64(binary.BigEndian.Uint64(binaryForm)) + epoch)
		return nil
	}
	return (*model.Timestamp)(m).Scan(src)
}
