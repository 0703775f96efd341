package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// EndStream ends a subscription with an error. ctx is the context of the resolver, which then closes its channel.
func EndStream(ctx context.Context, err error) { graphql.AddError(ctx, err) }
