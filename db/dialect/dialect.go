// Package dialect describes the differences between the SQL of PostgreSQL and of SQLite:
// capabilities, and text as data. A difference that concerns one package is in that package.
package dialect

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"library-catalogue/graph/model"
)

// Dialect is the SQL of an engine. The fields in lower case are formats of fmt.Sprintf for the
// methods.
type Dialect struct {
	Name   string // folder of its migrations
	System string // name in OpenTelemetry
	Goose  string // name in goose

	// Capabilities. Code checks these instead of the engine.
	HasLateral       bool // LATERAL joins: one statement reads a page of each of many parents
	HasRowCompare    bool // an index on expressions serves row comparisons
	HasArrays        bool // one argument holds a column of many new rows
	HasAdvisoryLocks bool // locks on numbers
	HasManyServers   bool // several servers may share one database
	HasTrigrams      bool // trigram indexes, with the extension pg_trgm
	HasSequences     bool // ids come from a sequence, which explicit ids do not advance
	HasHashGroups    bool // groups rows without sorting them
	EstimatesRows    bool // plans use row estimates
	DerivesTexts     bool // folded forms and words are generated columns; else the program writes them
	NeedsCursors     bool // a connection cannot run another statement while one returns rows
	DeferredJoin     bool // an index-only scan followed by a join is cheaper (deferred join)
	LimitsIndexRows  bool // indexes reject long texts, so books have author_short
	TellsUnanswered  bool // the driver reports a missing response (postgres.ErrUnanswered)
	CompilesTriggers bool // compiling a statement compiles its triggers, which takes long

	BindType   int    // fastest placeholders of the driver, as in sqlx
	Disks      string // subject of the message about a full disk
	Session    string // SELECT that reports whether the server refuses writes, and its process
	MayMigrate string // SELECT that reports whether the role may change the schema
	// SELECT of the names of columns as table.column, of columns with NOT NULL, and of indexes, and the texts of
	// triggers
	SchemaNames  string
	BeginRestore string // statement that starts a restore and blocks other writers
	LogReset     string // statement that logs that all rows may have changed
	SetActor     string // statement that names the transaction's actor and change set, its arguments
	ClearActor   string // statement that ends that; empty if the end of the transaction does
	// statements that let the transaction plan a prepared statement once, by indexes; empty if it does so
	PlanOnce string

	Now         string         // current time in the format of created_at
	ForUpdate   string         // suffix of a SELECT that locks rows against changes and references
	ForKeyShare string         // suffix of a SELECT that locks rows against deletion
	ByteOrder   string         // suffix of a text that is compared by bytes
	Snapshot    *sql.TxOptions // options of a transaction that reads one snapshot
	Committed   *sql.TxOptions // options of one that writes, where each statement sees all commits before it

	in, byIDs, sortKey, date, timestamp, year, hoursAgo, inSeconds, tableExists, lockTimeout, member string

	unfolded string // column without a stored folded form
	array    func(values any) any
	match    func(op model.Op, text, operand string, arg func(any) string) string
}

// In returns the condition that a column is in an Array.
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

// ByIDs returns FROM and WHERE for rows r of a table. Their ids are the first argument, an Array
// without duplicates.
func (d *Dialect) ByIDs(table string) string { return fmt.Sprintf(d.byIDs, table) }

// SortKey returns the expression of collate.SortKey for a folded text.
func (d *Dialect) SortKey(folded string) string { return fmt.Sprintf(d.sortKey, folded) }

// Folded returns the expression of a column's folded text, and whether it is a stored column, which
// can have an index.
func (d *Dialect) Folded(column string) (expression string, stored bool) {
	if d.unfolded != "" && strings.HasSuffix(column, "."+d.unfolded) {
		return "fold(" + column + ")", false
	}
	return column + "_fold", true
}

// Date returns the expression of a date in the format that is cheapest to read.
func (d *Dialect) Date(column string) string { return fmt.Sprintf(d.date, column) }

// Timestamp returns the expression of a timestamp in the format that is cheapest to read.
func (d *Dialect) Timestamp(column string) string { return fmt.Sprintf(d.timestamp, column) }

// Year returns the expression of a date's year.
func (d *Dialect) Year(date string) string { return fmt.Sprintf(d.year, date) }

// Member returns the expression of a member of a JSON object as a value of a kind.
func (d *Dialect) Member(object, name string, kind model.Kind) string {
	return fmt.Sprintf(d.member, object, name, Types[kind])
}

// Types are PostgreSQL's types by kind.
var Types = map[model.Kind]string{
	model.KindText: "text", model.KindID: "bigint", model.KindInt: "integer", model.KindBigInt: "bigint",
	model.KindCents: "bigint", model.KindDate: "date", model.KindTimestamp: "timestamptz",
}

// TableExists returns a SELECT that reports whether a table exists.
func (d *Dialect) TableExists(table string) string { return fmt.Sprintf(d.tableExists, table) }

// LockTimeout returns the function call that bounds how long the transaction waits for a lock. It
// is empty if the engine has only one writer.
func (d *Dialect) LockTimeout(timeout time.Duration) string {
	if d.lockTimeout == "" {
		return ""
	}
	return fmt.Sprintf(d.lockTimeout, timeout.Milliseconds())
}

// HoursAgo returns the expression of the time some hours before Now.
func (d *Dialect) HoursAgo(hours int) string { return fmt.Sprintf(d.hoursAgo, hours) }

// InSeconds returns the expression of the time some seconds after Now. Their number is an argument, as text.
func (d *Dialect) InSeconds(placeholder string) string { return fmt.Sprintf(d.inSeconds, placeholder) }

// Match returns the condition that a text contains, starts with or ends with operand. op is
// ContainsFolded, StartsWithFolded or EndsWithFolded, but Match folds nothing. arg returns the
// placeholder of an argument.
func (d *Dialect) Match(op model.Op, text, operand string, arg func(any) string) string {
	return d.match(op, text, operand, arg)
}
