// Package graphqlhttp answers GraphQL requests over HTTP. A request passes these
// stages, each in a file of its own, and is refused by any of them:
//
//	request      it is read
//	persisted    the document that it names is found
//	documents    its document is parsed, held to the limits (limits) and the rules (rules, overlap)
//	operation    one operation is chosen, and its variables are made (variables)
//	cost         its price is estimated
//	execute      it is run by package pipeline, a mutation with a key once only (idempotency)
//	response     the answer is written, or why there is none (errors)
package graphqlhttp

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/server/admission"
	"library-catalogue/server/pipeline"
	"library-catalogue/server/telemetry"
)

// Catalogue is what GraphQL answers for.
type Catalogue interface {
	graph.Source
	// WithSnapshot returns the context of a mutation, which reads what it has written.
	WithSnapshot(context.Context) context.Context
	// Sizes returns how many rows there are, about.
	Sizes() model.Sizes
	// Idempotent stores the answer of fn under the caller's key, and returns that to
	// the same request later.
	Idempotent(ctx context.Context, key, fingerprint string, fn func(context.Context) ([]byte, error)) (answer []byte, replayed bool, err error)
}

// Options are what an operator decides about GraphQL.
type Options struct {
	Limits Limits
	// Introspection says who may read the schema, by introspection or by the names
	// that errors suggest.
	Introspection Introspection
	// Trusted are the only documents that are answered; nil: all are.
	Trusted TrustedDocuments
}

// Config is what a Handler is made of.
type Config struct {
	Catalogue Catalogue
	Options   Options
	Pipeline  *pipeline.Pipeline // runs the operations
	Observer  *telemetry.Observer
	Logger    *slog.Logger
}

// Handler answers GraphQL requests by POST, GET and HEAD.
type Handler struct {
	Config
	limits    Limits
	inputs    map[string]bool // types that are arguments of mutations
	documents *documents
	persisted *persisted
	schema    *ast.Schema
	planned   *plan.Type[plan.Root]
	executor  *executor.Executor
}

// New returns a Handler.
func New(cfg Config) (*Handler, error) {
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
	var err error
	if h.documents, err = newDocuments(schema.Schema(), h.limits, cfg.Options.Introspection, cfg.Pipeline.Admission); err != nil {
		return nil, err
	}
	h.persisted, err = newPersisted(h.documents, cfg.Options.Trusted, cfg.Logger)
	return h, err
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
		return e.pipelined(ctx, r), nil
	})
	if err != nil {
		writeRefusal(w, r, q.mediaType, refusalOf(err))
	}
}

// shared reports whether the answer to a request follows from the request and the
// catalogue alone, and is the same for every caller.
func (q *request) shared(ctx context.Context) bool {
	return !q.wantsCost && model.TokenErrorOf(ctx) == nil && !strings.Contains(q.query, "viewer") // else it may be that field
}

// cacheable reports whether the answer to a request may be in the cache.
func (q *request) cacheable(ctx context.Context) bool {
	return q.shared(ctx) && !strings.Contains(q.query, "mutation") // else it may be one
}

// cacheKey returns what stands for the request's answer in the cache. told says that the
// answer may be about the schema.
func (q *request) cacheKey(told bool) pipeline.Key {
	return pipeline.KeyOf("graphql", strconv.FormatBool(q.readOnly), strconv.FormatBool(told), q.mediaType, q.query, q.operationName, string(q.variables))
}
