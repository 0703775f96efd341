package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/lib/pq"
	"modernc.org/sqlite"

	"library-catalogue/graph/model"
)

var (
	errForeignKey = errors.New("foreign key violation")
	errGivenUp    = model.ErrGivenUp
	errDiskFull   = errors.New("no space is left for the database")
	errLate       = errors.New("not answered in time, or called off")
	errPerhaps    = errors.New("what became of a write is not known")
)

// fail says what an error of the database means: errForeignKey, errGivenUp, or a
// model.Error. What is one already stays as it is.
func (s *Store) fail(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return err
	}
	if errors.Is(err, errForeignKey) || errors.Is(err, errGivenUp) {
		return err
	}
	switch classify(err) {
	case foreignKey:
		return errors.Join(errForeignKey, err)
	case givenUp:
		return errors.Join(errGivenUp, err)
	case full:
		return &model.Error{
			Code:    model.Unavailable,
			Message: "The database has no room for changes. Try again later.",
			Err:     errors.Join(errDiskFull, err),
		}
	case unavailable:
		return away(err)
	case late:
		return away(errors.Join(errLate, err))
	}
	switch {
	case broken(err):
		return errors.Join(errGivenUp, err)
	case lost(err):
		return away(err)
	}
	return model.AsError(err)
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

// classify returns what an error of either driver means.
func classify(err error) fault {
	if e, ok := errors.AsType[*pq.Error](err); ok {
		return classifyPostgres(e)
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return classifySQLite(e)
	}
	return unknown
}

// lost tells whether the database did not say what became of a statement.
func lost(err error) bool {
	_, network := errors.AsType[net.Error](err)
	return network || broken(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone)
}

// broken tells whether a connection that was there is there no more. It may
// have been so since it was last used: after a restart of the server all are.
func broken(err error) bool {
	operation, network := errors.AsType[*net.OpError](err)
	return network && operation.Op != "dial" && !operation.Timeout() ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// perhaps is the error of a write that was lost. It may be kept, so it must not be
// run again.
func perhaps(err error) error { return away(errors.Join(errPerhaps, err)) }

func away(err error) error {
	return &model.Error{
		Code:    model.Unavailable,
		Message: "The database did not answer. Try again in a moment.",
		Err:     err,
	}
}

// missing is the error of a row that is not there.
func missing(noun string) error { return model.Errorf(model.NotFound, "%s not found", noun) }

// stale is the error of a row that is not at the version that was expected.
func stale(noun string) error {
	return model.Errorf(model.Stale, "%s was changed by someone else. Read it again.", noun)
}
