package server

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// documentRules gives the rules that a document is validated by: those of the
// specification, of which gqlparser leaves a part of one out.
func documentRules() *rules.Rules {
	r := rules.NewDefaultRules()
	r.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnValue(func(_ *core.Walker, v *ast.Value) {
			keepAsWritten(v)
			if v.Kind == ast.ObjectValue && len(v.Children) == 0 && // with children it is found
				v.Definition != nil && v.Definition.Kind == ast.Scalar && v.Definition.BuiltIn {
				addError(core.Message(`Expected value of type "%s", found %s.`, v.ExpectedType, v), core.At(v.Position))
			}
		})
		rules.ValuesOfCorrectTypeRule.RuleFunc(observers, addError)
	})
	return r
}

// keepAsWritten makes a number that stands for an ID, or anywhere in a scalar of
// our own, a string. gqlparser would make a float or a 64-bit integer of it,
// which cannot hold every value as it was written, and panics where it is too
// large even for that.
func keepAsWritten(v *ast.Value) {
	switch {
	case v.Kind != ast.IntValue && v.Kind != ast.FloatValue:
	case v.Definition == nil, // it is part of a value that only the scalar knows
		v.Definition.Kind == ast.Scalar && !v.Definition.BuiltIn,
		v.Definition.Name == "ID" && v.Kind == ast.IntValue:
		v.Kind = ast.StringValue
	}
}

// documentCache keeps parsed and validated documents, but for very long ones: a
// thousand of them would fill the memory.
type documentCache struct {
	graphql.Cache[*ast.QueryDocument]
}

// Add implements graphql.Cache.
func (c documentCache) Add(ctx context.Context, query string, document *ast.QueryDocument) {
	if len(query) <= maxCachedDocument {
		c.Cache.Add(ctx, query, document)
	}
}
