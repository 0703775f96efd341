package graphqlhttp

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/server/pipeline"
)

var _ graphql.GraphExecutor = (*Handler)(nil)

// executionKey is the key of the execution in the Stats of its OperationContext.
const executionKey = "execution"

// CreateOperationContext implements graphql.GraphExecutor. It finds, checks and prices the
// operation, so that a transport of gqlgen needs no knowledge of documents and limits.
func (h *Handler) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	body, err := json.Marshal(params) // the limits of a body apply
	if err != nil {
		return &graphql.OperationContext{}, badRequest("The request cannot be written as JSON.").errors
	}
	e := &execution{Handler: h, request: &request{}}
	refused := e.decode(body, h.limits)
	if refused == nil {
		refused = h.resolve(ctx, e.request)
	}
	if refused == nil {
		refused = e.prepare(ctx, params.Headers)
	}
	if refused != nil {
		return &graphql.OperationContext{}, refused.errors
	}
	e.operation.Stats.SetExtension(executionKey, e)
	return e.operation.OperationContext, nil
}

// DispatchOperation implements graphql.GraphExecutor. It runs the operation in the pipeline,
// which charges the caller and queues the operation.
func (h *Handler) DispatchOperation(ctx context.Context, created *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	e := created.Stats.GetExtension(executionKey).(*execution)
	if e.operation.isSubscription() {
		return e.subscribe(ctx)
	}
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done {
			return nil
		}
		done = true
		r := (&http.Request{Header: created.Headers}).WithContext(ctx)
		operation := e.pipelined(ctx, r)
		operation.Tag, operation.Answer = nil, func(http.ResponseWriter) {}
		if err := h.Pipeline.Run(nil, r, nil, pipeline.Ready(operation)); err != nil {
			return h.DispatchError(ctx, refusalOf(err).errors)
		}
		return e.finished()
	}, ctx
}

// DispatchError implements graphql.GraphExecutor.
func (h *Handler) DispatchError(_ context.Context, errs gqlerror.List) *graphql.Response {
	return &graphql.Response{Errors: errs}
}
