package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// checkVariables holds the values of an operation's variables to their types
// (GraphQL September 2025, section 6.1.2), where gqlparser would take a number for a
// string, or a string for a number, and knows nothing of scalars of our own. What
// else is wrong with them it finds.
func (g *graphQL) checkVariables(ctx context.Context, operation *ast.OperationDefinition, values map[string]any) *gqlerror.Error {
	c := variableCheck{schema: g.documents.schema, most: g.limits.Errors}
	for _, variable := range operation.VariableDefinitions {
		if value, given := values[variable.Variable]; given {
			c.input = strings.HasSuffix(variable.Type.NamedType, "Input")
			c.value(variable.Type, value, ast.Path{ast.PathName(variable.Variable)})
		}
		if c.message != "" {
			return variableError(operation, c.path, c.message)
		}
	}
	if c.refused != nil {
		return present(ctx, c.refused.Err())
	}
	return nil
}

// variableError tells what is wrong with the value at a path, which begins with the
// name of the variable.
func variableError(operation *ast.OperationDefinition, path ast.Path, message string) *gqlerror.Error {
	name := string(path[0].(ast.PathName))
	err := gqlerror.ErrorPosf(operation.VariableDefinitions.ForName(name).Position, "Variable $%s: %s.", path, strings.TrimSuffix(message, "."))
	errcode.Set(err, errcode.ValidationFailed)
	return short(err)
}

// nameVariables gives errors that gqlparser has found in variables the form of
// variableError.
func nameVariables(operation *ast.OperationDefinition, errs gqlerror.List) gqlerror.List {
	for i, err := range errs {
		if len(err.Path) > 1 && err.Path[0] == ast.PathName("variable") {
			errs[i] = variableError(operation, err.Path[1:], err.Message)
		}
	}
	return errs
}

// variableCheck goes through values until one is none of its type.
type variableCheck struct {
	schema  *ast.Schema
	path    ast.Path // of that value
	message string

	refused model.FieldErrors // by scalars of our own
	most    int               // of these
	input   bool              // the variable stands for an input, whose fields need not its name
}

func (c *variableCheck) value(of *ast.Type, value any, path ast.Path) {
	if value == nil || c.message != "" || len(c.refused) == c.most {
		return
	}
	if of.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			c.value(of.Elem, value, path) // a value stands for a list of it
			return
		}
		for i, value := range list {
			c.value(of.Elem, value, append(path, ast.PathIndex(i)))
		}
		return
	}
	definition := c.schema.Types[of.NamedType]
	switch {
	case definition == nil:
	case definition.Kind == ast.InputObject:
		object, ok := value.(map[string]any)
		if ok && definition.Directives.ForName("oneOf") != nil && (len(object) != 1 || slices.Contains(slices.Collect(maps.Values(object)), nil)) {
			c.refuse(path, "The %s field must have exactly one of "+fieldNames(definition)+".")
		}
		for _, field := range definition.Fields {
			c.value(field.Type, object[field.Name], append(path, ast.PathName(field.Name)))
		}
	case ours[of.NamedType] != nil:
		if err, wrong := errors.AsType[*model.Error](ours[of.NamedType]().UnmarshalGQL(value)); wrong {
			c.refuse(path, err.Fields[0].Message)
		}
	case !fits(definition, value):
		text, _ := json.Marshal(value) // it was decoded from JSON
		c.wrong(path, of.NamedType+" cannot represent "+string(text))
	}
}

// refuse notes what is wrong with a field of an input, by the name that it has where
// its input is part of the document, or with another value, by the way to it.
func (c *variableCheck) refuse(path ast.Path, message string) {
	name := joined(path)
	called := name
	if c.input {
		name, called = inputName(append(ast.Path{ast.PathName("input")}, path[1:]...)), words(lastName(path))
	}
	c.refused = append(c.refused, model.FieldError{Field: name, Message: strings.ReplaceAll(message, "%s", called)})
}

// fieldNames tells the fields of a type, of which there are two.
func fieldNames(of *ast.Definition) string { return of.Fields[0].Name + " and " + of.Fields[1].Name }

func (c *variableCheck) wrong(path ast.Path, message string) {
	c.path, c.message = slices.Clone(path), message
}

// ours are the scalars that are not of the specification.
var ours = map[string]func() graphql.Unmarshaler{
	"BigInt":   func() graphql.Unmarshaler { return new(model.BigInt) },
	"Date":     func() graphql.Unmarshaler { return new(model.Date) },
	"DateTime": func() graphql.Unmarshaler { return new(model.Timestamp) },
	"Decimal":  func() graphql.Unmarshaler { return new(model.Cents) },
}

// fits tells whether a value is one of a scalar of the specification or an enum.
func fits(definition *ast.Definition, value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	if definition.Kind == ast.Enum {
		return isText && definition.EnumValues.ForName(text) != nil
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
