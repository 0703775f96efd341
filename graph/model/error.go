package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Code is the kind of an error. GraphQL has it as extensions.code and as the enum ErrorCode. Package envelope maps it
// to an HTTP status.
type Code string

// The codes of all errors.
const (
	BadUserInput       Code = "BAD_USER_INPUT"
	DepthLimitExceeded Code = "DEPTH_LIMIT_EXCEEDED"
	CostLimitExceeded  Code = "COST_LIMIT_EXCEEDED"
	NotFound           Code = "NOT_FOUND"
	Conflict           Code = "CONFLICT"
	Stale              Code = "STALE" // a Conflict with its own HTTP status
	Unauthenticated    Code = "UNAUTHENTICATED"
	Forbidden          Code = "FORBIDDEN"
	TooLarge           Code = "TOO_LARGE"
	PositionGone       Code = "POSITION_GONE"
	RateLimited        Code = "RATE_LIMITED"
	Unavailable        Code = "UNAVAILABLE"
	Internal           Code = "INTERNAL"

	// Only in GraphQL, as gqlgen and Apollo's clients name them.

	ParseFailed            Code = "GRAPHQL_PARSE_FAILED"
	ValidationFailed       Code = "GRAPHQL_VALIDATION_FAILED"
	PersistedQueryNotFound Code = "PERSISTED_QUERY_NOT_FOUND"
)

// Codes lists every Code. Tests check that each is mapped.
var Codes = []Code{
	BadUserInput, DepthLimitExceeded, CostLimitExceeded, NotFound, Conflict, Stale, Unauthenticated, Forbidden,
	TooLarge, PositionGone, RateLimited, Unavailable, Internal, ParseFailed, ValidationFailed, PersistedQueryNotFound,
}

// InGraphQL returns the code in GraphQL: Conflict for Stale.
func (c Code) InGraphQL() Code {
	if c == Stale {
		return Conflict
	}
	return c
}

// Error is an error with a message for clients.
type Error struct {
	Code    Code
	Message string      // for users, with advice
	Fields  FieldErrors // errors of single fields, for BadUserInput
	InDoubt bool        // the outcome of a write is unknown
	Version int64       // current version of the row, for Stale; 0 if it is unknown
	Err     error       // cause, only logged
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error without a cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError returns err as an *Error. It wraps other errors as the cause of an Internal error, because
// clients must not see them.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Message: "Internal server error", Err: err}
}

// RetryError is the cause of an error that refuses a request for a time. It is expected, so it is no failure to log.
type RetryError struct{ After time.Duration }

func (e *RetryError) Error() string { return "retry after " + e.After.String() }

// RetryAfter returns the seconds after which a request that failed with RateLimited or Unavailable may be repeated
// (RFC 9110, section 10.2.3): those of a RetryError, else 1.
func RetryAfter(err error) int {
	if e, ok := errors.AsType[*RetryError](err); ok {
		return max(1, int(math.Ceil(e.After.Seconds())))
	}
	return 1
}

// IsCode reports whether err is an Error with the code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// IsInDoubt reports whether err comes from a write with an unknown outcome.
func IsInDoubt(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.InDoubt
}

// FieldError is an error in a field of an input. Field is the name in the database and in /api,
// after the names of enclosing inputs: published_at, genre.create.name.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// FieldErrors are the errors of an input, in the order of its fields.
type FieldErrors []FieldError

// Add adds a message for field. "%s" in the message becomes the field's name in words: "published
// at", or "genre id" for genre.connect.id.
func (f *FieldErrors) Add(field, message string) {
	words := strings.NewReplacer(".connect.", " ", "_", " ").Replace(field)
	words = words[strings.LastIndex(words, ".")+1:]
	*f = append(*f, FieldError{Field: field, Message: strings.ReplaceAll(message, "%s", words)})
}

// Has reports whether field has a message.
func (f FieldErrors) Has(field string) bool {
	return slices.ContainsFunc(f, func(e FieldError) bool { return e.Field == field })
}

// settled reports whether field has an error from reading the input, and moves that error to the
// end, because errors are in the order of the checked fields.
func (f *FieldErrors) settled(field string) bool {
	i := slices.IndexFunc(*f, func(e FieldError) bool { return e.Field == field })
	if i < 0 {
		return false
	}
	*f = append(slices.Concat((*f)[:i], (*f)[i+1:]), (*f)[i])
	return true
}

// Messages of several checks. "%s" is the field in words.
const (
	MustBeRequired = "The %s field is required."
	MustBeString   = "The %s field must be a string."
	MustBeInteger  = "The %s field must be an integer."
	MustBeNumber   = "The %s field must be a number."
	MustBeDate     = "The %s field must be a valid date."
	MustExist      = "The selected %s is invalid."
	MustBeUTF8     = "The %s field must be valid UTF-8 without NUL characters."
)

// InGraphQL returns the errors with the names of the fields in GraphQL.
func (f FieldErrors) InGraphQL() FieldErrors {
	named := make(FieldErrors, len(f))
	for i, e := range f {
		named[i] = FieldError{Camel(e.Field), e.Message}
	}
	return named
}

// Err returns nil if there are no errors, otherwise a BadUserInput error with the first message and
// the number of the others.
func (f FieldErrors) Err() error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return &Error{Code: BadUserInput, Message: f[0].Message, Fields: f}
	case 2:
		return &Error{Code: BadUserInput, Message: f[0].Message + " (and 1 more error)", Fields: f}
	}
	return &Error{Code: BadUserInput, Message: fmt.Sprintf("%s (and %d more errors)", f[0].Message, len(f)-1),
		Fields: f}
}

func badArgument(name, message string) error {
	return FieldErrors{{Field: name, Message: message}}.Err()
}

// ErrSnapshotChanged reports that the catalogue changed between two statements of a request. The
// request runs again in a transaction; clients see this error only if that fails too.
var ErrSnapshotChanged = Errorf(Unavailable, "The catalogue changed while it was read. Try again.")

// RunsAgain reports whether the operation or the transaction of an error runs again, so that it is no failure.
func RunsAgain(err error) bool {
	e, _ := errors.AsType[*Error](err)
	return e == ErrRetry || errors.Is(err, ErrSnapshotChanged)
}

// ErrNoPrimary reports that the primary does not answer, and that replicas serve reads.
var ErrNoPrimary = Errorf(Unavailable, "The primary database does not answer. Try again in a moment.")

// ErrRetry reports that the database rolled a transaction back after a conflict or a broken
// connection. The transaction runs again; clients never see this error.
var ErrRetry = Errorf(Unavailable, "The database rolled the transaction back.")

// Camel returns the GraphQL name of a field: published_at becomes publishedAt.
func Camel(snake string) string {
	parts := strings.Split(snake, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}
