package graphqlhttp

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/plan"
	"library-catalogue/task"
)

// operation is an operation of a document with its variables.
type operation struct {
	*graphql.OperationContext
	*compiled
	estimate cost.Estimate
}

// compiled holds the plan of an operation and its compiled cost.
type compiled struct {
	plan *plan.Plan
	cost cost.Operation
}

// compile returns the compiled operation. It compiles once unless the plan depends on variables.
func (h *Handler) compile(document *document, operation *graphql.OperationContext) *compiled {
	if kept, ok := document.compiled.Load(operation.Operation); ok {
		return kept.(*compiled)
	}
	c := &compiled{plan.Compile(h.planned, operation), cost.Compile(h.schema, operation)}
	if !c.plan.Conditional {
		document.compiled.Store(operation.Operation, c)
	}
	return c
}

func (o *operation) isQuery() bool { return o.Operation.Operation == ast.Query }

func (o *operation) isSubscription() bool { return o.Operation.Operation == ast.Subscription }

// newOperation chooses the operation of a document and reads its variables.
func (h *Handler) newOperation(
	ctx context.Context, q *request, document *document, header http.Header,
) (*operation, *refusal) {
	chosen := document.Operations.ForName(q.operationName)
	if chosen == nil {
		message := "The document has several operations. Set operationName to one of them."
		if q.operationName != "" {
			message = "The document has no operation " + strconv.Quote(q.operationName) + "."
		}
		return nil, invalid(validationError(gqlerror.Errorf("%s", message)))
	}
	variables, err := h.variables.read(chosen, q.variables)
	if err != nil {
		return nil, invalid(h.presentError(ctx, err))
	}
	values, failure := validator.VariableValues(h.schema, chosen, variables)
	if failure != nil {
		return nil, invalid(nameVariable(chosen, failure))
	}
	made := &graphql.OperationContext{
		RawQuery: q.query, OperationName: q.operationName, Variables: values, Headers: header,
		Doc: document.QueryDocument, Operation: chosen,
		DisableIntrospection:   !h.Options.Introspection.Allows(ctx),
		RecoverFunc:            task.Recovered,
		ResolverMiddleware:     func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) },
		RootResolverMiddleware: h.aroundRootField,
	}
	if chosen.Operation == ast.Mutation {
		made.ResolverMiddleware = runOnce
	}
	// The validator counts names, so aliases and directives pass (GraphQL, section 5.2.4.1).
	if chosen.Operation == ast.Subscription &&
		len(graphql.CollectFields(made, chosen.SelectionSet, []string{"Subscription"})) != 1 {
		return nil, invalid(validationError(gqlerror.Errorf("A subscription must select exactly one field.")))
	}
	return &operation{OperationContext: made, compiled: h.compile(document, made)}, nil
}

// lookupOf returns the field lookup of an operation, nil without one. It must be the only field and is not
// live, because it waits for other services before the operation runs.
func lookupOf(o *operation, isLive bool) (*graphql.CollectedField, *refusal) {
	if !o.isQuery() || o.plan.Complete() { // a plan has no lookup
		return nil, nil
	}
	fields := graphql.CollectFields(o.OperationContext, o.Operation.SelectionSet, []string{"Query"})
	i := slices.IndexFunc(fields, func(f graphql.CollectedField) bool { return f.Name == "lookup" })
	switch {
	case i < 0:
		return nil, nil
	case len(fields) > 1 || isLive:
		return nil, invalid(validationError(gqlerror.ErrorPosf(fields[i].Position,
			"The field lookup must be the only field of its operation, without @live. Send the others in another one.")))
	}
	return &fields[0], nil
}

// label returns the operation's name if metrics may use it, otherwise its root field, or
// "several" for more than one field. Callers thus cannot create labels.
func (h *Handler) label(operation *ast.OperationDefinition) string {
	if h.Options.Trusted != nil && operation.Name != "" { // the operator wrote all documents
		return operation.Name
	}
	return rootField(operation.SelectionSet, "")
}

// several is the label of operations with more than one root field.
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
