package graphqlhttp

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// operations is an extension of the executor that notes which operation a
// request runs.
type operations struct {
	names   []string // that metrics tell apart
	trusted bool     // there are no documents but those of whoever runs the server
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationInterceptor
} = operations{}

// ExtensionName implements graphql.HandlerExtension.
func (operations) ExtensionName() string { return "Operations" }

// Validate implements graphql.HandlerExtension.
func (operations) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptOperation implements graphql.OperationInterceptor.
func (o operations) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	operation := graphql.GetOperationContext(ctx)
	model.StatsOf(ctx).SetOperation(&model.Operation{
		Label: o.label(operation.Operation), Name: truncate(operation.Operation.Name), Document: operation.RawQuery,
	})
	return next(ctx)
}

// label gives an operation's name where metrics may have it, and else its field of
// the root type, or "several" for more than one: of these the schema has few.
func (o operations) label(operation *ast.OperationDefinition) string {
	if o.trusted && operation.Name != "" || slices.Contains(o.names, operation.Name) {
		return operation.Name
	}
	return rootField(operation.SelectionSet, "")
}

// several is the label of operations with more than one field.
const several = "several"

func rootField(set ast.SelectionSet, found string) string {
	for _, selection := range set {
		var name string
		switch s := selection.(type) {
		case *ast.Field:
			name = s.Name
		case *ast.InlineFragment:
			name = rootField(s.SelectionSet, found)
		case *ast.FragmentSpread:
			name = rootField(s.Definition.SelectionSet, found)
		}
		if found != "" && name != found {
			return several
		}
		found = name
	}
	return found
}

// noteErrors notes the codes of the errors of an answer.
func noteErrors(ctx context.Context, errs gqlerror.List) {
	for _, err := range errs {
		code, _ := err.Extensions["code"].(string)
		model.StatsOf(ctx).AddError(code)
	}
}
