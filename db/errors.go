package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"library-catalogue/graph/model"
)

var (
	errForeignKey = errors.New("foreign key violation")
	errGivenUp    = errors.New("transaction given up")
)

// fail says what an error of the database means: one of the two above, or a
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
	switch s.dialect.classify(err) {
	case foreignKey:
		return errors.Join(errForeignKey, err)
	case givenUp:
		return errors.Join(errGivenUp, err)
	case unavailable:
		return away(err)
	}
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) {
		return away(err)
	}
	return model.AsError(err)
}

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
