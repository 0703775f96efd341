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
	errRetry      = model.ErrRetry // nothing was stored; the operation can run again
	errDiskFull   = errors.New("the database has no disk space left")
	errTimeout    = errors.New("the statement timed out or was canceled")
	errPrepared   = errors.New("a prepared statement is missing or belongs to another client")
	errNotStarted = errors.New("the store has not connected to the database yet")
)

// translate turns an error of the database into errForeignKey, errRetry or a model.Error. It
// returns an error that is already one of these unchanged.
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
			Message: "The database has no disk space for changes. Try again later.",
			Err:     errors.Join(errDiskFull, err),
		}
	case noIDFault:
		return noID(err)
	case deniedFault:
		return &model.Error{Code: model.Unavailable, Message: "The server's database role lacks a privilege. Ask the administrator to grant it.", Err: err}
	case readOnlyFault:
		return &model.Error{
			Code:    model.Unavailable,
			Message: "The database is read-only or a standby and refuses changes. Try again later.",
			Err:     err,
		}
	case preparedFault:
		return &model.Error{Code: model.Unavailable, Message: poolerAdvice, Err: errors.Join(errPrepared, err)}
	case unavailableFault, refusedFault:
		return unavailable(err)
	case timeoutFault:
		return unavailable(errors.Join(errTimeout, err))
	}
	return model.AsError(err)
}

// fault is the meaning of a database error.
type fault int

const (
	otherFault       fault = iota
	foreignKeyFault        // a referenced row does not exist
	retryFault             // rolled back, or the connection broke; nothing was stored
	unavailableFault       // the database is unreachable
	refusedFault           // it refuses the connection, or does not exist
	noIDFault              // the identity column is exhausted
	deniedFault            // the role lacks a privilege
	readOnlyFault          // the database is read-only or a standby
	timeoutFault           // the statement timed out or was canceled
	diskFullFault
	preparedFault // a pooler moved the session, so the prepared statement is on another server
)

// poolerAdvice tells operators about a pooler that the database URL does not name.
const poolerAdvice = "A connection pooler loses prepared statements. Add pooler=transaction to the database URL, or connect directly."

// classify returns the meaning of an error of a driver or of the network.
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

// uniqueViolation is PostgreSQL's code for a duplicate key. It means a taken id, because no other column is
// unique.
const uniqueViolation = "23505"

// lockNotAvailable is PostgreSQL's code for a lock that lock_timeout ended.
const lockNotAvailable = "55P03"

// classifyPostgres follows appendix A, "PostgreSQL Error Codes", of PostgreSQL's manual.
func classifyPostgres(e *pq.Error) fault {
	switch {
	case e.Code == "23503":
		return foreignKeyFault
	case e.Code == "40001", e.Code == "40P01", // serialization failure, deadlock
		e.Code == uniqueViolation: // duplicate id: see passTakenIDs
		return retryFault
	case e.Code == "2200H":
		return noIDFault
	case e.Code == "53100":
		return diskFullFault
	case e.Code == "57014", e.Code == lockNotAvailable: // canceled, or a lock timeout
		return timeoutFault
	case e.Code.Class() == "28", e.Code == "3D000": // authorization, unknown database
		return refusedFault
	case e.Code == "26000", e.Code == "42P05", // a prepared statement is missing, or its name is taken
		// It has other parameters or other columns.
		e.Code == "08P01" && (e.Routine == "exec_bind_message" || e.Routine == "PortalSetResultFormat"):
		return preparedFault
	case e.Code == "42501":
		return deniedFault
	case e.Code == "25006": // read-only transaction
		return readOnlyFault
	case e.Code.Class() == "08", e.Code.Class() == "53", e.Code.Class() == "57", // connection, resources, operator
		e.Code == "0A000": // not supported by a standby
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

// IsAway reports whether an error of Start means that the database is unreachable and may come
// back. It returns false if the database refused the connection.
func IsAway(err error) bool {
	if e, answered := errors.AsType[*pq.Error](err); answered {
		return classifyPostgres(e) == unavailableFault
	}
	_, network := errors.AsType[net.Error](err)
	return network || canceled(err) || errors.Is(err, driver.ErrBadConn)
}

// connectionLost reports whether an open connection broke, which may have happened since its last
// use. A restart of the server breaks all of them.
func connectionLost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) && !errors.Is(err, postgres.ErrConnect) ||
		errors.Is(err, postgres.ErrUnanswered) && !timedOut(err) && !canceled(err)
}

// canceled reports whether err is the error of a context.
func canceled(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// inDoubt is the error of a write with an unknown outcome. It must not run again.
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
		Message: "The database has no id for a new row. The server's log says how to repair this.",
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

func notFound(noun string) error { return model.Errorf(model.NotFound, "%s not found", noun) }

// stale is the error of a row that has this version and not the expected one.
func stale(noun string, version int64) error {
	return &model.Error{Code: model.Stale, Message: noun + " was changed by someone else. Read it again.", Version: version}
}
