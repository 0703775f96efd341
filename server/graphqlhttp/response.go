package graphqlhttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// WriteError writes an error response in the Handler's format for a request that does not reach
// it.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	varyByAccept(w.Header())
	mediaType, _ := negotiate(r.Header["Accept"])
	writeRefusal(w, r, cmp.Or(mediaType, plainJSON), refuseError(err))
}

// writeRefusal writes the response to a request that is not executed.
func writeRefusal(w http.ResponseWriter, r *http.Request, mediaType string, refused *refusal) {
	status := refused.status.in(mediaType)
	if mediaType == eventStream && status != http.StatusOK { // the protocol sends only errors of a document as events
		mediaType = plainJSON
	}
	switch status {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", refused.allow)
	case http.StatusUnauthorized:
		if w.Header().Get("WWW-Authenticate") == "" { // unless it describes the token's error
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
	}
	writeResponse(w, r, mediaType, status, &graphql.Response{Errors: refused.errors})
}

// warning is an element of extensions.warnings: a problem that does not fail the request.
type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// warnings returns the warnings of a response.
func warnings(ctx context.Context) (all []warning) {
	if refused := model.TokenErrorOf(ctx); refused != nil {
		all = append(all, warning{string(refused.Code), refused.Message})
	}
	if telemetry.WithoutPrimary(ctx) {
		all = append(all,
			warning{"NO_PRIMARY",
				"The primary database does not answer. A replica served this read, and recent changes may be missing."})
	}
	return all
}

// recordErrors records the errors of a response. It adds the request's id to them, retryAfter (seconds) to RateLimited
// and Unavailable, and a warning for a refused token.
func recordErrors(ctx context.Context, response *graphql.Response) {
	record := telemetry.RequestOf(ctx)
	for _, err := range response.Errors {
		code, _ := err.Extensions["code"].(string)
		record.AddError(code)
		err.Extensions = withExtension(err.Extensions, "requestId", record.ID) // the request's id in the log
		if code := model.Code(code); code == model.RateLimited || code == model.Unavailable {
			err.Extensions["retryAfter"] = model.RetryAfter(err)
		}
	}
	if all := warnings(ctx); all != nil {
		response.Extensions = withExtension(response.Extensions, "warnings", all)
	}
}

// fieldError is a FieldError with the key and the arguments of its message.
type fieldError struct {
	model.FieldError
	Text model.Parts `json:"text"`
}

// addTexts adds the keys and the arguments of messages to errors.
func addTexts(all gqlerror.List) {
	for _, err := range all {
		text := model.Message{Key: err.Message}
		if e, ours := errors.AsType[*model.Error](err); ours {
			text = e.Text()
		}
		err.Extensions = withExtension(err.Extensions, "text", model.Parts(text))
		if fields, ok := err.Extensions["fields"].(model.FieldErrors); ok {
			withTexts := make([]fieldError, len(fields))
			for i, f := range fields {
				withTexts[i] = fieldError{f, model.Parts(f.Text())}
			}
			err.Extensions["fields"] = withTexts
		}
	}
}

// begin returns the text of a response before its data. Data that are a list are a patch (patcher).
func begin(response *graphql.Response) string {
	switch {
	case response.Data == nil:
		return `{`
	case response.Data[0] == '[':
		return `{"patch":`
	}
	return `{"data":`
}

// AppendResponse appends the JSON of a response.
func AppendResponse(dst []byte, response *graphql.Response) []byte {
	dst = append(append(dst, begin(response)...), response.Data...)
	return appendTail(dst, response, response.Data != nil)
}

// writeResponse writes a response. It appends to response.Data.
func writeResponse(w http.ResponseWriter, r *http.Request, mediaType string, status int, response *graphql.Response) {
	recordErrors(r.Context(), response)
	if httpcond.WantsTexts(r.Header) {
		addTexts(response.Errors)
	}
	longest := 0
	for _, err := range response.Errors {
		seconds, _ := err.Extensions["retryAfter"].(int)
		longest = max(longest, seconds)
	}
	if longest > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(longest))
	}
	if mediaType == eventStream {
		writeEvents(w, response)
		return
	}
	begin := begin(response)
	response.Data = appendTail(response.Data, response, response.Data != nil)
	header := w.Header()
	header["Content-Type"] = contentTypes[mediaType]
	header["Content-Length"] = []string{strconv.Itoa(len(begin) + len(response.Data))}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, begin) // the client may have disconnected
	_, _ = w.Write(response.Data)
}

// appendTail appends the part of a response after its data.
func appendTail(dst []byte, response *graphql.Response, afterData bool) []byte {
	if len(response.Errors) == 0 && len(response.Extensions) == 0 {
		return append(dst, '}')
	}
	var envelope bytes.Buffer
	encoder := json.NewEncoder(&envelope)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Errors     gqlerror.List  `json:"errors,omitempty"`
		Extensions map[string]any `json:"extensions,omitempty"`
	}{response.Errors, response.Extensions})
	if err != nil {
		panic(err) // unreachable: the executor made the response
	}
	tail := bytes.TrimSuffix(envelope.Bytes(), []byte("\n"))[1:] // without the opening brace
	if afterData && len(tail) > 1 {
		dst = append(dst, ',')
	}
	return append(dst, tail...)
}

func withExtension(extensions map[string]any, name string, value any) map[string]any {
	if extensions == nil {
		extensions = map[string]any{}
	}
	extensions[name] = value
	return extensions
}

// complete is the last event of an operation. It has empty data, because EventSource ignores events
// without data.
var complete = eventstream.Event{Name: "complete", Data: []byte{}}

func nextEvent(response *graphql.Response) eventstream.Event {
	return eventstream.Event{Name: "next", Data: AppendResponse(nil, response)}
}

func writeEvents(w http.ResponseWriter, response *graphql.Response) {
	body := complete.AppendTo(nextEvent(response).AppendTo(nil))
	header := w.Header()
	header["Content-Type"] = contentTypes[eventStream]
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	_, _ = w.Write(body) // the client may have disconnected
}
