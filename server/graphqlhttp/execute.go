package graphqlhttp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// execution runs the operation of a request. It calls prepare, and gives the pipeline what pipelined returns. The
// pipeline calls read (again if a write came between) or write, failed after an error, and answer last.
type execution struct {
	*Handler
	*request
	operation   *operation
	throttle    time.Duration           // between the responses of a live query; 0: another operation
	lookup      *graphql.CollectedField // the only field of the operation; nil: another operation
	buffer      *[]byte
	response    *graphql.Response
	interrupted bool   // the context ended while the query ran
	replayed    bool   // the response was stored under an Idempotency-Key
	position    string // newest position that the response sees, if it is wanted
}

// prepare finds the operation of the request and estimates its price.
func (e *execution) prepare(ctx context.Context, header http.Header) (refused *refusal) {
	if refused = e.chargeText(ctx, e.request); refused != nil {
		return refused
	}
	if e.document == nil {
		if e.document, refused = e.documents.get(ctx, e.query); refused != nil {
			return refused
		}
	}
	if e.operation, refused = e.newOperation(ctx, e.request, e.document, header); refused != nil {
		return refused
	}
	if e.throttle, refused = throttleOf(e.operation); refused != nil {
		return refused
	}
	if e.lookup, refused = lookupOf(e.operation, e.throttle > 0); refused != nil {
		return refused
	}
	if refused = e.price(e.operation); refused != nil {
		return refused
	}
	switch kind := e.operation.Operation.Operation; {
	case kind == ast.Mutation && httpcond.IsRead(e.method):
		return refuseMethod("A mutation must be sent by POST.", http.MethodPost)
	case kind == ast.Subscription && e.method == httpcond.MethodQuery: // QUERY is repeatable and its response cacheable
		return refuseMethod("A subscription must be sent by POST or GET.", "GET, POST")
	}
	return nil
}

// pipelined returns the prepared operation for the pipeline.
func (e *execution) pipelined(ctx context.Context, r *http.Request) *pipeline.Operation {
	o := e.operation
	run := &pipeline.Operation{
		Price: o.estimate, Failed: e.failed,
		Answer: func(w http.ResponseWriter) { e.answer(w, r) },
	}
	if e.lookup != nil {
		run.Before = e.askSources
	}
	switch {
	case o.isQuery():
		run.Read, run.MayLag = e.read, onlyLists(o.Operation.SelectionSet) && !hasName(e.query, unshared...)
	default:
		run.Write = func(ctx context.Context) error { return e.write(ctx, r) }
	}
	if httpcond.IsRead(e.method) && e.shared(ctx) {
		run.Tag = func(revision int64) string { return etag(e.mediaType, revision) }
	}
	return run
}

// askSources asks other libraries for the book of a look-up.
func (e *execution) askSources(ctx context.Context) (context.Context, error) {
	isbn, _ := e.lookup.ArgumentMap(e.operation.Variables)["isbn"].(string)
	return e.Catalogue.WithLookup(ctx, isbn)
}

// onlyLists reports whether the fields of a query are lists. An object by its id is never read from a late replica.
func onlyLists(set ast.SelectionSet) bool {
	return !slices.ContainsFunc(set, func(selection ast.Selection) bool {
		switch selection := selection.(type) {
		case *ast.Field:
			return !slices.Contains([]string{"books", "genres", "categories", "bookGroups", "__typename"},
				selection.Name)
		case *ast.InlineFragment:
			return !onlyLists(selection.SelectionSet)
		case *ast.FragmentSpread:
			return !onlyLists(selection.Definition.SelectionSet)
		}
		return true
	})
}

// etag returns the ETag of every response at a revision in a media type.
func etag(mediaType string, revision int64) string {
	tag := httpcond.RevisionTag(revision)
	switch mediaType {
	case graphQLResponse:
		return httpcond.SuffixTag(tag, "-graphql")
	case eventStream:
		return httpcond.SuffixTag(tag, "-events")
	}
	return tag
}

func (e *execution) record(ctx context.Context) {
	o := e.operation
	telemetry.RequestOf(ctx).Operation.Store(
		&telemetry.Operation{Label: e.label(o.Operation), Name: telemetry.Truncate(o.Operation.Name),
			Document: o.RawQuery})
}

// begin records the operation and takes a buffer, unless a first run has one.
func (e *execution) begin(ctx context.Context) {
	e.record(ctx)
	if e.buffer == nil {
		e.buffer = buffers.Get().(*[]byte)
	}
}

// read executes a query. The response is cacheable if it has no errors.
func (e *execution) read(ctx context.Context) (cacheable bool, err error) {
	e.begin(ctx)
	if e.wantsPosition {
		if e.position, err = e.Catalogue.Position(ctx); err != nil {
			return false, err
		}
	}
	e.response = e.dispatch(ctx)
	err = unfinished(ctx, e.response)
	e.interrupted = err != nil
	return err == nil && e.response.Errors == nil, err
}

func (e *execution) write(ctx context.Context, r *http.Request) error {
	e.begin(ctx)
	key, given, err := httpcond.Key(r)
	switch {
	case err != nil:
		e.response = e.failure(ctx, err)
	case given:
		e.response, e.replayed = e.writeOnce(ctx, key)
	default:
		e.response = e.dispatch(ctx)
	}
	if e.response == nil {
		return cmp.Or(context.Cause(ctx), errors.New("the executor gave no response"))
	}
	return nil
}

// failed sets the response of an operation that failed as a whole. An operation that timed out
// keeps the errors of its response.
func (e *execution) failed(ctx context.Context, err error) {
	// The limit of a read has an error of its own.
	_, limited := errors.AsType[*model.Error](context.Cause(ctx))
	timedOut := e.interrupted && e.response != nil && e.response.Errors != nil
	switch {
	case ctx.Err() == nil || limited:
		e.response = e.failure(ctx, err)
	case !timedOut: // the context ended in the queue, or before a second run
		e.response = &graphql.Response{
			Errors: gqlerror.List{newError(model.Unavailable, "The request took too long. Try again.")}}
	}
}

// finished returns the response with its errors limited and its cost added.
func (e *execution) finished() *graphql.Response {
	e.response.Errors = e.response.Errors[:min(len(e.response.Errors), maxErrors)]
	if e.wantsCost {
		e.response.Extensions = withExtension(e.response.Extensions, "cost", e.costReport(e.operation))
	}
	if e.position != "" {
		e.response.Extensions = withExtension(e.response.Extensions, "position", e.position)
	}
	return e.response
}

func (e *execution) answer(w http.ResponseWriter, r *http.Request) {
	if e.replayed {
		w.Header().Set(httpcond.ReplayedHeader, "true")
	}
	if e.position != "" {
		w.Header().Set(httpcond.PositionHeader, e.position)
	}
	response := e.finished()
	writeResponse(w, r, e.mediaType, executed(response).in(e.mediaType), response)
	if e.buffer == nil { // the operation did not run
		return
	}
	if cap(e.response.Data) <= maxBuffer {
		*e.buffer = e.response.Data[:0]
	}
	buffers.Put(e.buffer)
}

// maxBuffer is the maximum capacity in bytes of a pooled buffer, because a huge response must
// not stay in memory.
const maxBuffer = 1 << 20

var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (e *execution) dispatch(ctx context.Context) *graphql.Response {
	o := e.operation
	ctx, end := e.Observer.StartOperation(ctx, string(o.Operation.Operation), telemetry.Truncate(o.Operation.Name))
	failure := ""
	defer func() { end(failure) }() // runs after a panic too
	var response *graphql.Response
	if o.plan.Complete() {
		telemetry.RequestOf(ctx).Planned.Store(true)
		ctx = graphql.WithOperationContext(ctx, o.OperationContext)
		ctx = graphql.WithResponseContext(ctx, e.presentError, task.Recovered)
		response = o.plan.Answer(ctx, (*e.buffer)[:0], maxErrors)
	} else {
		responses, ctx := e.executor.DispatchOperation(ctx, o.OperationContext)
		response = responses(ctx)
	}
	if response != nil && len(response.Errors) > 0 {
		failure = response.Errors[0].Message
	}
	return response
}

// unfinished returns the cause of an ended context if it may have ended the query.
func unfinished(ctx context.Context, response *graphql.Response) error {
	if response == nil || len(response.Errors) > 0 {
		return context.Cause(ctx)
	}
	return nil
}

// failure returns the response of an operation that failed as a whole.
func (h *Handler) failure(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{h.presentError(ctx, err)}}
}
