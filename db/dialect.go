package db

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/pressly/goose/v3"

	"library-catalogue/graph/model"
)

// dialect is what forces two SQL texts, or two ways to read an answer.
type dialect interface {
	name() string
	goose() goose.Dialect
	// exclude keeps other processes from migrating until release is called, as
	// far as the engine has a lock for that.
	exclude(ctx context.Context, p *pool) (release func(), err error)
	// finish follows the migrations at each start: it makes what the database's
	// user may not be allowed to make.
	finish(ctx context.Context, p *pool) error
	// keys makes a set of ids one argument, and array one of []int64 or []string;
	// in compares a column with it.
	keys(ids []model.ID) any
	array(values any) any
	in(column, placeholder string) string
	// byKeys writes FROM and WHERE of the rows r of a table that have the keys $1,
	// which differ. What stands before it in FROM ends with a comma.
	byKeys(table string) string
	// folded is the folded form of a column's text, and tells whether it is stored:
	// there may then be an index by it.
	folded(column string) (expression string, stored bool)
	// sortKey is model.SortKey of a text whose folded form is given.
	sortKey(folded string) string
	// bytewise is a text that is compared by its bytes.
	bytewise(text string) string
	// match writes that a text has operand in it, at its start or at its end: op is
	// one of the folded operations, though nothing is folded here. The text is a
	// column of the table, which may have an index for its parts.
	match(w *statement, table string, op model.Op, text, operand string) string
	// covered tells whether an index has all that the books of a page are chosen by:
	// rows are then read only of the page itself.
	covered(p *model.Page) bool
	// day and moment are a date and a timestamp, as they are cheapest to give and
	// to scan.
	day(column string) string
	moment(column string) string
	// year is the year of a date as an integer.
	year(date string) string
	// now is the expression of this moment, as created_at holds it.
	now() string
	// olderThan is the condition that a created_at is older than so many hours.
	olderThan(column string, hours int) string
	// forUpdate follows a SELECT whose rows nobody else may change or point at
	// until the transaction ends.
	forUpdate() string
	// forReference follows a SELECT whose rows nobody else may delete until the
	// transaction ends.
	forReference() string
	// impatient is the call that lets a transaction fail where it would wait longer
	// for a lock; empty where it waits for none.
	impatient(atMost time.Duration) string
	// newRows writes the rows of an INSERT, which are stored in their order, once the
	// engine has made a call, which may be empty. newValues gives its arguments.
	newRows(columns []string, before string, rows int) string
	newValues(rows [][]any) []any
	// rowValues tells whether an index on expressions serves a comparison of rows.
	rowValues() bool
	// lateral tells whether a subquery in FROM may use the tables before it.
	lateral() bool
	// cursor writes what lets the rows of a SELECT be read in parts, with other
	// statements in between: what comes first, and what then gives so many rows each
	// time. Both are empty where the SELECT itself can be read so.
	cursor(query string, rows int) (declare, fetch string)
	// matches writes the SELECT of the ids that a search finds, and ranked that of
	// the ids with their ranks. best writes the SELECT of those of a page by rank,
	// of a search that finds many, without a look at all of them; empty where the
	// engine has no quick way. upTo counts the rows of a SELECT up to a number.
	matches(w *statement, q *search) string
	ranked(w *statement, q *search) string
	best(w *statement, q *search, p *model.Page, descending []bool) string
	upTo(rows string, most int) string
	// vocabulary writes the SELECT of the words of a table, of a length, that fit a
	// pattern at least, and perhaps of others. living writes the SELECT of those of
	// the words that the table still has.
	vocabulary(w *statement, table string, shortest, longest int, patterns []string) string
	living(w *statement, table string, words []string) string
	// snapshot are the options of a transaction that reads from one snapshot.
	snapshot() *sql.TxOptions
	// explain gives the plan of a statement, as JSON.
	explain(ctx context.Context, h handle, text string, args []any) (json.RawMessage, error)
	// classify says what an error of the driver means.
	classify(err error) fault
}

// fault is what an error of a driver means for the one who asked.
type fault int

const (
	unknown     fault = iota
	foreignKey        // a row points, or would point, at one that does not exist
	givenUp           // the transaction was given up for another's sake; run it again
	unavailable       // the database is away
	late              // the database took too long, or the statement was called off
	full              // its disk is
)
