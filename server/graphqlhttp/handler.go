// Package graphqlhttp answers GraphQL requests over HTTP.
package graphqlhttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/db/stats"
	"library-catalogue/graph"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/rest"
)

// Catalogue is what GraphQL answers for.
type Catalogue interface {
	plan.Source
	// WithLoaders returns a context whose reads are new ones.
	WithLoaders(context.Context) context.Context
	// Revision returns where the catalogue stands: as of a moment after WithLoaders.
	Revision(context.Context) (model.Revision, error)
	// InSnapshot runs fn on one snapshot of the catalogue.
	InSnapshot(ctx context.Context, fn func(ctx context.Context, revision int64) error) error
	// Idempotent stores the answer of fn under the caller's key, and returns that to
	// the same request later.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error)
}

// Options are what an operator decides about GraphQL.
type Options struct {
	Limits Limits
	// Introspection tells the schema to whoever asks, in whole, or by the names
	// that errors suggest.
	Introspection bool
	// Explain shows the SQL of a request to the holder of a token who asks for it.
	Explain bool
	// Trusted are the only documents that are answered; nil: all are.
	Trusted TrustedDocuments
}

// Config is what a Handler is made of.
type Config struct {
	Catalogue  Catalogue
	Options    Options
	Operations []string                   // names of operations that metrics tell apart
	Extensions []graphql.HandlerExtension // of the executor: traces

	// Admit waits until there is room for work of that cost, and AdmitParsing until
	// one more unknown document may be parsed. release may be called twice.
	Admit        func(ctx context.Context, cost int64) (release func(), _ error)
	AdmitParsing func(context.Context) (release func(), _ error)
	// ReleaseBody gives up what the request holds because its body was large.
	ReleaseBody func(context.Context)
	// Charge charges the request's caller units beyond the first, and ChargeCost
	// what so much cost makes. Where the caller has fewer they answer 429 and
	// report false.
	Charge     func(w http.ResponseWriter, r *http.Request, units int) bool
	ChargeCost func(w http.ResponseWriter, r *http.Request, cost int64) bool
	// Cached answers a request from the cache by what identifies its answer, or has
	// answer do it and keeps that, if answer reports that it may be kept.
	Cached func(w http.ResponseWriter, r *http.Request, key func() []string, answer func(http.ResponseWriter) (keep bool))
}

// requestTimeout bounds the work on an answer.
const requestTimeout = 30 * time.Second

// Handler answers GraphQL requests by POST, GET and HEAD.
type Handler struct {
	Config
	limits    Limits
	documents *documents
	persisted *persisted
	costs     *cost.Estimator
	executor  *executor.Executor
}

// New makes a Handler.
func New(cfg Config) (*Handler, error) {
	schema := plan.New(graph.NewExecutableSchema(graph.Config{Resolvers: cfg.Catalogue}), cfg.Catalogue)
	limits := cfg.Options.Limits.OrDefault()
	e := executor.New(schema)
	e.SetErrorPresenter(present)
	e.SetRecoverFunc(recovered)
	e.AroundRootFields(stopAtFailure)
	e.SetQueryCache(fromContext{})
	if cfg.Options.Introspection {
		e.Use(extension.Introspection{})
	}
	e.Use(operations{cfg.Operations, cfg.Options.Trusted != nil})
	for _, extension := range cfg.Extensions {
		e.Use(extension)
	}
	documents, err := newDocuments(schema.Schema(), limits, cfg.Options.Introspection, cfg.AdmitParsing)
	if err != nil {
		return nil, err
	}
	persisted, err := newPersisted(documents, cfg.Options.Trusted)
	if err != nil {
		return nil, err
	}
	return &Handler{
		Config: cfg, limits: limits, executor: e,
		documents: documents, persisted: persisted, costs: cost.NewEstimator(schema.Schema()),
	}, nil
}

func (g *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	varyByAccept(w.Header())
	q, refused := g.limits.readRequest(w, r)
	if refused == nil {
		q.reports, refused = g.readReports(r)
	}
	if refused != nil {
		writeRefusal(w, r, *refused)
		return
	}
	if errs := g.persisted.find(r.Context(), q); errs != nil {
		writeInvalid(w, r, errs)
		return
	}
	if q.query == "" {
		writeRefusal(w, r, *bad("The request has no query."))
		return
	}
	if q.reports != (reports{}) || strings.Contains(q.query, "mutation") { // it may be one
		g.answer(w, r, q)
		return
	}
	key := func() []string {
		media, _ := mediaType(r)
		return []string{"graphql", strconv.FormatBool(reads(r.Method)), media, q.query, q.operationName, q.variables}
	}
	g.Cached(w, r, key, func(w http.ResponseWriter) bool { return g.answer(w, r, q) })
}

// answer executes a request. Only what it says may be kept is the answer of a
// query, and without errors.
func (g *Handler) answer(w http.ResponseWriter, r *http.Request, q *request) (keep bool) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	if units := len(q.query) / textUnit; units > 0 && !g.documents.knows(q.query) && !g.Charge(w, r, units) {
		return false
	}
	operation, document, errs := g.operation(ctx, r, q)
	var estimate cost.Estimate
	if errs == nil {
		estimate, errs = g.estimate(operation, document)
	}
	if errs != nil {
		writeInvalid(w, r, errs)
		return false
	}
	if reads(r.Method) && operation.Operation.Operation != ast.Query {
		w.Header().Set("Allow", http.MethodPost)
		writeResponse(w, r, http.StatusMethodNotAllowed, &graphql.Response{
			Errors: gqlerror.List{coded(ctx, model.BadUserInput, "A mutation must be sent by POST.")},
		})
		return false
	}
	tagged := reads(r.Method) && q.reports == (reports{})
	if tagged && g.notModified(w, r) || !g.ChargeCost(w, r, estimate.Total) {
		return false
	}
	g.ReleaseBody(ctx)
	leave, err := g.Admit(ctx, estimate.Total)
	if err != nil {
		WriteError(w, r, http.StatusServiceUnavailable, model.AsError(err))
		return false
	}
	defer leave()
	if q.reports.explain {
		stats.Of(ctx).Explain(fieldOf)
	}
	buffer := buffers.Get().(*[]byte)
	response := g.execute(plan.With(ctx, &document.plans, (*buffer)[:0], q.reports.explain), w, r, q, operation)
	response.Errors = response.Errors[:min(len(response.Errors), g.limits.Errors)]
	g.report(ctx, q.reports, estimate, response)
	if tagged && response.Errors == nil {
		g.tag(w, r)
	}
	leave() // however slowly the client takes the answer
	writeResponse(w, r, http.StatusOK, response)
	if cap(response.Data) <= maxBuffer { // one huge answer must not stay in memory
		*buffer = response.Data[:0]
	}
	buffers.Put(buffer)
	return operation.Operation.Operation == ast.Query && response.Errors == nil
}

// operation makes what the executor runs, or says what is wrong with the
// document or its variables.
func (g *Handler) operation(ctx context.Context, r *http.Request, q *request) (*graphql.OperationContext, *document, gqlerror.List) {
	document, errs := g.documents.get(ctx, q.query)
	if errs != nil {
		return nil, nil, errs
	}
	operation := document.Operations.ForName(q.operationName)
	if operation == nil {
		err := gqlerror.Errorf("The document has no operation %q.", q.operationName)
		if q.operationName == "" {
			err.Message = "The document has several operations: name one of them as operationName."
		}
		errcode.Set(err, errcode.ValidationFailed)
		return nil, nil, gqlerror.List{short(err)}
	}
	variables, err := g.readVariables(ctx, operation, q.variables)
	if err != nil {
		return nil, nil, gqlerror.List{err}
	}
	made, errs := g.executor.CreateOperationContext(graphql.StartOperationTrace(withDocument(ctx, document)), &graphql.RawParams{
		Query: q.query, OperationName: q.operationName, Variables: variables, Headers: r.Header,
	})
	return made, document, nameVariables(operation, errs)
}

// notModified answers 304 where the client has the answer of an operation that is
// about to be executed: only then is there a condition to look at (RFC 9110,
// section 13.2.1). It is called in any case before tag.
func (g *Handler) notModified(w http.ResponseWriter, r *http.Request) bool {
	revision, err := g.Catalogue.Revision(r.Context())
	if err != nil {
		return false // the statements find out for themselves what is wrong
	}
	w.Header()["Cache-Control"] = keepAndAsk
	if rest.NotModified(w, r, revisionTag(r, revision)) {
		return true
	}
	w.Header().Del("Cache-Control") // until there is an answer that they stand for
	w.Header().Del("ETag")
	return false
}

// keepAndAsk lets a cache keep an answer that it asks about each time.
var keepAndAsk = []string{"no-cache"}

// revisionTag is the ETag of every answer at a revision, in the media type that
// the client is answered in.
func revisionTag(r *http.Request, revision model.Revision) string {
	tag := rest.RevisionTag(revision.Catalogue)
	if media, _ := mediaType(r); media == graphQLResponse {
		return strings.TrimSuffix(tag, `"`) + `-graphql"`
	}
	return tag
}

// tag gives an answer the ETag of its revision, where that was the same before,
// when notModified read it, and after its statements.
func (g *Handler) tag(w http.ResponseWriter, r *http.Request) {
	before, err := g.Catalogue.Revision(r.Context())
	if err != nil {
		return
	}
	after, err := g.Catalogue.Revision(g.Catalogue.WithLoaders(r.Context()))
	if err == nil && before == after {
		w.Header().Set("ETag", revisionTag(r, before))
		w.Header()["Cache-Control"] = keepAndAsk
	}
}

// maxBuffer is how many bytes a buffer may hold to be used again.
const maxBuffer = 1 << 20

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// run executes the operation; a query whose rows do not fit together because
// the catalogue changed between its statements is run again on a snapshot.
func (g *Handler) run(ctx context.Context, operation *graphql.OperationContext) *graphql.Response {
	dispatch := func(ctx context.Context) *graphql.Response {
		responses, ctx := g.executor.DispatchOperation(ctx, operation)
		return responses(ctx)
	}
	response := dispatch(ctx)
	if operation.Operation.Operation == ast.Query && response != nil && moved(response) {
		err := g.Catalogue.InSnapshot(ctx, func(ctx context.Context, _ int64) error {
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
		if errors.Is(err, model.ErrSnapshotChanged) {
			return true
		}
	}
	return false
}
