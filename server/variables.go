package server

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkVariables holds the values of an operation's variables to the scalars and
// enums of the specification (GraphQL October 2021, sections 3.5 and 3.9), where
// gqlparser and gqlgen would take a number for a string, or a string for a
// number. What else is wrong with them is found by these.
func checkVariables(schema *ast.Schema, operation *ast.OperationDefinition, values map[string]any) *gqlerror.Error {
	for _, variable := range operation.VariableDefinitions {
		value, given := values[variable.Variable]
		if !given {
			continue
		}
		path, of := misfit(schema, variable.Type, value, ast.Path{ast.PathName("variable"), ast.PathName(variable.Variable)})
		if path == nil {
			continue
		}
		text, _ := json.Marshal(of.value) // it was decoded from JSON
		err := gqlerror.ErrorPathf(path, "%s cannot represent %s.", of.typename, text)
		errcode.Set(err, errcode.ValidationFailed)
		return err
	}
	return nil
}

// unfit is a value that is none of its type.
type unfit struct {
	typename string
	value    any
}

// misfit finds the first value that is none of its type; its path is nil where
// there is none.
func misfit(schema *ast.Schema, of *ast.Type, value any, path ast.Path) (ast.Path, unfit) {
	if value == nil {
		return nil, unfit{}
	}
	if of.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			return misfit(schema, of.Elem, value, path) // a value stands for a list of it
		}
		for i, value := range list {
			if at, found := misfit(schema, of.Elem, value, append(path, ast.PathIndex(i))); at != nil {
				return at, found
			}
		}
		return nil, unfit{}
	}
	definition := schema.Types[of.NamedType]
	if definition == nil {
		return nil, unfit{}
	}
	if definition.Kind == ast.InputObject {
		object, _ := value.(map[string]any)
		for _, field := range definition.Fields {
			if at, found := misfit(schema, field.Type, object[field.Name], append(path, ast.PathName(field.Name))); at != nil {
				return at, found
			}
		}
		return nil, unfit{}
	}
	if fits(definition, value) {
		return nil, unfit{}
	}
	return slices.Clone(path), unfit{of.NamedType, value}
}

// fits tells whether a value is one of a scalar or an enum. The scalars of our
// own know for themselves.
func fits(definition *ast.Definition, value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	switch {
	case definition.Kind == ast.Enum:
		return isText && definition.EnumValues.ForName(text) != nil
	case definition.Kind != ast.Scalar || !definition.BuiltIn:
		return true
	}
	switch definition.Name {
	case "String":
		return isText
	case "Int":
		_, err := strconv.ParseInt(string(number), 10, 32)
		return isNumber && err == nil
	case "Float":
		return isNumber
	case "Boolean":
		_, isBool := value.(bool)
		return isBool
	default: // ID
		return isText || isNumber && isInteger(string(number))
	}
}

// isInteger tells whether a number of JSON is written without a fraction and an
// exponent.
func isInteger(number string) bool {
	for _, c := range []byte(number) {
		if c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
