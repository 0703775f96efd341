// Package graphqlhttp answers GraphQL requests over HTTP. A request passes these
// stages, each in a file of its own, and is refused by any of them:
//
//	request      it is read
//	persisted    the document that it names is found
//	documents    its document is parsed, held to the limits (limits) and the rules (rules, overlap)
//	operation    one operation is chosen, and its variables are made (variables)
//	cost         its price is estimated
//	conditional  the client may have its answer already
//	execute      it is run, a mutation with a key once only (idempotency)
//	response     the answer is written, or why there is none (errors)
package graphqlhttp

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/server/admission"
	"library-catalogue/server/ratelimit"
	"library-catalogue/server/respcache"
	"library-catalogue/server/telemetry"
)

// Catalogue is what GraphQL answers for.
type Catalogue interface {
	plan.Source
	// WithLoaders returns a context whose reads are new ones.
	WithLoaders(context.Context) context.Context
	// Revision returns where the catalogue stands: as of a moment after WithLoaders.
	Revision(context.Context) (model.Revision, error)
	// Sizes returns how many rows there are, about.
	Sizes() model.Sizes
	// ReadConsistent runs fn, all of whose reads are of one revision. fn may be run
	// twice.
	ReadConsistent(ctx context.Context, fn func(ctx context.Context) error) error
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
	Timeout   time.Duration    // of the work on a request that was read
	Cache     *respcache.Cache // nil: no answer is cached
	Admission *admission.Controller
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
	executor  *executor.Executor
}

// New returns a Handler.
func New(cfg Config) (*Handler, error) {
	schema := plan.New(graph.NewExecutableSchema(graph.Config{Resolvers: cfg.Catalogue}), cfg.Catalogue, plan.Hooks{
		Planned: func(ctx context.Context) { telemetry.RequestOf(ctx).MarkPlanned() },
		Panicked: func(ctx context.Context, value any) {
			telemetry.RequestOf(ctx).AddPanic()
			cfg.Logger.ErrorContext(ctx, "panic in a planned operation; the reference executor answers it", "value", value)
		},
	})
	h := &Handler{
		Config: cfg, limits: cfg.Options.Limits.OrDefault(), inputs: inputTypes(schema.Schema()),
		schema: schema.Schema(), executor: executor.New(schema),
	}
	h.executor.SetErrorPresenter(h.presentError)
	h.executor.SetRecoverFunc(h.recovered)
	h.executor.AroundRootFields(stopAtFailure)
	h.executor.SetQueryCache(parsedDocuments{})
	for _, code := range model.Codes {
		cfg.Observer.DeclareErrors(errorCode(code))
	}
	var err error
	if h.documents, err = newDocuments(schema.Schema(), h.limits, cfg.Options.Introspection, cfg.Admission); err != nil {
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
	ctx, cancel := context.WithTimeout(r.Context(), h.Timeout)
	defer cancel()
	r = r.WithContext(ctx)
	if refused == nil {
		refused = h.resolve(w, r, q)
	}
	switch {
	case refused != nil:
		writeRefusal(w, r, q.mediaType, refused)
	case q.cacheable(ctx):
		key := func() respcache.Key { return q.cacheKey(h.Options.Introspection.allows(ctx)) }
		if err := h.Cache.Serve(w, r, key, func(w http.ResponseWriter) bool { return h.answer(w, r, q) }); err != nil {
			h.answer(w, r, q) // each field says what is wrong
		}
	default:
		h.answer(w, r, q)
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
func (q *request) cacheKey(told bool) respcache.Key {
	return respcache.KeyOf("graphql", strconv.FormatBool(q.readOnly), strconv.FormatBool(told), q.mediaType, q.query, q.operationName, string(q.variables))
}

// answer prepares a request's operation, waits until it may be executed, executes it
// and writes the answer. It reports whether that may be cached: that of a query,
// without errors.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, q *request) (cacheable bool) {
	ctx := r.Context()
	o, refused := h.prepare(ctx, w, r, q)
	if refused != nil {
		writeRefusal(w, r, q.mediaType, refused)
		return false
	}
	conditional := q.readOnly && q.shared(ctx)
	if conditional && h.notModified(w, r, q.mediaType) {
		return false
	}
	release, refused := h.admit(w, r, o)
	if refused != nil {
		writeRefusal(w, r, q.mediaType, refused)
		return false
	}
	defer release()
	if o.isQuery() {
		var cancel context.CancelFunc
		ctx, cancel = admission.LimitRead(ctx, o.estimate)
		defer cancel()
	}

	buffer := buffers.Get().(*[]byte)
	response := h.execute(plan.With(ctx, o.plan, (*buffer)[:0]), w, r, q, o)
	if conditional && response.Errors == nil {
		h.setETag(w, r, q.mediaType)
	}
	release() // however slowly the client takes the answer
	writeResponse(w, r, q.mediaType, http.StatusOK, response)
	if cap(response.Data) <= maxBuffer {
		*buffer = response.Data[:0]
	}
	buffers.Put(buffer)
	return o.isQuery() && response.Errors == nil
}

// prepare finds out what is to be executed, and what it costs.
func (h *Handler) prepare(ctx context.Context, w http.ResponseWriter, r *http.Request, q *request) (*operation, *refusal) {
	if refused := h.chargeText(w, r, q); refused != nil {
		return nil, refused
	}
	document, refused := q.document, (*refusal)(nil)
	if document == nil {
		document, refused = h.documents.get(ctx, q.query)
	}
	if refused != nil {
		return nil, refused
	}
	o, refused := h.newOperation(ctx, q, document, r.Header)
	if refused == nil {
		refused = h.price(o)
	}
	if refused == nil && q.readOnly && !o.isQuery() {
		refused = refuse(http.StatusMethodNotAllowed, model.BadUserInput, "A mutation must be sent by POST.")
		refused.allow = http.MethodPost
	}
	return o, refused
}

// admit charges the caller for an operation, and waits until there are places for it.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request, o *operation) (release func(), _ *refusal) {
	if err := ratelimit.Charge(w, r, o.estimate.Total); err != nil {
		return nil, refuseError(err)
	}
	release, err := h.Admission.Acquire(r.Context(), o.estimate)
	if err != nil {
		return nil, refuseError(err)
	}
	return release, nil
}

// maxBuffer is how many bytes a buffer may hold to be used again: one huge answer
// must not stay in memory.
const maxBuffer = 1 << 20

var buffers = sync.Pool{New: func() any { return new([]byte) }}
