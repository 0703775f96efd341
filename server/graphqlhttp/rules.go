package graphqlhttp

import (
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// documentRules returns the rules that a document is validated by: those of the
// specification, of which gqlparser leaves a part of one out, and is slow at one.
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
					addError(core.Message(`Expected value of type "%s", found %s.`, v.ExpectedType, v), core.At(v.Position))
				}
			case v.Kind == ast.ObjectValue && len(v.Children) == 0: // with children it is found
				addError(core.Message(`Expected value of type "%s", found %s.`, v.ExpectedType, v), core.At(v.Position))
			case v.Kind == ast.IntValue && v.Definition.Name == "Int":
				if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil && n != int64(int32(n)) { // beyond 64 bits it is found
					addError(core.Message(`Int cannot represent non 32-bit signed integer value: %s`, v.Raw), core.At(v.Position))
				}
			}
		})
		values.RuleFunc(observers, addError)
	})
	return r
}

// accepts reports whether a value is one of a scalar of our own, as far as the document
// says it.
func accepts(v *ast.Value) bool {
	if v.Kind == ast.Variable || v.Kind == ast.NullValue || v.Kind == ast.ListValue && v.ExpectedType.Elem != nil {
		return true
	}
	value, err := v.Value(nil)
	return err == nil && scalars[v.Definition.Name]().UnmarshalGQL(value) == nil
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
