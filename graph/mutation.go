package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// Mutate runs the fields of the operation of ctx, which is a mutation, one after the
// other, and gives the object of their answers. schema is of NewExecutableSchema.
// It is what its Exec does, but for a table of all inputs that Exec makes each
// time, for resolvers that decode one themselves: none does.
func Mutate(ctx context.Context, schema graphql.ExecutableSchema) graphql.Marshaler {
	operation := graphql.GetOperationContext(ctx)
	return newExecutionContext(operation, schema.(*executableSchema), nil)._Mutation(ctx, operation.Operation.SelectionSet)
}
