package graphqlhttp

import (
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// documentRules returns the validation rules of the specification. They replace two rules of
// gqlparser: one is incomplete, and one is slow.
func documentRules(suggest bool) *rules.Rules {
	r := rules.NewDefaultRules()
	r.ReplaceRule(rules.OverlappingFieldsCanBeMergedRule.Name, overlappingFields)
	values := rules.ValuesOfCorrectTypeRule
	if !suggest {
		values = rules.ValuesOfCorrectTypeRuleWithoutSuggestions
		r.ReplaceRule(rules.FieldsOnCorrectTypeRule.Name, rules.FieldsOnCorrectTypeRuleWithoutSuggestions.RuleFunc)
		r.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
		r.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
		r.ReplaceRule(rules.ScalarLeafsRule.Name, rules.ScalarLeafsRuleWithoutSuggestions.RuleFunc)
	}
	r.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnValue(func(_ *core.Walker, v *ast.Value) {
			keepAsWritten(v)
			if v.Definition == nil || v.Definition.Kind != ast.Scalar {
				return
			}
			switch {
			case !v.Definition.BuiltIn:
				if !accepts(v) {
					addError(core.Message(`Expected value of type "%s", found %s.`, v.ExpectedType, v),
						core.At(v.Position))
				}
			case v.Kind == ast.ObjectValue && len(v.Children) == 0: // gqlparser checks objects with children
				addError(core.Message(`Expected value of type "%s", found %s.`, v.ExpectedType, v), core.At(v.Position))
			case v.Kind == ast.IntValue && v.Definition.Name == "Int":
				// gqlparser checks 64 bits
				if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil && n != int64(int32(n)) {
					addError(core.Message(`Int cannot represent non 32-bit signed integer value: %s`, v.Raw),
						core.At(v.Position))
				}
			}
		})
		values.RuleFunc(observers, addError)
	})
	return r
}

// accepts reports whether a literal is a value of a custom scalar. Variables are checked later.
func accepts(v *ast.Value) bool {
	if v.Kind == ast.Variable || v.Kind == ast.NullValue || v.Kind == ast.ListValue && v.ExpectedType.Elem != nil {
		return true
	}
	value, err := v.Value(nil)
	return err == nil && scalars[v.Definition.Name]().UnmarshalGQL(value) == nil
}

// keepAsWritten turns a number in an ID or a custom scalar into a string, because gqlparser would
// convert it to a float or a 64-bit integer, lose digits, and panic on large numbers.
func keepAsWritten(v *ast.Value) {
	switch {
	case v.Kind != ast.IntValue && v.Kind != ast.FloatValue:
	case v.Definition == nil, // part of a scalar's value
		v.Definition.Kind == ast.Scalar && !v.Definition.BuiltIn,
		v.Definition.Name == "ID" && v.Kind == ast.IntValue:
		v.Kind = ast.StringValue
	}
}
