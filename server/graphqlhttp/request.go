package graphqlhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// request is a GraphQL request as it came (GraphQL over HTTP, section 5).
type request struct {
	query         string
	operationName string
	documentID    string // names a document in place of query
	variables     string // a JSON object in canonical form; "": none
	extensions    string // alike
	reports       reports
}

// refusal is a request that is not looked at any further.
type refusal struct {
	status  int
	code    model.Code
	message string
}

// bad refuses a request that is not well formed.
func bad(message string) *refusal {
	return &refusal{http.StatusBadRequest, model.BadUserInput, message}
}

// readRequest reads a request by GET, HEAD or POST, strictly.
func (l Limits) readRequest(w http.ResponseWriter, r *http.Request) (*request, *refusal) {
	if _, ok := mediaType(r); !ok {
		return nil, &refusal{http.StatusNotAcceptable, model.BadUserInput, "Answers are " + graphQLResponse + " or application/json, in UTF-8: accept one of them."}
	}
	switch {
	case reads(r.Method):
		return l.readGet(r.URL.RawQuery)
	case r.Method == http.MethodPost:
		return l.readPost(w, r)
	}
	w.Header().Set("Allow", "GET, HEAD, POST")
	return nil, &refusal{http.StatusMethodNotAllowed, model.BadUserInput, "Send GraphQL requests by POST, or queries by GET."}
}

func (l Limits) readGet(rawQuery string) (*request, *refusal) {
	given, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, bad("The parameters of the address are not well formed.")
	}
	for name, values := range given {
		if len(values) > 1 {
			return nil, bad("The parameter " + strconv.Quote(name) + " is there twice.")
		}
		if !utf8.ValidString(values[0]) {
			return nil, bad("The parameters of the address must be UTF-8.")
		}
	}
	q := &request{query: given.Get("query"), operationName: given.Get("operationName"), documentID: given.Get("documentId")}
	if q.variables, err = l.parameter(given.Get("variables")); err != nil {
		return nil, jsonRefusal(err, "The parameter variables", ".")
	}
	if q.extensions, err = l.parameter(given.Get("extensions")); err != nil {
		return nil, jsonRefusal(err, "The parameter extensions", ".")
	}
	return q, nil
}

// parameter reads an object of a request by GET, which may be null.
func (l Limits) parameter(text string) (string, error) {
	if text == "" || text == "null" {
		return "", nil
	}
	return l.object([]byte(text), 1)
}

// smallRequest is how many bytes a request has as a rule: less than 8 KiB. A buffer
// is made for it at once, and grows only for what is larger.
const smallRequest = 8 << 10

var bodyBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (l Limits) readPost(w http.ResponseWriter, r *http.Request) (*request, *refusal) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, &refusal{http.StatusUnsupportedMediaType, model.BadUserInput, "The request must be JSON in UTF-8: send it with Content-Type: application/json."}
	}
	buffer := bodyBuffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= 2*smallRequest {
			buffer.Reset() // what was read of it are copies
			bodyBuffers.Put(buffer)
		}
	}()
	err := l.readBody(buffer, w, r)
	body := buffer.Bytes()
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &refusal{http.StatusRequestEntityTooLarge, model.TooLarge, "The request is too large: " + strconv.Itoa(l.Body) + " bytes are allowed."}
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return nil, &refusal{http.StatusServiceUnavailable, e.Code, e.Message}
	}
	if err != nil {
		return nil, bad("The request could not be read.")
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return nil, bad("Send one request at a time: batches, which are JSON arrays, are not taken.")
	}
	text, err := l.object(body, 2)
	if err != nil {
		return nil, jsonRefusal(err, "The request", " with the key query, and optionally operationName, variables and extensions.")
	}
	q := &request{}
	members := jsonReader{text: text}
	for n := 0; ; n++ {
		name, ok := members.member(n)
		if !ok {
			return q, nil
		}
		if refused := q.read(name, members.raw()); refused != nil {
			return nil, refused
		}
	}
}

// read reads a member of a request by POST, which may be null.
func (q *request) read(name, value string) *refusal {
	kind, begin := "a string", byte('"')
	var into *string
	switch name {
	case "query":
		into = &q.query
	case "operationName":
		into = &q.operationName
	case "documentId":
		into = &q.documentID
	case "variables":
		into, kind, begin = &q.variables, "an object", '{'
	case "extensions":
		into, kind, begin = &q.extensions, "an object", '{'
	default:
		return nil
	}
	switch {
	case value == "null":
	case value[0] != begin:
		return bad("The key " + name + " must be " + kind + " or null.")
	case begin == '"':
		*into = unquote(value)
	default:
		*into = value
	}
	return nil
}

// isJSON tells whether a Content-Type is JSON in UTF-8.
func isJSON(contentType string) bool {
	if contentType == plainJSON {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && mediaType == plainJSON && (!given || strings.EqualFold(charset, "utf-8"))
}

// readBody reads the body of a request into a buffer that grows to what a large one
// needs at once: to grow by and by would take twice as much.
func (l Limits) readBody(buffer *bytes.Buffer, w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > int64(l.Body) {
		return &http.MaxBytesError{Limit: int64(l.Body)}
	}
	length := r.ContentLength
	if 0 <= length && length <= smallRequest {
		buffer.Grow(int(length) + bytes.MinRead)
		_, err := buffer.ReadFrom(r.Body)
		return err
	}
	body := http.MaxBytesReader(w, r.Body, int64(l.Body))
	switch _, err := io.CopyN(buffer, body, smallRequest+1); { // from here on it has room
	case err == io.EOF:
		return nil
	case err != nil:
		return err
	case length < 0:
		length = int64(l.Body)
	}
	buffer.Grow(max(0, int(length)-buffer.Len()) + bytes.MinRead)
	_, err := buffer.ReadFrom(body)
	return err
}

// jsonRefusal refuses a text that should have been a JSON object.
func jsonRefusal(err error, text, with string) *refusal {
	if large, ok := errors.AsType[errTooLarge](err); ok {
		return &refusal{http.StatusBadRequest, model.TooLarge, string(large)}
	}
	if errors.Is(err, errNotObject) {
		return bad(text + " must be a JSON object" + with)
	}
	return bad(text + " must be well-formed JSON: " + err.Error() + ".")
}

// reads reports whether a method asks for what is there.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// WriteError answers a request that is not looked at any further.
func WriteError(w http.ResponseWriter, r *http.Request, status int, err *model.Error) {
	writeRefusal(w, r, refusal{status, err.Code, err.Message})
}

func writeRefusal(w http.ResponseWriter, r *http.Request, why refusal) {
	switch why.status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	}
	writeResponse(w, r, why.status, &graphql.Response{Errors: gqlerror.List{coded(r.Context(), why.code, why.message)}})
}

// writeInvalid answers a request that could be read, but not executed.
func writeInvalid(w http.ResponseWriter, r *http.Request, errs gqlerror.List) {
	for _, err := range errs {
		identify(r.Context(), err)
	}
	status := http.StatusOK // with application/json it speaks of the transport
	if media, _ := mediaType(r); media == graphQLResponse {
		status = http.StatusBadRequest
	}
	if errs[0].Extensions["code"] == ErrorCode(model.Unavailable) { // it was not even looked at
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	writeResponse(w, r, status, &graphql.Response{Errors: errs})
}

// writeResponse writes an answer. Its data are appended to.
func writeResponse(w http.ResponseWriter, r *http.Request, status int, response *graphql.Response) {
	noteErrors(r.Context(), response.Errors)
	open := `{`
	if response.Data != nil {
		open = `{"data":`
	}
	response.Data = appendTail(response.Data, response)
	media, _ := mediaType(r)
	header := w.Header()
	header["Content-Type"] = contentTypes[media]
	varyByAccept(header)
	header["Content-Length"] = []string{strconv.Itoa(len(open) + len(response.Data))}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, open) // a client that has gone needs no answer
	_, _ = w.Write(response.Data)
}

// appendTail appends what follows the data of an answer.
func appendTail(dst []byte, response *graphql.Response) []byte {
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
		panic(err) // the executor made it
	}
	tail := bytes.TrimSuffix(envelope.Bytes(), []byte("\n"))[1:] // without the opening brace
	if dst != nil && len(tail) > 1 {
		dst = append(dst, ',')
	}
	return append(dst, tail...)
}
