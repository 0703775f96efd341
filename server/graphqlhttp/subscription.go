package graphqlhttp

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// changesAtOnce is the maximum number of changes that are evaluated at one revision, so that long
// rows do not take much memory.
const changesAtOnce = 100

var errSlowEvents = model.Errorf(model.Unavailable,
	"The server is too busy for this subscription. Resume from your last position.")

// subscribe starts a subscription. Each response has one change. The last one has only the error that
// ended the subscription, if there is one. The responses end with ctx.
//
//  1. gqlgen's executor calls the resolver, which checks the arguments and returns the channel changes.
//  2. follow reads the log. It sends each change to the channel, and gqlgen's executor receives it and
//     resolves its fields, at one revision.
//  3. The returned handler passes the responses on to the connection, one a call.
func (e *execution) subscribe(ctx context.Context) (graphql.ResponseHandler, context.Context) {
	e.record(ctx)
	var args *model.ChangeArgs
	changes := make(chan *model.Change, 1)
	ctx = graph.WithSubscribe(ctx, func(checked model.ChangeArgs) <-chan *model.Change {
		args = &checked
		return changes
	})
	evaluate, ctx := e.executor.DispatchOperation(ctx, e.operation.OperationContext)
	if args == nil { // the resolver has refused the arguments
		return evaluate, ctx
	}
	evaluateChange := func(ctx context.Context, change *model.Change) *graphql.Response {
		changes <- change
		return evaluate(ctx)
	}
	answers := make(chan *graphql.Response)
	send := func(answer *graphql.Response) error {
		select {
		case answers <- answer:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	ended := task.Go(ctx, func() error { return e.follow(ctx, *args, evaluateChange, send) })
	return func(ctx context.Context) *graphql.Response {
		select {
		case answer := <-answers:
			return answer
		case err := <-ended: // nil at the second call
			if err != nil && ctx.Err() == nil {
				return e.failure(ctx, err)
			}
		case <-ctx.Done():
			<-ended // its reads end before the handler
		}
		return nil
	}, ctx
}

// start starts a subscription or a live query, with records for telemetry.
func (e *execution) start(ctx context.Context) (graphql.ResponseHandler, context.Context) {
	o := e.operation
	ctx, end := e.Observer.StartOperation(ctx, string(o.Operation.Operation), telemetry.Truncate(o.Operation.Name))
	begin := e.subscribe
	if e.throttle > 0 {
		begin = e.watch
	}
	next, ctx := begin(ctx)
	failure := ""
	return func(ctx context.Context) *graphql.Response {
		response := next(ctx)
		if response == nil {
			end(failure)
			return nil
		}
		if recordErrors(ctx, response); response.Data == nil {
			failure = response.Errors[0].Message
		}
		return response
	}, ctx
}

// follow sends the responses of all changes until ctx ends.
func (e *execution) follow(
	ctx context.Context, args model.ChangeArgs, evaluate func(context.Context, *model.Change) *graphql.Response,
	send func(*graphql.Response) error,
) error {
	run := e.Pipeline.NewStream()
	field := graphql.CollectFields(e.operation.OperationContext, e.operation.Operation.SelectionSet,
		[]string{"Subscription"})[0]
	return e.Catalogue.Follow(ctx, args, run.Admit, func(ctx context.Context, page *model.ChangePage) error {
		if err := run.Pay(ctx, page.LookPrice()); err != nil {
			return err
		}
		for part := range slices.Chunk(page.Nodes, changesAtOnce) {
			price := e.operation.estimate
			price.Total, price.Looked = price.Total*int64(len(part)), price.Looked*int64(len(part))
			var evaluated []*graphql.Response
			err := run.Read(ctx, price, func(ctx context.Context) error {
				evaluated = evaluated[:0]
				e.Catalogue.PrimeChanges(ctx, part)
				// for paths of errors
				ctx = graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: "Subscription", Field: field})
				for _, change := range part {
					answer := evaluate(ctx, change)
					if err := unfinished(ctx, answer); err != nil {
						return err
					}
					answer.Data = bytes.Clone(answer.Data) // gqlgen reuses its memory
					answer.Errors = answer.Errors[:min(len(answer.Errors), maxErrors)]
					evaluated = append(evaluated, answer)
				}
				return nil
			})
			if errors.Is(err, context.DeadlineExceeded) {
				return errSlowEvents
			}
			if err != nil {
				return err
			}
			for _, answer := range evaluated {
				if err := send(answer); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// serveEvents writes the events of a subscription. It does not complete a stream that the server
// ends when it stops, because the client must connect again.
func (e *execution) serveEvents(w http.ResponseWriter, r *http.Request, _ model.Revision) error {
	return e.Streams.Serve(w, r, func(ctx context.Context, out *eventstream.Writer) error {
		if err := out.Begin(); err != nil {
			return err
		}
		next, ctx := e.start(ctx)
		var failure error
		for response := next(ctx); response != nil; response = next(ctx) {
			if response.Data == nil {
				failure = response.Errors
			}
			if err := out.Send(nextEvent(response)); err != nil {
				failure = err
			}
		}
		cause := context.Cause(ctx)
		if errors.Is(cause, eventstream.ErrTokenExpired) || errors.Is(cause, eventstream.ErrReplaced) {
			failure = cause
			_ = out.Send(nextEvent(e.DispatchError(ctx, ErrorsOf(cause)))) // the stream ends anyway
		} else if ctx.Err() != nil {
			return cause
		}
		_ = out.Send(complete)
		return failure
	})
}
