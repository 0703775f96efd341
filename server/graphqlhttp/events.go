package graphqlhttp

import (
	"context"
	"errors"
	"net/http"

	"library-catalogue/edge/eventstream"
	"library-catalogue/graph/model"
)

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
