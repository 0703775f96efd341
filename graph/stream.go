package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// Stream connects the resolver of a subscription with the executor, which evaluates each change at
// one revision. gqlgen alone would evaluate it without a Snapshot.
type Stream struct {
	Args   *model.ChangeArgs  // set by the resolver; nil if it has refused them
	Events chan *model.Change // of the executor; the resolver returns it
}

type streamKey struct{}

// WithStream returns a context for starting a subscription, and its Stream.
func WithStream(ctx context.Context) (context.Context, *Stream) {
	s := &Stream{Events: make(chan *model.Change, 1)}
	return context.WithValue(ctx, streamKey{}, s), s
}

// StreamOf returns the Stream of a subscription. It panics without WithStream.
func StreamOf(ctx context.Context) *Stream { return ctx.Value(streamKey{}).(*Stream) }

// InChange reports whether the parent of the current field belongs to a Change: it is a row of the
// past, whose parent may not exist any more.
func InChange(ctx context.Context) bool {
	field := graphql.GetFieldContext(ctx)
	return field != nil && field.Parent != nil && field.Parent.Object == "Change"
}
