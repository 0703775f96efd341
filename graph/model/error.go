package model

import (
	"encoding/json"
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
	text    Message     // of Message, if it has arguments
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
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), text: Message{format, args}}
}

// Text returns the message with its key and arguments.
func (e *Error) Text() Message {
	if e.text.Key == "" {
		return Message{Key: e.Message}
	}
	return e.text
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
	Field   string  `json:"field"`
	Message string  `json:"message"`
	Format  Message `json:"-"` // of Message, if it has arguments
}

// Text returns the message with its key and arguments.
func (e FieldError) Text() Message {
	if e.Format.Key == "" {
		return Message{Key: e.Message}
	}
	return e.Format
}

// NewFieldError returns the error of a field. A format without verbs has no arguments.
func NewFieldError(field, format string, args ...any) FieldError {
	text := Message{Key: format}
	if strings.Contains(format, "%") {
		text.Args = args
	}
	return text.At(field)
}

// FieldErrors are the errors of an input, in the order of its fields.
type FieldErrors []FieldError

// Add adds a message for field. The first argument of its format is the field's name in words: "published
// at", or "genre id" for genre.connect.id.
func (f *FieldErrors) Add(field, format string, args ...any) {
	words := strings.NewReplacer(".connect.", " ", "_", " ").Replace(field)
	words = words[strings.LastIndex(words, ".")+1:]
	*f = append(*f, NewFieldError(field, format, append([]any{Message{Key: words}}, args...)...))
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
		named[i] = FieldError{Camel(e.Field), e.Message, e.Format}
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
		return &Error{Code: BadUserInput, Message: f[0].Message, Fields: f, text: f[0].Format}
	}
	err := Errorf(BadUserInput, "%s (and 1 more error)", f[0].Text())
	if len(f) > 2 {
		err = Errorf(BadUserInput, "%s (and %d more errors)", f[0].Text(), len(f)-1)
	}
	err.Fields = f
	return err
}

// BadArgument returns the error of an argument.
func BadArgument(name, format string, args ...any) error {
	return FieldErrors{NewFieldError(name, format, args...)}.Err()
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

// Message is a text for users. Key is its English format with the verbs of fmt. The pages translate it by Key, and
// arguments that are Messages too.
type Message struct { //nolint:errname // rarely an error
	Key  string
	Args []any
}

// Messagef returns a Message.
func Messagef(key string, args ...any) Message { return Message{key, args} }

// String returns the message in English.
func (m Message) String() string {
	if len(m.Args) == 0 {
		return m.Key
	}
	return fmt.Sprintf(m.Key, m.Args...)
}

// Error implements error, so that a message can be the error of a file.
func (m Message) Error() string { return m.String() }

// MessageOf returns the message of an error. One without a Message has its text as the key.
func MessageOf(err error) Message {
	if m, ok := errors.AsType[Message](err); ok && m.String() == err.Error() { // not a part of it
		return m
	}
	return Message{Key: err.Error()}
}

// At returns the message as the error of a field.
func (m Message) At(field string) FieldError { return FieldError{field, m.String(), m} }

// MarshalText implements encoding.TextMarshaler: in JSON a Message is its English text.
func (m Message) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Parts is a Message that has its key and its arguments in JSON, for clients that translate it.
type Parts Message

// MarshalJSON implements json.Marshaler. Arguments are numbers, strings and messages.
func (p Parts) MarshalJSON() ([]byte, error) {
	args := make([]any, len(p.Args))
	for i, arg := range p.Args {
		switch arg := arg.(type) {
		case Message:
			args[i] = Parts(arg)
		case int, int64:
			args[i] = arg
		default:
			args[i] = fmt.Sprint(arg)
		}
	}
	return json.Marshal(struct {
		Key  string `json:"key"`
		Args []any  `json:"args"`
	}{p.Key, args})
}
