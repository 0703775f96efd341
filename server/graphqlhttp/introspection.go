package graphqlhttp

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// Introspection says who may read the schema. The zero value is IntrospectionOff.
type Introspection int

// Who may read the schema.
const (
	IntrospectionOff    Introspection = iota
	IntrospectionTokens               // clients with a valid token
	IntrospectionOn                   // every client
)

// allows reports whether the caller may read the schema.
func (i Introspection) allows(ctx context.Context) bool {
	if i == IntrospectionTokens {
		_, err := model.Caller(ctx)
		return err == nil
	}
	return i == IntrospectionOn
}

// check refuses a document whose field asks for the schema, if the caller may not read
// it; field is nil where none does.
func (i Introspection) check(ctx context.Context, field *ast.Field) *refusal {
	switch {
	case field == nil || i.allows(ctx):
		return nil
	case i == IntrospectionTokens:
		return invalid(validationError(gqlerror.ErrorPosf(field.Position, "Introspection needs a valid token on this server: %s is part of it.", field.Name)))
	}
	return invalid(validationError(gqlerror.ErrorPosf(field.Position, "This server does not tell its schema: %s is off.", field.Name)))
}
