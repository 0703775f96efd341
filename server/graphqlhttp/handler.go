// Package graphqlhttp serves GraphQL over HTTP. A request passes these stages, each in its own
// file. Each stage may refuse the request.
//
//	request      read the request
//	persisted    find the document by its id
//	documents    parse the document, check it against limits (limits) and rules (rules, overlap)
//	operation    choose the operation and read its variables (variables)
//	cost         estimate the price
//	execute      run the operation in package pipeline; mutation runs a keyed one once
//	subscription run a subscription, or a live query (live), and write server-sent events
//	response     write the response, or the errors (errors), as JSON
//
// The WebSockets of package socket call the stages by CreateOperation and DispatchOperation (executor).
package graphqlhttp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/lru"
	"library-catalogue/task"
)

// Catalogue is the data that GraphQL serves.
type Catalogue interface {
	graph.Source
	// WithSnapshot returns the context of a mutation, which reads its own writes.
	WithSnapshot(context.Context) context.Context
	// ReadBack calls fn until all its reads see one revision. fn writes at its first run, before it reads. Errors:
	// NotFound if the row was deleted since, with its parent; else the write is stored and its response is unknown.
	ReadBack(ctx context.Context, fn func(context.Context) error) error
	// Sizes returns approximate numbers of rows.
	Sizes() model.Sizes
	// Follow calls fn with each page of new changes until ctx ends or fn fails. Pages are shared.
	Follow(ctx context.Context, args model.ChangeArgs, admit func(context.Context) (release func(), err error),
		fn func(context.Context, *model.ChangePage) error) error
	// PrimeChanges announces changes, so that their rows are read together.
	PrimeChanges(ctx context.Context, changes []*model.Change)
	// Position returns the newest position that the reads of ctx see. Call it before them.
	Position(ctx context.Context) (string, error)
	// WithLookup asks other libraries for a book, and returns a context in which Query.lookup has the results. It takes
	// seconds, and authorises first.
	WithLookup(ctx context.Context, isbn string) (context.Context, error)
	// Idempotent stores the result of fn under the caller's key and returns it for later
	// requests with the same fingerprint.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte,
		replayed bool, err error)
}

// Options are the operator's settings for GraphQL.
type Options struct {
	Limits Limits
	// Introspection decides which callers see the schema, by introspection or by names that
	// errors suggest.
	Introspection Introspection
	// Trusted are the only documents that run; nil allows all.
	Trusted TrustedDocuments
}

// Config holds the parts of a Handler.
type Config struct {
	Catalogue Catalogue
	Options   Options
	Pipeline  *pipeline.Pipeline // runs the operations
	Live      *live.Hub          // runs live queries
	Streams   *eventstream.Streams
	Observer  *telemetry.Observer
	Logger    *slog.Logger
}

// Handler serves GraphQL requests by POST, GET, HEAD and QUERY.
type Handler struct {
	Config
	presenter
	limits    Limits
	variables variableTypes
	documents *documents
	persisted *persisted
	bases     lru.Cache[sum, json.RawMessage] // data that patches change
	schema    *ast.Schema
	planned   *plan.Type[plan.Root]
	executor  *executor.Executor
}

// New returns a Handler.
func New(cfg Config) *Handler {
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: cfg.Catalogue})
	h := &Handler{
		Config: cfg, presenter: presenter{cfg.Logger}, limits: cfg.Options.Limits.OrDefault(),
		schema: schema.Schema(), planned: graph.Planned(cfg.Catalogue), executor: executor.New(schema),
	}
	h.executor.SetErrorPresenter(h.presentError)
	h.executor.SetRecoverFunc(task.Recovered)
	for _, code := range model.Codes {
		cfg.Observer.DeclareErrors(string(code.InGraphQL()))
	}
	h.documents = newDocuments(schema.Schema(), h.limits, cfg.Options.Introspection, cfg.Pipeline.Admission)
	h.variables = variableTypes{h.schema, inputTypes(h.schema)}
	h.bases = newBases()
	h.persisted = newPersisted(h.documents, cfg.Options.Trusted, cfg.Logger)
	return h
}

// acceptQuery are the media types of QUERY (RFC 10008, section 3).
var acceptQuery = []string{plainJSON}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	varyByAccept(w.Header())
	w.Header()["Accept-Query"] = acceptQuery
	q, refused := readRequest(w, r, h.limits)
	admission.ReleaseBody(r)
	if refused == nil {
		refused = h.resolve(r.Context(), q)
	}
	if refused != nil {
		writeRefusal(w, r, q.mediaType, refused)
		return
	}
	var key pipeline.Key
	if q.cacheable(r.Context()) && !(q.events && hasName(q.query, liveDirective)) {
		key = q.cacheKey(h.Options.Introspection.Allows(r.Context()))
	}
	e := &execution{Handler: h, request: q}
	err := h.Pipeline.Run(w, r, key, func(ctx context.Context) (*pipeline.Operation, error) {
		if refused := e.prepare(ctx, r.Header); refused != nil {
			return nil, refused
		}
		if e.operation.isSubscription() || e.throttle > 0 && q.events && q.method != http.MethodHead {
			if !q.events {
				return nil, refuse(anyMedia(http.StatusNotAcceptable), model.BadUserInput, subscriptionAdvice)
			}
			return &pipeline.Operation{Price: e.operation.estimate, Serve: e.serveEvents}, nil
		}
		return e.pipelined(ctx, r), nil
	})
	if err != nil {
		writeRefusal(w, r, q.mediaType, refusalOf(err))
	}
}

// subscriptionAdvice is the error of a subscription without a stream.
const subscriptionAdvice = "A subscription needs a stream. Connect by WebSocket (graphql-transport-ws), or send Accept: text/event-stream."
