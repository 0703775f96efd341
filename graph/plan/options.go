package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

type optionsKey struct{}

// options are what an operation is run with.
type options struct {
	plan   *Plan
	buffer []byte
}

// With returns the context of an operation with its plan. The answer is appended to
// buffer, which its owner may use again once that was sent. An operation without such a
// context is compiled when it is run.
func With(ctx context.Context, plan *Plan, buffer []byte) context.Context {
	return context.WithValue(ctx, optionsKey{}, &options{plan, buffer})
}

func optionsOf(ctx context.Context) *options {
	if o, ok := ctx.Value(optionsKey{}).(*options); ok {
		return o
	}
	return &options{plan: Compile(graphql.GetOperationContext(ctx))}
}
