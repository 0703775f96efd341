package server

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// exactCache keeps validated documents, in which the numbers that stand for an
// ID or a Decimal are made strings first: gqlparser would make a float or a
// 64-bit integer of them, which cannot hold every value as it was written.
type exactCache struct {
	graphql.Cache[*ast.QueryDocument]
}

// Add implements graphql.Cache. The executor calls it once for each document,
// before it is executed.
func (c exactCache) Add(ctx context.Context, query string, document *ast.QueryDocument) {
	for _, operation := range document.Operations {
		for _, variable := range operation.VariableDefinitions {
			exact(variable.DefaultValue)
		}
		exactSelections(operation.SelectionSet)
	}
	for _, fragment := range document.Fragments {
		exactSelections(fragment.SelectionSet)
	}
	c.Cache.Add(ctx, query, document)
}

func exactSelections(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			for _, argument := range s.Arguments {
				exact(argument.Value)
			}
			exactSelections(s.SelectionSet)
		case *ast.InlineFragment:
			exactSelections(s.SelectionSet)
		}
	}
}

func exact(value *ast.Value) {
	if value == nil {
		return
	}
	if (value.Kind == ast.IntValue || value.Kind == ast.FloatValue) && value.Definition != nil &&
		(value.Definition.Name == "ID" || value.Definition.Name == "Decimal") {
		value.Kind = ast.StringValue
	}
	for _, child := range value.Children {
		exact(child.Value)
	}
}
