package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/rest"
)

const (
	// maxBody is how many bytes a GraphQL request may have.
	maxBody = 1 << 20
	// maxTokens is how many tokens a document may have; what has more is not parsed.
	maxTokens = 2_000
	// cachedDocuments is how many parsed and validated documents are kept, and
	// maxCachedDocument how many bytes of text one may have for that.
	cachedDocuments   = 1_000
	maxCachedDocument = 8 << 10
)

// graphQL answers GraphQL requests by POST and GET.
type graphQL struct {
	catalogue Catalogue
	executor  *executor.Executor
	answers   *cache
}

func newGraphQL(catalogue Catalogue, answers *cache, observer *Observer) *graphQL {
	e := executor.New(plan.New(graph.NewExecutableSchema(graph.Config{Resolvers: catalogue}), catalogue))
	e.SetErrorPresenter(present)
	e.SetRecoverFunc(recovered)
	e.AroundRootFields(stopAtFailure)
	e.SetParserTokenLimit(maxTokens)
	e.SetDefaultRulesFn(documentRules)
	e.SetQueryCache(documentCache{lru.New[*ast.QueryDocument](cachedDocuments)})
	e.Use(extension.Introspection{})
	e.Use(operations{observer})
	if observer.tracing != nil {
		e.Use(operationSpans{observer.tracing})
	}
	return &graphQL{catalogue: catalogue, executor: e, answers: answers}
}

// refusal is a request that is not looked at any further.
type refusal struct {
	status  int
	code    model.Code
	message string
}

func (g *graphQL) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	params, refused := readParams(w, r)
	if refused != nil {
		refuse(w, r, *refused)
		return
	}
	if strings.Contains(params.Query, "mutation") { // it may be one
		g.answer(w, r, params)
		return
	}
	variables, err := json.Marshal(params.Variables) // in order of their names
	if err != nil {
		panic(err) // they were decoded from JSON
	}
	if r.Method == http.MethodGet {
		// Read before the statements, and compared with a read after them.
		if revision, err := g.catalogue.Revision(r.Context()); err == nil && rest.NotModified(w, r, rest.RevisionTag(revision.Catalogue)) {
			return
		}
		w.Header().Del("ETag") // until there is an answer that it stands for
	}
	key := keyOf("graphql", r.Method, contentType(r), params.Query, params.OperationName, string(variables))
	g.answers.serve(w, r, key, func(w http.ResponseWriter) bool { return g.answer(w, r, params) })
}

// answer executes a request. Only what it says may be kept is the answer of a
// query, and without errors.
func (g *graphQL) answer(w http.ResponseWriter, r *http.Request, params *graphql.RawParams) (keep bool) {
	params.ReadTime.Start = graphql.Now()
	params.ReadTime.End = params.ReadTime.Start
	ctx := graphql.StartOperationTrace(r.Context())
	operation, errs := g.executor.CreateOperationContext(ctx, params)
	if errs != nil {
		for _, err := range errs {
			identify(ctx, err)
		}
		status := http.StatusOK // the request could be read; only its document is wrong
		if contentType(r) == graphQLResponse {
			status = http.StatusBadRequest
		}
		writeResponse(w, r, status, &graphql.Response{Errors: errs})
		return false
	}
	if r.Method == http.MethodGet && operation.Operation.Operation != ast.Query {
		w.Header().Set("Allow", http.MethodPost)
		writeResponse(w, r, http.StatusMethodNotAllowed, &graphql.Response{
			Errors: gqlerror.List{coded(ctx, model.BadUserInput, "A mutation must be sent by POST.")},
		})
		return false
	}
	buffer := buffers.Get().(*[]byte)
	response := g.execute(plan.WithBuffer(ctx, (*buffer)[:0]), w, r, params, operation)
	if r.Method == http.MethodGet && response.Errors == nil {
		g.tag(w, r)
	}
	writeResponse(w, r, http.StatusOK, response)
	if cap(response.Data) <= maxBuffer { // one huge answer must not stay in memory
		*buffer = response.Data[:0]
	}
	buffers.Put(buffer)
	return operation.Operation.Operation == ast.Query && response.Errors == nil
}

// tag gives an answer the ETag of its revision, where that was the same before
// and after its statements.
func (g *graphQL) tag(w http.ResponseWriter, r *http.Request) {
	before, err := g.catalogue.Revision(r.Context())
	if err != nil {
		return
	}
	after, err := g.catalogue.Revision(g.catalogue.Begin(r.Context()))
	if err == nil && before == after {
		w.Header().Set("ETag", rest.RevisionTag(before.Catalogue))
		w.Header().Set("Cache-Control", "no-cache") // keep it, but ask whether it still holds
	}
}

// maxBuffer is how many bytes a buffer may hold to be used again.
const maxBuffer = 1 << 20

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// run executes the operation; a query whose rows do not fit together because
// the catalogue changed between its statements is run again on a snapshot.
func (g *graphQL) run(ctx context.Context, operation *graphql.OperationContext) *graphql.Response {
	dispatch := func(ctx context.Context) *graphql.Response {
		responses, ctx := g.executor.DispatchOperation(ctx, operation)
		return responses(ctx)
	}
	response := dispatch(ctx)
	if operation.Operation.Operation == ast.Query && response != nil && moved(response) {
		err := g.catalogue.View(ctx, func(ctx context.Context, _ int64) error {
			response = dispatch(ctx)
			return nil
		})
		if err != nil {
			return &graphql.Response{Errors: gqlerror.List{present(ctx, err)}}
		}
	}
	if response == nil { // the executor does not begin where the context has ended
		return &graphql.Response{Errors: gqlerror.List{coded(ctx, model.Unavailable, "The request took too long. Try again.")}}
	}
	return response
}

func moved(response *graphql.Response) bool {
	for _, err := range response.Errors {
		if errors.Is(err, model.ErrMoved) {
			return true
		}
	}
	return false
}

// readParams reads a request (GraphQL over HTTP, section 5).
func readParams(w http.ResponseWriter, r *http.Request) (*graphql.RawParams, *refusal) {
	params := &graphql.RawParams{Headers: r.Header}
	switch r.Method {
	case http.MethodGet:
		query := r.URL.Query()
		params.Query = query.Get("query")
		params.OperationName = query.Get("operationName")
		for name, into := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
			if text := query.Get(name); text != "" && decode([]byte(text), into) != nil {
				return nil, &refusal{http.StatusBadRequest, model.BadUserInput, "The " + name + " parameter must be a JSON object."}
			}
		}
	case http.MethodPost:
		mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || mediaType != "application/json" {
			return nil, &refusal{http.StatusUnsupportedMediaType, model.BadUserInput, "The request must be JSON: send it with Content-Type: application/json."}
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, &refusal{http.StatusRequestEntityTooLarge, model.TooLarge, "The request must not be larger than 1 MiB."}
		}
		if err != nil {
			return nil, &refusal{http.StatusBadRequest, model.BadUserInput, "The request could not be read."}
		}
		if decode(body, params) != nil {
			return nil, &refusal{http.StatusBadRequest, model.BadUserInput, "The request must be a JSON object with the key query, and optionally operationName, variables and extensions."}
		}
		params.Headers = r.Header // whatever the body says
	default:
		w.Header().Set("Allow", "GET, POST")
		return nil, &refusal{http.StatusMethodNotAllowed, model.BadUserInput, "Send GraphQL requests by POST, or queries by GET."}
	}
	if params.Query == "" {
		return nil, &refusal{http.StatusBadRequest, model.BadUserInput, "The request has no query."}
	}
	return params, nil
}

// decode reads one JSON value, strictly, and keeps numbers as they are written.
func decode(data []byte, into any) error {
	if err := model.CheckJSON(data); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("text after the JSON value")
	}
	return nil
}

// graphQLResponse is the media type of GraphQL over HTTP. The status of such an
// answer speaks of the operation, and not of the transport alone.
const graphQLResponse = "application/graphql-response+json"

// contentType gives the media type in which a client is answered.
func contentType(r *http.Request) string {
	if strings.Contains(r.Header.Get("Accept"), graphQLResponse) {
		return graphQLResponse
	}
	return "application/json"
}

func writeResponse(w http.ResponseWriter, r *http.Request, status int, response *graphql.Response) {
	noteErrors(r.Context(), response.Errors)
	var envelope bytes.Buffer // all but the data, which is JSON already
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
	open := []byte(`{`)
	if response.Data != nil {
		open = []byte(`{"data":`)
		if len(tail) > 1 {
			tail = append([]byte(","), tail...)
		}
	}
	w.Header().Set("Content-Type", contentType(r)+"; charset=utf-8")
	w.Header().Add("Vary", "Accept")
	w.Header().Set("Content-Length", strconv.Itoa(len(open)+len(response.Data)+len(tail)))
	w.WriteHeader(status)
	for _, part := range [][]byte{open, response.Data, tail} {
		_, _ = w.Write(part) // a client that has gone needs no answer
	}
}
