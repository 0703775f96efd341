package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code is the kind of a failure. Package rest translates it into an HTTP status,
// package graphqlhttp into extensions.code.
type Code string

// The whole vocabulary of failures.
const (
	BadUserInput       Code = "BAD_USER_INPUT"
	DepthLimitExceeded Code = "DEPTH_LIMIT_EXCEEDED"
	CostLimitExceeded  Code = "COST_LIMIT_EXCEEDED"
	NotFound           Code = "NOT_FOUND"
	Conflict           Code = "CONFLICT"
	Stale              Code = "STALE"
	Unauthenticated    Code = "UNAUTHENTICATED"
	Forbidden          Code = "FORBIDDEN"
	TooLarge           Code = "TOO_LARGE"
	RateLimited        Code = "RATE_LIMITED"
	Unavailable        Code = "UNAVAILABLE"
	Internal           Code = "INTERNAL"
)

// Codes lists every Code; tests check that each is translated.
var Codes = []Code{
	BadUserInput, DepthLimitExceeded, CostLimitExceeded, NotFound, Conflict, Stale, Unauthenticated, Forbidden,
	TooLarge, RateLimited, Unavailable, Internal,
}

// Error is a failure as a client may see it.
type Error struct {
	Code    Code
	Message string      // for users: a sentence that says what to do
	Fields  FieldErrors // what is wrong with single fields, for BadUserInput
	InDoubt bool        // whether a write is stored is not known
	Err     error       // the cause, only logged
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError returns err as an *Error. Another error becomes the cause of an Internal
// one, whose message does not show it.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Message: "Internal server error", Err: err}
}

// IsCode reports whether err is an Error with this code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// IsInDoubt reports whether err is that of a write that may be stored.
func IsInDoubt(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.InDoubt
}

// FieldError is one thing wrong with one field of an input. Field has its
// name as in the database and in /api: genre_id, published_at; in an input that
// holds others, the names on the way to it: genre.create.name.
type FieldError struct {
	Field   string
	Message string
}

// FieldErrors are the problems of an input, in the order of its fields.
type FieldErrors []FieldError

// Add notes a message for field. "%s" in the message is the field's name in
// words: "published at", or "genre id" for genre.connect.id.
func (f *FieldErrors) Add(field, message string) {
	words := strings.NewReplacer(".connect.", " ", "_", " ").Replace(field)
	words = words[strings.LastIndex(words, ".")+1:]
	*f = append(*f, FieldError{Field: field, Message: strings.ReplaceAll(message, "%s", words)})
}

// Has reports whether field has a message already.
func (f FieldErrors) Has(field string) bool {
	return slices.ContainsFunc(f, func(e FieldError) bool { return e.Field == field })
}

// Err is nil where nothing is wrong, else a BadUserInput error with the first
// message and how many more there are.
func (f FieldErrors) Err() error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return &Error{Code: BadUserInput, Message: f[0].Message, Fields: f}
	case 2:
		return &Error{Code: BadUserInput, Message: f[0].Message + " (and 1 more error)", Fields: f}
	}
	return &Error{Code: BadUserInput, Message: fmt.Sprintf("%s (and %d more errors)", f[0].Message, len(f)-1), Fields: f}
}

// ErrSnapshotChanged says that the catalogue changed between two statements of one
// request, so that its rows do not fit together. The request is then run again on a
// snapshot; a client sees this error only where that fails too.
var ErrSnapshotChanged = Errorf(Unavailable, "The catalogue changed while it was read. Try again.")

// ErrRetry says that the database rolled a transaction back, because of a conflict
// with another or a broken connection. It is run again; a client never sees this
// error.
var ErrRetry = Errorf(Unavailable, "The database gave the transaction up.")

// Camel returns the name in GraphQL of a field: published_at is publishedAt.
func Camel(snake string) string {
	parts := strings.Split(snake, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}
