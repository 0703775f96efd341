package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// Subscribe returns the channel of the changes of a subscription.
type Subscribe func(args model.ChangeArgs) <-chan *model.Change

type subscribeKey struct{}

// WithSubscribe returns a context in which a subscription starts by calling subscribe. The executor
// owns the channel, because it evaluates each change at one revision.
func WithSubscribe(ctx context.Context, subscribe Subscribe) context.Context {
	return context.WithValue(ctx, subscribeKey{}, subscribe)
}

// SubscribeOf returns the Subscribe of a context. It panics without WithSubscribe.
func SubscribeOf(ctx context.Context) Subscribe { return ctx.Value(subscribeKey{}).(Subscribe) }

// InChange reports whether the parent of the current field belongs to a Change: it is a row of the
// past, and its parent may not exist any more.
func InChange(ctx context.Context) bool {
	field := graphql.GetFieldContext(ctx)
	return field != nil && field.Parent != nil && field.Parent.Object == "Change"
}
