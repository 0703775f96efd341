package graphqlhttp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/model"
)

// request is a parsed GraphQL request (GraphQL over HTTP, section 5).
type request struct {
	mediaType string // media type of the response
	events    bool   // the client accepts an event stream
	method    string

	query         string
	operationName string
	documentID    string         // id of a document, in place of query
	variables     jsontext.Value // object in canonical form, or nil
	extensions    jsontext.Value // object in canonical form, or nil
	wantsCost     bool           // the response reports the cost and is not cached
	wantsPosition bool           // the response reports the newest position and is not cached
	wantsPatches  bool           // a live query sends patches
	charged       bool           // the caller has paid for the document
	document      *document      // nil until it is parsed
}

// readRequest reads a request strictly. It returns a request with the media type of the response even if it refuses
// the request.
func readRequest(w http.ResponseWriter, r *http.Request, limits Limits) (*request, *refusal) {
	mediaType, events := negotiate(r.Header["Accept"])
	q := &request{mediaType: cmp.Or(mediaType, plainJSON), events: events, method: r.Method}
	var refused *refusal
	switch {
	case compressed(r.Header["Content-Encoding"]):
		refused = refuse(anyMedia(http.StatusUnsupportedMediaType), model.BadUserInput,
			"The request body must not be compressed.")
	case mediaType == "":
		refused = refuse(anyMedia(http.StatusNotAcceptable), model.BadUserInput,
			"Responses are "+graphQLResponse+", application/json or text/event-stream in UTF-8. Accept one of them.")
	case r.Method == http.MethodGet, r.Method == http.MethodHead:
		refused = q.readAddress(r.URL.RawQuery)
	case r.Method == http.MethodPost, r.Method == httpcond.MethodQuery:
		refused = q.readBody(w, r, limits)
	default:
		refused = refuseMethod("Send GraphQL requests by POST, or queries by GET or QUERY.", "GET, HEAD, POST, QUERY")
	}
	if refused == nil {
		refused = q.readHeader(r.Header)
	}
	return q, refused
}

// readHeader reads which reports the response has.
func (q *request) readHeader(header http.Header) (refused *refusal) {
	var err error
	if q.wantsCost, err = httpcond.WantsReport(header[costKey], costHeader); err == nil {
		q.wantsPosition, err = httpcond.WantsPosition(header)
	}
	if err != nil {
		refused = badRequest(model.AsError(err).Message)
	}
	return refused
}

// compressed reports whether a body has an encoding. Small encoded bodies can expand to very
// large ones.
func compressed(codings []string) bool {
	for _, coding := range codings {
		if !strings.EqualFold(coding, "identity") {
			return true
		}
	}
	return false
}

const costHeader = "GraphQL-Cost"

var costKey = http.CanonicalHeaderKey(costHeader)

func (q *request) readAddress(rawQuery string) *refusal {
	params, err := url.ParseQuery(rawQuery)
	if err != nil {
		return badRequest("The query parameters of the URL are malformed.")
	}
	for name, values := range params {
		if len(values) > 1 {
			return notRequest("The parameter " + strconv.Quote(name) + " is given twice.")
		}
		if !utf8.ValidString(values[0]) {
			return badRequest("The query parameters of the URL must be UTF-8.")
		}
	}
	q.query, q.operationName, q.documentID = params.Get("query"), params.Get("operationName"), params.Get("documentId")
	if q.variables, err = readParameter(params.Get("variables")); err != nil {
		return badJSON(err, "The parameter variables", ".")
	}
	if q.extensions, err = readParameter(params.Get("extensions")); err != nil {
		return badJSON(err, "The parameter extensions", ".")
	}
	return nil
}

// readParameter reads a parameter of an address: an object, null or nothing.
func readParameter(text string) (jsontext.Value, error) {
	if text == "" || text == "null" {
		return nil, nil
	}
	return readObject([]byte(text), 1)
}

func (q *request) readBody(w http.ResponseWriter, r *http.Request, limits Limits) *refusal {
	if !isJSON(r.Header.Get("Content-Type")) {
		return refuse(anyMedia(http.StatusUnsupportedMediaType), model.BadUserInput,
			"The request must be JSON in UTF-8: send it with Content-Type: application/json.")
	}
	var buffer bytes.Buffer
	err := limits.readBody(&buffer, w, r)
	body := buffer.Bytes()
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refuse(anyMedia(http.StatusRequestEntityTooLarge), model.TooLarge,
			"The request is too large: at most "+strconv.Itoa(limits.Body)+" bytes are allowed.")
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return refuseError(e)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refuse(anyMedia(http.StatusRequestTimeout), model.BadUserInput, "The request took too long to arrive.")
	}
	if err != nil {
		return badRequest("The request could not be read.")
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) && json.Valid(body) {
		return notRequest("Batches (JSON arrays) are not supported. Send one request at a time.")
	}
	return q.decode(body)
}

func (q *request) decode(body []byte) *refusal {
	object, err := readObject(body, 2)
	if err != nil {
		return badJSON(err, "The request",
			" with the key query, and optionally operationName, variables and extensions.")
	}
	var variables, extensions jsontext.Value
	for key, value := range members(object) {
		var text *string
		switch key {
		case "query":
			text = &q.query
		case "operationName":
			text = &q.operationName
		case "documentId":
			text = &q.documentID
		case "variables":
			variables = value.Clone()
		case "extensions":
			extensions = value.Clone()
		}
		if text == nil || value.Kind() == jsontext.KindNull {
			continue
		}
		var ok bool
		if *text, ok = scalar(value).(string); !ok {
			return notRequest("The key " + key + " must be a string or null.")
		}
	}
	var ok bool
	if q.extensions, ok = objectOrNil(extensions); !ok {
		return notRequest("The key extensions must be an object or null.")
	}
	if q.variables, ok = objectOrNil(variables); !ok {
		return notRequest("The key variables must be an object or null.")
	}
	return nil
}

// objectOrNil returns an object, or nil for null or nothing. For other values ok is false.
func objectOrNil(value jsontext.Value) (object jsontext.Value, ok bool) {
	switch value.Kind() {
	case jsontext.KindBeginObject:
		return value, true
	case jsontext.KindNull, jsontext.KindInvalid:
		return nil, true
	}
	return nil, false
}

func isJSON(contentType string) bool {
	if contentType == plainJSON {
		return true
	}
	mediaType, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	return err == nil && mediaType == plainJSON && (!given || strings.EqualFold(charset, "utf-8"))
}

// readBody reads a body into buffer. The buffer grows once for a large body, because growing in
// steps would use twice the memory.
func (l Limits) readBody(buffer *bytes.Buffer, w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > int64(l.Body) {
		return &http.MaxBytesError{Limit: int64(l.Body)}
	}
	body := http.MaxBytesReader(w, r.Body, int64(l.Body))
	if _, err := io.CopyN(buffer, body, admission.SmallBody+1); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	length := r.ContentLength
	if length < 0 {
		length = int64(l.Body)
	}
	buffer.Grow(max(0, int(length)-buffer.Len()) + bytes.MinRead)
	_, err := buffer.ReadFrom(body)
	return err
}

// unshared are the names of fields and arguments that depend on more than the request and the revision of the
// catalogue: on the caller, on other services, or on the log of changes, which is written and purged in between.
var unshared = []string{"viewer", "changes", "changeSet", "recentChanges", "history", "asOf",
	"lookup", "troubles"}

// hasName reports whether one of the names is a name of the document, not a part of a string or of another name. It
// returns true for a document with a syntax error.
func hasName(document string, names ...string) bool {
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(document, name) }) {
		return false
	}
	tokens := lexer.New(&ast.Source{Input: document})
	for {
		token, err := tokens.ReadToken()
		switch {
		case err != nil, token.Kind == lexer.Name && slices.Contains(names, token.Value):
			return true
		case token.Kind == lexer.EOF:
			return false
		}
	}
}

// shared reports whether the response depends only on the request and the revision.
func (q *request) shared(ctx context.Context) bool {
	return !q.wantsCost && !q.wantsPosition && model.TokenErrorOf(ctx) == nil && !hasName(q.query, unshared...)
}

// cacheable reports whether the response may come from the cache.
func (q *request) cacheable(ctx context.Context) bool {
	return q.shared(ctx) && !hasName(q.query, "mutation")
}

// cacheKey returns the cache key of the response. introspection reports whether the caller may
// read the schema.
func (q *request) cacheKey(introspection bool) pipeline.Key {
	return pipeline.KeyOf("graphql", strconv.FormatBool(httpcond.IsRead(q.method)), strconv.FormatBool(introspection),
		q.mediaType, q.query, q.operationName, string(q.variables))
}
