// Package fault says what an error of a database means, and makes the errors that follow from it.
package fault

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
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// Further errors of Translate. model.ErrRetry means that nothing was stored and the operation can run again.
var (
	ErrForeignKey = errors.New("foreign key violation")
	ErrDiskFull   = errors.New("the database has no disk space left")
	ErrTimeout    = errors.New("the statement timed out or was canceled")
	ErrPrepared   = errors.New("a prepared statement is missing or belongs to another client")
)

// Translate turns an error of the database into ErrForeignKey, model.ErrRetry or a model.Error. It
// returns an error that is already one of these unchanged.
func Translate(err error) error {
	if err == nil || errors.Is(err, ErrForeignKey) || errors.Is(err, model.ErrRetry) {
		return err
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return err
	}
	switch Of(err) {
	case ForeignKey:
		return errors.Join(ErrForeignKey, err)
	case Retry:
		return errors.Join(model.ErrRetry, err)
	case DiskFull:
		return unavailable("The database has no disk space for changes. Try again later.",
			errors.Join(ErrDiskFull, err))
	case OutOfIDs:
		return NoID(err)
	case Denied:
		return unavailable("The server's database role lacks a privilege. Ask the administrator to grant it.", err)
	case ReadOnly:
		return unavailable("The database is read-only or a standby and refuses changes. Try again later.", err)
	case Prepared:
		return unavailable(PoolerAdvice, errors.Join(ErrPrepared, err))
	case Unreachable, Refused:
		return Unavailable(err)
	case Timeout:
		return Unavailable(errors.Join(ErrTimeout, err))
	}
	return model.AsError(err)
}

// Fault is the meaning of a database error.
type Fault int

// The faults.
const (
	Other       Fault = iota
	ForeignKey        // a referenced row does not exist
	Retry             // rolled back, or the connection broke; nothing was stored
	Unreachable       // the database is unreachable
	Refused           // it refuses the connection, or does not exist
	OutOfIDs          // the identity column is exhausted
	Denied            // the role lacks a privilege
	ReadOnly          // the database is read-only or a standby
	Timeout           // the statement timed out or was canceled
	DiskFull
	Prepared // a pooler moved the session, so the prepared statement is on another server
)

// PoolerAdvice tells operators about a pooler that the database URL does not name.
const PoolerAdvice = "A connection pooler loses prepared statements. Add pooler=transaction to the database URL, or " +
	"connect directly."

// Of returns the meaning of an error of a driver or of the network.
func Of(err error) Fault {
	meaning := Other
	if e, ok := errors.AsType[*pq.Error](err); ok {
		meaning = classifyPostgres(e)
	} else if e, ok := errors.AsType[*sqlite.Error](err); ok {
		meaning = classifySQLite(e)
	}
	_, network := errors.AsType[net.Error](err)
	switch {
	case meaning != Other:
		return meaning
	case ConnectionLost(err):
		return Retry
	case network, Canceled(err), errors.Is(err, postgres.ErrConnect), errors.Is(err, sql.ErrConnDone),
		errors.Is(err, sql.ErrTxDone):
		return Unreachable
	}
	return Other
}

// UniqueViolation is PostgreSQL's code for a duplicate key. It means a taken id, because no other column is
// unique.
const UniqueViolation = "23505"

// LockNotAvailable is PostgreSQL's code for a lock that lock_timeout ended.
const LockNotAvailable = "55P03"

// Deadlock is PostgreSQL's code for a transaction that a deadlock ended.
const Deadlock = "40P01"

// classifyPostgres follows appendix A, "PostgreSQL Error Codes", of PostgreSQL's manual.
func classifyPostgres(e *pq.Error) Fault {
	switch {
	case e.Code == "23503":
		return ForeignKey
	case e.Code == "40001", e.Code == Deadlock, // serialization failure, deadlock
		e.Code == UniqueViolation: // duplicate id: see passTakenIDs
		return Retry
	case e.Code == "2200H":
		return OutOfIDs
	case e.Code == "53100":
		return DiskFull
	case e.Code == "57014", e.Code == LockNotAvailable: // canceled, or a lock timeout
		return Timeout
	case e.Code.Class() == "28", e.Code == "3D000": // authorization, unknown database
		return Refused
	case e.Code == "26000", e.Code == "42P05", // a prepared statement is missing, or its name is taken
		// It has other parameters or other columns.
		e.Code == "08P01" && (e.Routine == "exec_bind_message" || e.Routine == "PortalSetResultFormat"):
		return Prepared
	case e.Code == "42501":
		return Denied
	case e.Code == "25006": // read-only transaction
		return ReadOnly
	case e.Code.Class() == "08", e.Code.Class() == "53", e.Code.Class() == "57", // connection, resources, operator
		e.Code == "0A000": // not supported by a standby
		return Unreachable
	}
	return Other
}

// classifySQLite follows https://www.sqlite.org/rescode.html.
func classifySQLite(e *sqlite.Error) Fault {
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY {
		return ForeignKey
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return DiskFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT:
		return Timeout
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return Unreachable
	}
	return Other
}

// IsAway reports whether an error of Start means that the database is unreachable and may come
// back. It returns false if the database refused the connection.
func IsAway(err error) bool {
	if e, answered := errors.AsType[*pq.Error](err); answered {
		return classifyPostgres(e) == Unreachable
	}
	_, network := errors.AsType[net.Error](err)
	return network || Canceled(err) || errors.Is(err, driver.ErrBadConn)
}

// ConnectionLost reports whether an open connection broke, which may have happened since its last
// use. A restart of the server breaks all of them.
func ConnectionLost(err error) bool {
	return errors.Is(err, driver.ErrBadConn) && !errors.Is(err, postgres.ErrConnect) ||
		errors.Is(err, postgres.ErrUnanswered) && !TimedOut(err) && !Canceled(err)
}

// Canceled reports whether err is the error of a context.
func Canceled(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// InDoubt is the error of a write with an unknown outcome. It must not run again.
func InDoubt(err error) error {
	return &model.Error{
		Code: model.Unavailable, InDoubt: true,
		Message: "The database did not say whether the change is stored. Send the request again with the same " +
			"Idempotency-Key, or look before you repeat it.",
		Err: err,
	}
}

// NoID is the error of a table without a free id.
func NoID(err error) error {
	return unavailable("The database has no id for a new row. The server's log says how to repair this.", err)
}

// Unavailable is the error of a database that did not answer.
func Unavailable(err error) error {
	return unavailable("The database did not answer. Try again in a moment.", err)
}

func unavailable(message string, err error) error {
	return &model.Error{Code: model.Unavailable, Message: message, Err: err}
}

// NotFound is the error of a missing row.
func NotFound(noun string) error {
	return model.Errorf(model.NotFound, "%s not found", model.Message{Key: noun})
}

// Stale is the error of a row that has this version and not the expected one.
func Stale(noun string, version int64) error {
	err := model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", model.Message{Key: noun})
	err.Version = version
	return err
}

// ForStats classifies err, if the database caused it.
func ForStats(ctx context.Context, err error) stats.Fault {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrDiskFull):
		return stats.FaultDiskFull
	case errors.Is(err, model.ErrRetry):
		return stats.FaultRetried
	case model.IsCode(err, model.Internal):
		return stats.FaultInternal
	case !model.IsCode(err, model.Unavailable):
		return ""
	case errors.Is(err, context.Canceled), errors.Is(err, ErrTimeout) && errors.Is(ctx.Err(), context.Canceled):
		return stats.FaultCanceled
	case TimedOut(err):
		return stats.FaultTimeout
	}
	return stats.FaultUnavailable
}

// TimedOut reports whether err is a deadline that has passed.
func TimedOut(err error) bool {
	network, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTimeout) || ok && network.Timeout()
}
