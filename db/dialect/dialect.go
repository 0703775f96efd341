// Package dialect is what PostgreSQL and SQLite force to differ in SQL: mostly
// text, as data. What only one package needs of an engine stands in that package.
package dialect

import (
	"database/sql"
	"fmt"
	"strings"

	"library-catalogue/graph/model"
)

// Dialect is the SQL of an engine. The fields in lower case are formats of
// fmt.Sprintf; the methods fill them in.
type Dialect struct {
	Name string // as the folder of its migrations

	// Postgres reports whether the engine can do what SQLite cannot: LATERAL, arrays
	// as arguments, a comparison of rows by an index on expressions, and cursors
	// beside other statements of the same transaction.
	Postgres bool

	Now         string         // this moment, as created_at holds it
	ForUpdate   string         // follows a SELECT whose rows nobody else may change or point at
	ForKeyShare string         // follows a SELECT whose rows nobody else may delete
	ByteOrder   string         // follows a text that is compared by its bytes
	Snapshot    *sql.TxOptions // of a transaction that reads from one snapshot

	in, byIDs, sortKey, date, timestamp, year, hoursAgo string

	unfolded string // the column whose folded form is not stored
	array    func(values any) any
	match    func(op model.Op, text, operand string, arg func(any) string) string
}

// In returns the condition that a column has one of the values of an Array.
func (d *Dialect) In(column, placeholder string) string {
	return fmt.Sprintf(d.in, column, placeholder)
}

// Array returns a slice of model.ID, int64 or string as one argument.
func (d *Dialect) Array(values any) any {
	if ids, ok := values.([]model.ID); ok {
		numbers := make([]int64, len(ids))
		for i, id := range ids {
			numbers[i] = int64(id)
		}
		values = numbers
	}
	return d.array(values)
}

// ByIDs returns FROM and WHERE of the rows r of a table whose ids are in the Array
// that is the first argument, and distinct.
func (d *Dialect) ByIDs(table string) string { return fmt.Sprintf(d.byIDs, table) }

// SortKey returns collate.SortKey of a text whose folded form is given.
func (d *Dialect) SortKey(folded string) string { return fmt.Sprintf(d.sortKey, folded) }

// Folded returns the folded form of a column's text, and reports whether it is
// stored: there may then be an index by it.
func (d *Dialect) Folded(column string) (expression string, stored bool) {
	if d.unfolded != "" && strings.HasSuffix(column, "."+d.unfolded) {
		return "fold(" + column + ")", false
	}
	return column + "_fold", true
}

// Date returns a column of dates in the form that is cheapest to read.
func (d *Dialect) Date(column string) string { return fmt.Sprintf(d.date, column) }

// Timestamp returns a column of timestamps in the form that is cheapest to read.
func (d *Dialect) Timestamp(column string) string { return fmt.Sprintf(d.timestamp, column) }

// Year returns the year of a date as an integer.
func (d *Dialect) Year(date string) string { return fmt.Sprintf(d.year, date) }

// HoursAgo returns the moment so many hours before Now.
func (d *Dialect) HoursAgo(hours int) string { return fmt.Sprintf(d.hoursAgo, hours) }

// Match returns the condition that a text has operand in it, at its start or at its
// end: op is ContainsFolded, StartsWithFolded or EndsWithFolded, though nothing is
// folded here. arg returns the placeholder of an argument.
func (d *Dialect) Match(op model.Op, text, operand string, arg func(any) string) string {
	return d.match(op, text, operand, arg)
}
