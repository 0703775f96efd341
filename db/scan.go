package db

import "fmt"

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
type nullable struct{ into **string }

// Scan implements sql.Scanner.
func (n nullable) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*n.into = nil
	case string:
		*n.into = &v
	case []byte:
		s := string(v)
		*n.into = &s
	default:
		return fmt.Errorf("no text: %v", src)
	}
	return nil
}
