// Package graphqlhttp serves GraphQL over HTTP. A request passes these stages, each in its own
// file. Each stage may refuse the request.
//
//	request      read the request
//	persisted    find the document by its id
//	documents    parse the document, check it against limits (limits) and rules (rules, overlap)
//	operation    choose the operation and read its variables (variables)
//	cost         estimate the price
//	execute      run the operation in package pipeline; mutation runs a keyed one once
//	subscription run a subscription
//	response     write the response, or the errors (errors), as JSON or as server-sent events (events)
//
// The WebSockets of package socket call the stages by CreateOperation and DispatchOperation (executor).
package graphqlhttp

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
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
	Follow(ctx context.Context, args model.ChangeArgs, admit func(context.Context) (release func(), err error), fn func(context.Context, *model.ChangePage) error) error
	// PrimeChanges announces changes whose rows are read together.
	PrimeChanges(ctx context.Context, changes []*model.Change)
	// Position returns the newest position that the reads of ctx see. Call it before them.
	Position(ctx context.Context) (string, error)
	// Idempotent stores the result of fn under the caller's key and returns it for later
	// requests with the same fingerprint.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error)
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
	Streams   *eventstream.Streams
	Observer  *telemetry.Observer
	Logger    *slog.Logger
}

// Handler serves GraphQL requests by POST, GET and HEAD.
type Handler struct {
	Config
	limits    Limits
	inputs    map[string]bool // types of arguments of mutations
	documents *documents
	persisted *persisted
	schema    *ast.Schema
	planned   *plan.Type[plan.Root]
	executor  *executor.Executor
}

// New returns a Handler.
func New(cfg Config) *Handler {
	schema := graph.NewExecutableSchema(graph.Config{Resolvers: cfg.Catalogue})
	h := &Handler{
		Config: cfg, limits: cfg.Options.Limits.OrDefault(), inputs: inputTypes(schema.Schema()),
		schema: schema.Schema(), planned: graph.Planned(cfg.Catalogue), executor: executor.New(schema),
	}
	h.executor.SetErrorPresenter(h.presentError)
	h.executor.SetRecoverFunc(h.recovered)
	for _, code := range model.Codes {
		cfg.Observer.DeclareErrors(errorCode(code))
	}
	h.documents = newDocuments(schema.Schema(), h.limits, cfg.Options.Introspection, cfg.Pipeline.Admission)
	h.persisted = newPersisted(h.documents, cfg.Options.Trusted, cfg.Logger)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	varyByAccept(w.Header())
	q, refused := h.readRequest(w, r)
	admission.ReleaseBody(r)
	if refused == nil {
		refused = h.resolve(r.Context(), q)
	}
	if refused != nil {
		writeRefusal(w, r, q.mediaType, refused)
		return
	}
	var key pipeline.Key
	if q.cacheable(r.Context()) {
		key = q.cacheKey(h.Options.Introspection.allows(r.Context()))
	}
	e := &execution{Handler: h, request: q}
	err := h.Pipeline.Run(w, r, key, func(ctx context.Context) (*pipeline.Operation, error) {
		if refused := e.prepare(ctx, r.Header); refused != nil {
			return nil, refused
		}
		if e.operation.isSubscription() {
			if !q.events {
				return nil, refuse(http.StatusNotAcceptable, model.BadUserInput, subscriptionAdvice)
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

// unshared are the names of fields and arguments that depend on more than the request and the revision of the
// catalogue: on the caller, or on the log of changes, which is written and purged in between.
var unshared = []string{"viewer", "changes", "recentChanges", "history", "asOf"}

// shared reports whether the response depends only on the request and the revision.
func (q *request) shared(ctx context.Context) bool {
	return !q.wantsCost && !q.wantsPosition && model.TokenErrorOf(ctx) == nil && !hasName(q.query, unshared...)
}

// cacheable reports whether the response may come from the cache.
func (q *request) cacheable(ctx context.Context) bool {
	return q.shared(ctx) && !hasName(q.query, "mutation")
}

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

// cacheKey returns the cache key of the response. introspection reports whether the caller may
// read the schema.
func (q *request) cacheKey(introspection bool) pipeline.Key {
	return pipeline.KeyOf("graphql", strconv.FormatBool(q.readOnly), strconv.FormatBool(introspection), q.mediaType, q.query, q.operationName, string(q.variables))
}
