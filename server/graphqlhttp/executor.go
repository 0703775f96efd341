package graphqlhttp

import (
	"context"
	"net/http"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// executionKey is the key of the execution in the Stats of its OperationContext.
const executionKey = "execution"

// CreateOperation finds, checks and prices the operation of a request in JSON.
func (h *Handler) CreateOperation(
	ctx context.Context, body []byte, header http.Header,
) (*graphql.OperationContext, gqlerror.List) {
	e := &execution{Handler: h, request: &request{}}
	refused := e.decode(body)
	if refused == nil {
		refused = h.resolve(ctx, e.request)
	}
	if refused == nil {
		refused = e.prepare(ctx, header)
	}
	if refused != nil {
		return &graphql.OperationContext{}, refused.errors
	}
	e.operation.Stats.SetExtension(executionKey, e)
	return e.operation.OperationContext, nil
}

// Query runs a query for another handler of this server, and charges the caller. The document is the server's own, so
// it runs even if only trusted documents do. Variables are a JSON object or null. It returns the data, or the first
// error of the response.
func (h *Handler) Query(ctx context.Context, query string, variables []byte) (data []byte, err error) {
	e := &execution{Handler: h, request: &request{query: query, variables: variables}}
	if refused := e.prepare(ctx, http.Header{}); refused != nil {
		e.response = h.DispatchError(ctx, refused.errors)
	} else {
		e.operation.Stats.SetExtension(executionKey, e)
		next, ctx := h.DispatchOperation(ctx, e.operation.OperationContext)
		e.response = next(ctx)
	}
	if len(e.response.Errors) > 0 {
		err := e.response.Errors[0]
		code, _ := err.Extensions["code"].(string)
		return nil, &model.Error{Code: model.Code(code), Message: err.Message, Err: err}
	}
	return e.response.Data, nil
}

// DispatchOperation runs an operation without an HTTP response: of a WebSocket, or of Query. The pipeline charges the
// caller and queues a query or mutation. A subscription or a live query is charged once, and opens a stream. Call the
// ResponseHandler until it returns nil, with the returned context, which ends with the stream. The types are those of
// gqlgen's GraphExecutor, so the execution travels in Stats.
//
// A response without data has the errors of an operation that did not run, or of a subscription that
// ended; it is the last one.
func (h *Handler) DispatchOperation(
	ctx context.Context, created *graphql.OperationContext,
) (graphql.ResponseHandler, context.Context) {
	e := created.Stats.GetExtension(executionKey).(*execution)
	if e.operation.isSubscription() || e.throttle > 0 {
		return e.open(ctx)
	}
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		r := (&http.Request{Header: created.Headers}).WithContext(ctx)
		operation := e.pipelined(ctx, r)
		operation.MayLag = false                        // no header can say that the data are late
		operation.Tag = nil                             // a message needs its data
		operation.Answer = func(http.ResponseWriter) {} // finished returns the response
		if err := h.Pipeline.Run(Discard{}, r, nil, pipeline.Ready(operation)); err != nil {
			return h.DispatchError(ctx, refusalOf(err).errors)
		}
		response := e.finished()
		recordErrors(ctx, response)
		return response
	}, ctx
}

// Discard is the ResponseWriter of an operation without an HTTP response.
type Discard http.Header

// Header implements http.ResponseWriter.
func (d Discard) Header() http.Header { return http.Header(d) }

// Write implements http.ResponseWriter.
func (Discard) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (Discard) WriteHeader(int) {}

// DispatchError returns the response with errors of an operation that did not run.
func (h *Handler) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	response := &graphql.Response{Errors: errs}
	recordErrors(ctx, response)
	return response
}

// ErrorsOf returns an error from outside GraphQL for DispatchError.
func ErrorsOf(err error) gqlerror.List { return refusalOf(err).errors }

// open charges the caller for a subscription or a live query, opens a stream and starts it.
func (e *execution) open(ctx context.Context) (graphql.ResponseHandler, context.Context) {
	refused := func(err error) (graphql.ResponseHandler, context.Context) {
		return graphql.OneShot(e.DispatchError(ctx, ErrorsOf(err))), ctx
	}
	if err := ratelimit.Charge(ctx, e.operation.estimate.Total); err != nil {
		return refused(err)
	}
	streamCtx, end, err := e.Streams.Open(ctx)
	if err != nil {
		return refused(err)
	}
	var ended sync.Once
	task.OnDone(ctx, func() { ended.Do(func() { end(nil) }) }) // also if the caller panics
	next, streamCtx := e.start(streamCtx)
	var failure error
	return func(ctx context.Context) *graphql.Response {
		response := next(ctx)
		switch {
		case response == nil:
			ended.Do(func() { end(failure) })
		case response.Data == nil: // the last response: why the subscription ended
			failure = response.Errors
		}
		return response
	}, streamCtx
}
