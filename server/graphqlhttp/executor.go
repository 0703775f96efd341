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

// executionKey is under which an OperationContext has its execution.
const executionKey = "execution"

// CreateOperationContext implements graphql.GraphExecutor. A transport of gqlgen that uses it
// needs to know nothing of documents, limits and prices.
func (h *Handler) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	body, err := json.Marshal(params) // what they may hold is limited as in a body
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

// DispatchOperation implements graphql.GraphExecutor. The response has been charged, has
// waited for its place and was read from one Snapshot.
func (h *Handler) DispatchOperation(ctx context.Context, created *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	e := created.Stats.GetExtension(executionKey).(*execution)
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
