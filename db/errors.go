package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"

	"github.com/lib/pq"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"library-catalogue/db/postgres"
	"library-catalogue/graph/model"
)

var (
	errForeignKey = errors.New("foreign key violation")
	errRetry      = model.ErrRetry // nothing was stored, and it may be run again
	errDiskFull   = errors.New("no space is left for the database")
	errTimeout    = errors.New("not answered in time, or canceled")
	errNotStarted = errors.New("the database was not there yet since this program's start")
)

// translate returns what an error of the database means: errForeignKey, errRetry, or
// a model.Error. What is one already stays as it is.
func translate(err error) error {
	if err == nil || errors.Is(err, errForeignKey) || errors.Is(err, errRetry) {
		return err
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return err
	}
	switch classify(err) {
	case foreignKeyFault:
		return errors.Join(errForeignKey, err)
	case retryFault:
		return errors.Join(errRetry, err)
	case diskFullFault:
		return &model.Error{
			Code:    model.Unavailable,
			Message: "The database has no room for changes. Try again later.",
			Err:     errors.Join(errDiskFull, err),
		}
	case noIDFault:
		return noID(err)
	case deniedFault:
		return &model.Error{Code: model.Unavailable, Message: "The database does not let this server do that: its role lacks a privilege.", Err: err}
	case readOnlyFault:
		return &model.Error{
			Code:    model.Unavailable,
			Message: "The database takes no changes now: it is a standby, or read-only. Reads go on. Try again later.",
			Err:     err,
		}
	case unavailableFault, refusedFault:
		return unavailable(err)
	case timeoutFault:
		return unavailable(errors.Join(errTimeout, err))
	}
	return model.AsError(err)
}

// fault is what an error means for the caller.
type fault int

const (
	otherFault       fault = iota
	foreignKeyFault        // a row points, or would point, at one that does not exist
	retryFault             // rolled back for another's sake, or the connection broke: run it again
	unavailableFault       // the database is away
	refusedFault           // it lets this program in no more, or does not exist
	noIDFault              // the identity column is at its end
	deniedFault            // this program's role lacks a privilege
	readOnlyFault          // it takes no changes: a standby, or set so
	timeoutFault           // the database took too long, or the statement was canceled
	diskFullFault
)

// classify returns what an error of either driver, or of the network, means.
func classify(err error) fault {
	meaning := otherFault
	if e, ok := errors.AsType[*pq.Error](err); ok {
		meaning = classifyPostgres(e)
	} else if e, ok := errors.AsType[*sqlite.Error](err); ok {
		meaning = classifySQLite(e)
	}
	_, network := errors.AsType[net.Error](err)
	switch {
	case meaning != otherFault:
		return meaning
	case connectionLost(err):
		return retryFault
	case network, canceled(err), errors.Is(err, postgres.ErrConnect), errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone):
		return unavailableFault
	}
	return otherFault
}

// uniqueViolation is the code of PostgreSQL for a key that is there already. Only those of
// the identity columns can be.
const uniqueViolation = "23505"

// classifyPostgres follows PostgreSQL's manual, appendix A: error codes.
func classifyPostgres(e *pq.Error) fault {
	switch {
	case e.Code == "23503":
		return foreignKeyFault
	case e.Code == "40001", e.Code == "40P01", // serialization failure, deadlock
		e.Code == uniqueViolation: // the new id is there already: see passTakenIDs
		return retryFault
	case e.Code == "2200H":
		return noIDFault
	case e.Code == "53100":
		return diskFullFault
	case e.Code == "57014", e.Code == "55P03": // canceled, or a lock was not available in time
		return timeoutFault
	case e.Code.Class() == "28", e.Code == "3D000": // authorization, unknown database
		return refusedFault
	case e.Code == "42501":
		return deniedFault
	case e.Code == "25006": // read-only transaction
		return readOnlyFault
	case e.Code.Class() == "08", e.Code.Class() == "53", e.Code.Class() == "57", // connection, resources, operator
		e.Code == "0A000": // what a standby does not support
		return unavailableFault
	}
	return otherFault
}

// classifySQLite follows https://www.sqlite.org/rescode.html.
func classifySQLite(e *sqlite.Error) fault {
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY {
		return foreignKeyFault
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return diskFullFault
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT:
		return timeoutFault
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return unavailableFault
	}
	return otherFault
}

// IsAway reports whether an error of Start is that of a database that does not answer,
// and may do so later: not of one that refuses who asks.
func IsAway(err error) bool {
	if e, answered := errors.AsType[*pq.Error](err); answered {
		return classifyPostgres(e) == unavailableFault
	}
	_, network := errors.AsType[net.Error](err)
	return network || canceled(err) || errors.Is(err, driver.ErrBadConn)
}

// connectionLost reports whether a connection that was there is there no more. It may
// have been so since it was last used: after a restart of the server all are.
func connectionLost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) && !errors.Is(err, postgres.ErrConnect) ||
		errors.Is(err, postgres.ErrUnanswered) && !timedOut(err) && !canceled(err)
}

// canceled reports whether an error is that of a context that has ended.
func canceled(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// inDoubt is the error of a write of which the database did not say whether it is
// stored. It must not be run again.
func inDoubt(err error) error {
	return &model.Error{
		Code: model.Unavailable, InDoubt: true,
		Message: "The database did not say whether the change is stored. Send the request again with the same Idempotency-Key, or look before you repeat it.",
		Err:     err,
	}
}

func noID(err error) error {
	return &model.Error{
		Code:    model.Unavailable,
		Message: "The database has no id for a new row. Its administrator finds in the server's log what to do.",
		Err:     err,
	}
}

func unavailable(err error) error {
	return &model.Error{
		Code:    model.Unavailable,
		Message: "The database did not answer. Try again in a moment.",
		Err:     err,
	}
}

// notFound is the error of a row that is not there.
func notFound(noun string) error { return model.Errorf(model.NotFound, "%s not found", noun) }

// stale is the error of a row that is not at the version that was expected.
func stale(noun string) error {
	return model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", noun)
}
