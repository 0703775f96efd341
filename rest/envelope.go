package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"library-catalogue/graph/model"
)

// success returns the envelope of a successful response around data, which is JSON.
func success(message string, data []byte) []byte {
	return append(append(appendSuccess(make([]byte, 0, len(data)+100), message), data...), '}')
}

// appendSuccess appends the beginning of a successful envelope, up to its data.
func appendSuccess(dst []byte, message string) []byte {
	dst = model.AppendString(append(dst, `{"success":true,"message":`...), message)
	return append(dst, `,"data":`...)
}

// WriteSuccess writes data as JSON in a successful envelope.
func WriteSuccess(w http.ResponseWriter, code int, message string, data any) {
	writeBytes(w, code, success(message, encode(data)))
}

// envelope is the body of an error response.
type envelope struct {
	Success bool        `json:"success"`
	Message string      `json:"message"`
	Data    any         `json:"data"`
	Errors  fieldErrors `json:"errors,omitzero"`
}

// fieldErrors is a JSON object with a list of messages per field, in the order of the fields.
type fieldErrors model.FieldErrors

// MarshalJSON implements json.Marshaler.
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
		b.Write(encode(field))
		b.WriteByte(':')
		b.Write(encode(messages))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// status has the HTTP status of each error code.
var status = map[model.Code]int{
	model.BadUserInput:       http.StatusUnprocessableEntity,
	model.DepthLimitExceeded: http.StatusBadRequest, // only in GraphQL
	model.CostLimitExceeded:  http.StatusBadRequest, // only in GraphQL
	model.NotFound:           http.StatusNotFound,
	model.Conflict:           http.StatusConflict,
	model.Stale:              http.StatusPreconditionFailed,
	model.Unauthenticated:    http.StatusUnauthorized,
	model.Forbidden:          http.StatusForbidden,
	model.TooLarge:           http.StatusRequestEntityTooLarge,
	model.PositionGone:       http.StatusGone,
	model.RateLimited:        http.StatusTooManyRequests,
	model.Unavailable:        http.StatusServiceUnavailable,
	model.Internal:           http.StatusInternalServerError,
}

// WriteError writes an error response in an envelope.
func WriteError(w http.ResponseWriter, _ *http.Request, err error) {
	for _, name := range []string{"ETag", "Content-Disposition", "Content-Encoding"} { // they describe the object, not the error
		w.Header().Del(name)
	}
	if body, ok := errors.AsType[*bodyError](err); ok {
		write(w, body.status, envelope{Message: body.message})
		return
	}
	e := model.AsError(err)
	message := e.Message
	switch e.Code {
	case model.Unauthenticated:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case model.RateLimited:
		message = "Too Many Attempts." // Laravel's text
	case model.Unavailable:
		w.Header().Set("Retry-After", "1")
	}
	write(w, status[e.Code], envelope{Message: message, Errors: fieldErrors(e.Fields)})
}

// writeError writes an error response and logs server errors.
func (h *handler) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if cause, ok := errors.AsType[*model.Error](context.Cause(r.Context())); ok {
		err = cause // err is a consequence of it
	}
	_, badBody := errors.AsType[*bodyError](err)
	switch e := model.AsError(err); {
	case badBody:
	case e.Code == model.Forbidden:
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`) // RFC 6750, section 3.1
	case status[e.Code] >= http.StatusInternalServerError:
		h.logFailure(w, r, e)
	}
	WriteError(w, r, err)
}

// logFailure logs an error with the request id. It does not log errors after the client has gone, which caused them.
func (h *handler) logFailure(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	h.options.Logger.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err,
		"request_id", w.Header().Get("X-Request-Id"))
}

func write(w http.ResponseWriter, code int, body envelope) {
	writeBytes(w, code, encode(body))
}

func writeBytes(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	writeBody(w, code, body)
}

// writeBody writes a response. The Content-Type must be set.
func writeBody(w http.ResponseWriter, code int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // the client may be gone
}

// encode returns v as JSON without HTML escapes.
func encode(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // all our types can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
