// Package dialect is what PostgreSQL and SQLite force to differ in SQL: capabilities, and
// text as data. What only one package needs of an engine stands in that package.
package dialect

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"library-catalogue/graph/model"
)

// Dialect is the SQL of an engine. The fields in lower case are formats of
// fmt.Sprintf; the methods fill them in.
type Dialect struct {
	Name   string // folder of its migrations
	System string // name in OpenTelemetry
	Goose  string // name in goose

	// Capabilities: code asks for these and not for the engine.
	HasLateral       bool // joins LATERAL, so that one statement reads a page of each of many parents
	HasRowCompare    bool // serves a comparison of rows by an index on expressions
	HasArrays        bool // takes a whole column of new rows as one argument
	HasAdvisoryLocks bool // locks numbers, which no table or row stands for
	HasTrigrams      bool // indexes all parts of texts, by the extension pg_trgm
	HasSequences     bool // numbers rows by a sequence, which does not see ids that were given
	HasHashGroups    bool // groups rows without putting them in order
	EstimatesRows    bool // estimates how many rows a condition leaves, when it plans
	DerivesTexts     bool // makes the folded form and the words of a text itself; else they are given
	NeedsCursors     bool // runs no other statement on a connection while one returns rows
	DeferredJoin     bool // finds rows cheaper by an index alone, where that has all that they are chosen by
	LimitsIndexRows  bool // indexes no long text: books have author_short for their indexes
	TellsUnanswered  bool // its driver tells whether a statement's answer is missing (postgres.ErrUnanswered)

	BindType     int    // placeholders that its driver takes quickest, as in sqlx
	Disks        string // where it writes, for people
	ReadOnly     string // SELECT of whether the server refuses writes
	MayMigrate   string // SELECT of whether the role may change the schema
	SchemaNames  string // SELECT of columns as table.column, again with NOT NULL where they are, and indexes
	BeginRestore string // statement before all rows of a catalogue are stored, which keeps others from writing

	Now         string         // this moment, as created_at holds it
	ForUpdate   string         // follows a SELECT whose rows nobody else may change or point at
	ForKeyShare string         // follows a SELECT whose rows nobody else may delete
	ByteOrder   string         // follows a text that is compared by its bytes
	Snapshot    *sql.TxOptions // of a transaction that reads from one snapshot

	in, byIDs, sortKey, date, timestamp, year, hoursAgo, tableExists, lockTimeout string

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

// TableExists returns the SELECT of whether there is a table.
func (d *Dialect) TableExists(table string) string { return fmt.Sprintf(d.tableExists, table) }

// LockTimeout returns the function call that bounds how long the transaction waits for a
// lock; empty where a writer is alone.
func (d *Dialect) LockTimeout(timeout time.Duration) string {
	if d.lockTimeout == "" {
		return ""
	}
	return fmt.Sprintf(d.lockTimeout, timeout.Milliseconds())
}

// HoursAgo returns the moment so many hours before Now.
func (d *Dialect) HoursAgo(hours int) string { return fmt.Sprintf(d.hoursAgo, hours) }

// Match returns the condition that a text has operand in it, at its start or at its
// end: op is ContainsFolded, StartsWithFolded or EndsWithFolded, though nothing is
// folded here. arg returns the placeholder of an argument.
func (d *Dialect) Match(op model.Op, text, operand string, arg func(any) string) string {
	return d.match(op, text, operand, arg)
}
