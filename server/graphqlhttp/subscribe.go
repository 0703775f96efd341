package graphqlhttp

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/server/ratelimit"
	"library-catalogue/server/telemetry"
)

// open charges the caller for a subscription, opens a stream and starts the subscription.
func (e *execution) open(ctx context.Context) (graphql.ResponseHandler, context.Context) {
	err := ratelimit.Charge(ctx, e.operation.estimate.Total)
	var end func(error)
	stream := ctx
	if err == nil {
		stream, end, err = e.Streams.Open(ctx)
	}
	if err != nil {
		return graphql.OneShot(e.DispatchError(ctx, ErrorsOf(err))), ctx
	}
	next := e.subscribe(stream)
	var failure error
	return func(ctx context.Context) *graphql.Response {
		response := next(ctx)
		switch {
		case response == nil && end != nil:
			end(failure)
			end = nil
		case response != nil && response.Data == nil:
			failure = response.Errors
		}
		return response
	}, stream
}

// subscribe starts a subscription. ctx ends with its stream. The ResponseHandler returns nil after the
// last response. It reads the nested fields of each response from a new Snapshot.
func (e *execution) subscribe(ctx context.Context) graphql.ResponseHandler {
	o := e.operation
	telemetry.RequestOf(ctx).Operation.Store(&telemetry.Operation{Label: e.label(o.Operation), Name: telemetry.Truncate(o.Operation.Name), Document: o.RawQuery})
	ctx, end := e.Observer.StartOperation(ctx, string(o.Operation.Operation), telemetry.Truncate(o.Operation.Name))
	ctx = graphql.WithOperationContext(ctx, o.OperationContext)
	started := graphql.WithResponseContext(ctx, e.presentError, e.recovered)
	root := &graphql.FieldContext{
		Object: "Subscription", Field: graphql.CollectFields(o.OperationContext, o.Operation.SelectionSet, []string{"Subscription"})[0],
	}
	next := e.source.Exec(started)
	ended := false
	if len(graphql.GetErrors(started)) > 0 {
		next = func(context.Context) *graphql.Response { return nil }
	}
	return func(context.Context) *graphql.Response {
		if ended {
			return nil
		}
		each := graphql.WithResponseContext(graphql.WithFieldContext(e.Catalogue.WithSnapshot(ctx), root), e.presentError, e.recovered)
		response := next(each)
		if response != nil {
			response.Errors = graphql.GetErrors(each)
		} else {
			ended = true
			errors := graphql.GetErrors(started)
			failure := ""
			if len(errors) > 0 {
				failure, response = errors[0].Message, &graphql.Response{Errors: errors}
			}
			end(failure)
		}
		if response != nil {
			response.Errors = response.Errors[:min(len(response.Errors), e.limits.Errors)]
			recordErrors(ctx, response)
		}
		return response
	}
}
