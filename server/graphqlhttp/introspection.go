package graphqlhttp

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// Introspection decides which callers may read the schema. The zero value is IntrospectionOff.
type Introspection int

const (
	// IntrospectionOff refuses every caller.
	IntrospectionOff Introspection = iota
	// IntrospectionTokens allows callers with a valid token.
	IntrospectionTokens
	// IntrospectionOn allows every caller.
	IntrospectionOn
)

// Allows reports whether the caller may read the schema.
func (i Introspection) Allows(ctx context.Context) bool {
	if i == IntrospectionTokens {
		_, err := model.CallerOf(ctx)
		return err == nil
	}
	return i == IntrospectionOn
}

// check refuses a document with an introspection field that the caller may not use. field is nil
// if the document has none.
func (i Introspection) check(ctx context.Context, field *ast.Field) *refusal {
	switch {
	case field == nil || i.Allows(ctx):
		return nil
	case i == IntrospectionTokens:
		return invalid(validationError(gqlerror.ErrorPosf(field.Position, "Introspection requires a valid token: %s "+
			"is part of it. CATALOGUE_INTROSPECTION=true allows it to all.", field.Name)))
	}
	return invalid(
		validationError(gqlerror.ErrorPosf(field.Position, "Introspection is disabled: %s is part of it. "+
			"CATALOGUE_INTROSPECTION=true or token allows it.", field.Name)))
}
