// Package envelope writes the {success, message, data} envelope of /api.
package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"library-catalogue/edge/httpcond"
	"library-catalogue/graph/model"
)

// Route is a route under /api.
type Route struct {
	Method, Pattern string
	// Serve writes a response, or returns an error and writes nothing. id is the value of {id} in the pattern.
	Serve func(w http.ResponseWriter, r *http.Request, id string) error
}

// Success returns the envelope of a successful response around data, which is JSON.
func Success(message string, data []byte) []byte {
	return append(append(AppendSuccess(make([]byte, 0, len(data)+100), message), data...), '}')
}

// AppendSuccess appends the beginning of a successful envelope, up to its data.
func AppendSuccess(dst []byte, message string) []byte {
	dst = model.AppendString(append(dst, `{"success":true,"message":`...), message)
	return append(dst, `,"data":`...)
}

// WriteSuccess writes data as JSON in a successful envelope.
func WriteSuccess(w http.ResponseWriter, code int, message string, data any) {
	WriteJSON(w, code, Success(message, Encode(data)))
}

// failure is the body of an error response.
type failure struct {
	Success bool        `json:"success"`
	Message string      `json:"message"`
	Data    any         `json:"data"`
	Errors  fieldErrors `json:"errors,omitzero"`

	// for WantsTexts, by field
	Text  *model.Parts           `json:"text,omitzero"`
	Texts map[string]model.Parts `json:"texts,omitzero"`
}

// fieldErrors is a JSON object with a list of messages per field, in the order of the fields.
type fieldErrors model.FieldErrors

func (f fieldErrors) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i < len(f); {
		if i > 0 {
			b.WriteByte(',')
		}
		field := f[i].Field
		var messages []string
		for ; i < len(f) && f[i].Field == field; i++ {
			messages = append(messages, f[i].Message)
		}
		b.Write(Encode(field))
		b.WriteByte(':')
		b.Write(Encode(messages))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// status has the HTTP status of each error code.
var status = map[model.Code]int{
	model.BadUserInput:      http.StatusUnprocessableEntity,
	model.CostLimitExceeded: http.StatusBadRequest,
	model.NotFound:          http.StatusNotFound,
	model.Conflict:          http.StatusConflict,
	model.Stale:             http.StatusPreconditionFailed,
	model.Unauthenticated:   http.StatusUnauthorized,
	model.Forbidden:         http.StatusForbidden,
	model.TooLarge:          http.StatusRequestEntityTooLarge,
	model.PositionGone:      http.StatusGone,
	model.RateLimited:       http.StatusTooManyRequests,
	model.Unavailable:       http.StatusServiceUnavailable,
	model.Internal:          http.StatusInternalServerError,

	// only in GraphQL
	model.DepthLimitExceeded:     http.StatusBadRequest,
	model.ParseFailed:            http.StatusBadRequest,
	model.ValidationFailed:       http.StatusBadRequest,
	model.PersistedQueryNotFound: http.StatusBadRequest,
}

// StatusOf returns the HTTP status of an error.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*statusError](err); ok {
		return e.status
	}
	return status[model.AsError(err).Code]
}

// statusError is an error with an HTTP status that no code has.
type statusError struct {
	status  int
	message string
}

// Error returns an error that WriteError writes with this status and message.
func Error(status int, message string) error { return &statusError{status, message} }

func (e *statusError) Error() string { return e.message }

// WriteError writes an error response in an envelope.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	// they describe the object, not the error
	for _, name := range []string{"ETag", "Content-Disposition", "Content-Encoding"} {
		w.Header().Del(name)
	}
	if _, ok := errors.AsType[*statusError](err); !ok {
		switch model.AsError(err).Code {
		case model.Unauthenticated:
			w.Header().Set("WWW-Authenticate", "Bearer")
		case model.RateLimited, model.Unavailable:
			w.Header().Set("Retry-After", strconv.Itoa(model.RetryAfter(err)))
		}
	}
	f := failureOf(err)
	if httpcond.WantsTexts(r.Header) {
		f.addTexts(err)
	}
	WriteJSON(w, StatusOf(err), Encode(f))
}

// Failure returns the envelope of an error.
func Failure(err error) []byte { return Encode(failureOf(err)) }

func failureOf(err error) failure {
	if e, ok := errors.AsType[*statusError](err); ok {
		return failure{Message: e.message}
	}
	e := model.AsError(err)
	message := e.Message
	if e.Code == model.RateLimited {
		message = "Too Many Attempts." // Laravel's text
	}
	return failure{Message: message, Errors: fieldErrors(e.Fields)}
}

func (f *failure) addTexts(err error) {
	f.Text, f.Texts = &model.Parts{Key: f.Message}, map[string]model.Parts{}
	if e, ours := errors.AsType[*model.Error](err); ours {
		f.Text = new(model.Parts(e.Text()))
	}
	for _, field := range slices.Backward(f.Errors) { // the first of a field counts
		f.Texts[field.Field] = model.Parts(field.Text())
	}
}

// WriteJSON writes a response of JSON.
func WriteJSON(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	WriteBody(w, code, body)
}

// WriteBody writes a response. The Content-Type must be set.
func WriteBody(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client may be gone
}

// Encode returns v as JSON without HTML escapes.
func Encode(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // all our types can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// LoginError returns the error of a login as WriteError writes it: 401 without WWW-Authenticate, because the request
// needs no token.
func LoginError(err error) error {
	if e := model.AsError(err); e.Code == model.Unauthenticated {
		return Error(http.StatusUnauthorized, e.Message)
	}
	return err
}
