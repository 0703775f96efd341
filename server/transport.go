package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
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

var bodyBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (l Limits) readPost(w http.ResponseWriter, r *http.Request) (*request, *refusal) {
	if !isJSON(r.Header.Get("Content-Type")) {
		return nil, &refusal{http.StatusUnsupportedMediaType, model.BadUserInput, "The request must be JSON in UTF-8: send it with Content-Type: application/json."}
	}
	buffer := bodyBuffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= 2*smallBody {
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
	if 0 <= length && length <= smallBody {
		buffer.Grow(int(length) + bytes.MinRead)
		_, err := buffer.ReadFrom(r.Body)
		return err
	}
	body := http.MaxBytesReader(w, r.Body, int64(l.Body))
	switch _, err := io.CopyN(buffer, body, smallBody+1); { // from here on it has room
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

const (
	plainJSON = "application/json"
	// graphQLResponse is the media type of GraphQL over HTTP. The status of such
	// an answer speaks of the operation, and not of the transport alone.
	graphQLResponse = "application/graphql-response+json"
)

// contentTypes are the Content-Type headers of the media types.
var contentTypes = map[string][]string{
	plainJSON:       {plainJSON + "; charset=utf-8"},
	graphQLResponse: {graphQLResponse + "; charset=utf-8"},
}

// mediaType gives the media type that a client is answered in: the one that it
// prefers (RFC 9110, section 12.5.1), application/json where it says nothing of
// either. ok is false where it accepts neither.
func mediaType(r *http.Request) (chosen string, ok bool) {
	header := r.Header["Accept"]
	if len(header) == 0 {
		return plainJSON, true
	}
	if len(header) == 1 {
		switch header[0] {
		case "", "*/*", plainJSON:
			return plainJSON, true
		case graphQLResponse:
			return graphQLResponse, true
		}
	}
	plain, own := preference{}, preference{}
	for _, element := range strings.Split(strings.Join(header, ","), ",") {
		name, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		quality := 1.0
		if q, given := params["q"]; given {
			if quality, err = strconv.ParseFloat(q, 64); err != nil || !(quality >= 0 && quality <= 1) {
				continue
			}
		}
		if charset, given := params["charset"]; given && !strings.EqualFold(charset, "utf-8") {
			continue
		}
		switch name {
		case plainJSON:
			plain.say(3, quality)
		case graphQLResponse:
			own.say(3, quality)
		case "application/*":
			plain.say(2, quality)
			own.say(2, quality)
		case "*/*":
			plain.say(1, quality)
			own.say(1, quality)
		}
	}
	switch {
	case own.quality > plain.quality, own.quality == plain.quality && own.exactness == 3 && own.quality > 0:
		return graphQLResponse, true
	case plain.quality > 0:
		return plainJSON, true
	}
	return plainJSON, false
}

// varyByAccept says that the media type of an answer follows from Accept.
func varyByAccept(header http.Header) {
	if !slices.Contains(header["Vary"], "Accept") {
		header["Vary"] = append(header["Vary"], "Accept")
	}
}

// preference is what the most exact range of an Accept header that matches a
// media type says of it.
type preference struct {
	exactness int
	quality   float64
}

func (p *preference) say(exactness int, quality float64) {
	if exactness > p.exactness {
		*p = preference{exactness, quality}
	}
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
	if errs[0].Extensions["code"] == codes[model.Unavailable] { // it was not even looked at
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
