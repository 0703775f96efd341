package graphqlhttp

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
	"library-catalogue/rest"
	"library-catalogue/server/telemetry"
)

// execute runs an operation.
func (h *Handler) execute(ctx context.Context, w http.ResponseWriter, r *http.Request, q *request, o *operation) *graphql.Response {
	telemetry.RequestOf(ctx).SetOperation(&telemetry.Operation{Label: h.label(o.Operation), Name: telemetry.Truncate(o.Operation.Name), Document: o.RawQuery})
	var response *graphql.Response
	if keys := r.Header.Values(rest.KeyHeader); len(keys) > 0 && !o.isQuery() {
		response = h.runOnce(ctx, w, keys, q, o)
	} else {
		response = h.run(ctx, o)
	}
	response.Errors = response.Errors[:min(len(response.Errors), h.limits.Errors)]
	if q.wantsCost {
		response.Extensions = withExtension(response.Extensions, "cost", h.costReport(o))
	}
	return response
}

// run executes the operation. The answer to a query is of one revision.
func (h *Handler) run(ctx context.Context, o *operation) (response *graphql.Response) {
	var err error
	if o.isQuery() {
		err = h.Catalogue.ReadConsistent(ctx, func(ctx context.Context) error {
			response = h.dispatch(ctx, o)
			return unfinished(ctx, response)
		})
	} else {
		response = h.dispatch(ctx, o)
	}
	limit, limited := errors.AsType[*model.Error](context.Cause(ctx))
	switch {
	case err != nil && limited:
		return h.failed(ctx, limit)
	case err != nil && ctx.Err() == nil:
		return h.failed(ctx, err)
	case response == nil, err != nil && response.Errors == nil: // the executor does not begin where the context has ended
		return &graphql.Response{Errors: gqlerror.List{newError(model.Unavailable, "The request took too long. Try again.")}}
	}
	return response
}

func (h *Handler) dispatch(ctx context.Context, o *operation) *graphql.Response {
	ctx, end := h.Observer.StartOperation(ctx, string(o.Operation.Operation), telemetry.Truncate(o.Operation.Name))
	failure := ""
	defer func() { end(failure) }() // also after a panic
	responses, ctx := h.executor.DispatchOperation(ctx, o.OperationContext)
	response := responses(ctx)
	if response != nil && len(response.Errors) > 0 {
		failure = response.Errors[0].Message
	}
	return response
}

// unfinished returns why a query may have to be executed again: ErrSnapshotChanged where that
// is what failed, and otherwise the end of its context.
func unfinished(ctx context.Context, response *graphql.Response) error {
	switch {
	case response == nil:
		return context.Cause(ctx)
	case slices.ContainsFunc(response.Errors, func(err *gqlerror.Error) bool { return errors.Is(err, model.ErrSnapshotChanged) }):
		return model.ErrSnapshotChanged
	case len(response.Errors) > 0:
		return context.Cause(ctx)
	}
	return nil
}

// failed is the response of an operation that failed as a whole.
func (h *Handler) failed(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{h.presentError(ctx, err)}}
}
