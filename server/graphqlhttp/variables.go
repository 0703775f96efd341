package graphqlhttp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// variableTypes are the types of the variables of a schema.
type variableTypes struct {
	schema *ast.Schema
	inputs map[string]bool // types of arguments of mutations
}

// read reads the variables of an operation and checks their types (GraphQL September 2025, section
// 6.1.2), because gqlparser confuses numbers with strings and ignores custom scalars. It stops at
// the first wrong type and skips undeclared variables. gqlparser checks the rest.
func (t variableTypes) read(operation *ast.OperationDefinition, object jsontext.Value) (map[string]any, error) {
	values := map[string]any{}
	if object == nil {
		return values, nil
	}
	r := variableReader{Decoder: newDecoder(object), variableTypes: t}
	_, _ = r.ReadToken() // the opening brace
	for !r.stopped() && r.PeekKind() == jsontext.KindString {
		token, _ := r.ReadToken()
		name := token.String()
		variable := operation.VariableDefinitions.ForName(name)
		if variable == nil {
			_ = r.SkipValue()
			continue
		}
		r.isInput = t.inputs[variable.Type.NamedType]
		values[name] = r.value(variable.Type, ast.Path{ast.PathName(name)})
	}
	if r.message != "" {
		return nil, variableError(operation, r.path, r.message)
	}
	return values, r.refused.Err()
}

// variableError returns the error of the value at a path, which begins with the variable's name.
func variableError(operation *ast.OperationDefinition, path ast.Path, message string) *gqlerror.Error {
	name := string(path[0].(ast.PathName))
	err := gqlerror.ErrorPosf(operation.VariableDefinitions.ForName(name).Position, "Variable $%s: %s.", path,
		strings.TrimSuffix(message, "."))
	return validationError(err)
}

// nameVariable converts an error of gqlparser in the variables to the form of variableError.
func nameVariable(operation *ast.OperationDefinition, err error) *gqlerror.Error {
	found, ok := errors.AsType[*gqlerror.Error](err)
	if !ok {
		found = gqlerror.Wrap(err)
	}
	if len(found.Path) > 1 && found.Path[0] == ast.PathName("variable") {
		return variableError(operation, found.Path[1:], found.Message)
	}
	return validationError(found)
}

// variableReader reads the value of a variable until a part has the wrong type.
type variableReader struct {
	*jsontext.Decoder
	variableTypes
	isInput bool // the variable is the input of a mutation: names of fields omit it

	path    ast.Path // path of the part with the wrong type
	message string

	refused model.FieldErrors // errors of custom scalars, at most maxErrors
}

func (r *variableReader) stopped() bool { return r.message != "" || len(r.refused) == maxErrors }

func (r *variableReader) value(of *ast.Type, path ast.Path) any {
	switch kind := r.PeekKind(); {
	case kind == jsontext.KindNull:
		_ = r.SkipValue()
		return nil
	case of.Elem == nil:
		return r.named(r.schema.Types[of.NamedType], path)
	case kind != jsontext.KindBeginArray:
		return r.value(of.Elem, path) // coerce a value to a list
	}
	_, _ = r.ReadToken()
	items := []any{}
	for !r.stopped() && r.PeekKind() != jsontext.KindEndArray {
		items = append(items, r.value(of.Elem, append(path, ast.PathIndex(len(items)))))
	}
	_, _ = r.ReadToken()
	return items
}

// named reads a value of a type that is not a list.
func (r *variableReader) named(of *ast.Definition, path ast.Path) any {
	if of.Kind == ast.InputObject {
		return r.object(of, path)
	}
	raw, _ := r.ReadValue()
	value := scalar(raw)
	if newScalar := scalars[of.Name]; newScalar != nil {
		if err, wrong := errors.AsType[*model.Error](newScalar().UnmarshalGQL(value)); wrong {
			r.refuse(path, err.Fields[0].Message)
		}
	} else if !fits(of, value) {
		r.wrong(path, of.Name+" cannot represent "+string(raw))
	}
	return value
}

func (r *variableReader) object(of *ast.Definition, path ast.Path) map[string]any {
	if r.PeekKind() != jsontext.KindBeginObject {
		r.wrong(path, "must be an object of type "+of.Name)
		return nil
	}
	_, _ = r.ReadToken()
	object := map[string]any{}
	null := false
	for !r.stopped() && r.PeekKind() != jsontext.KindEndObject {
		token, _ := r.ReadToken()
		name := token.String()
		path := append(path, ast.PathName(name))
		switch field := of.Fields.ForName(name); {
		case field != nil:
			object[name] = r.value(field.Type, path)
			null = null || object[name] == nil
		case name == "__typename": // clients send responses back with it
			_ = r.SkipValue()
		default:
			r.wrong(path, "unknown field")
		}
	}
	_, _ = r.ReadToken()
	if of.Directives.ForName("oneOf") != nil && (len(object) != 1 || null) && !r.stopped() {
		// such types have two fields
		r.refuse(path, "The %s field must have exactly one of "+of.Fields[0].Name+" and "+of.Fields[1].Name+".")
	}
	return object
}

// wrong records a value of the wrong type.
func (r *variableReader) wrong(path ast.Path, message string) {
	r.path, r.message = slices.Clone(path), message
}

// refuse records the error of a value. In the input of a mutation it names the field, such as
// genre.create.name, as for a literal input. In other variables it names the path.
func (r *variableReader) refuse(path ast.Path, format string) {
	name := dotted(path)
	called := name
	if r.isInput {
		name, called = fieldOfInput(path[1:]), strings.ReplaceAll(model.Snake(lastName(path)), "_", " ")
	}
	r.refused = append(r.refused, model.NewFieldError(name, format, model.Message{Key: called}))
}

// fieldOfInput returns the name of a field within an input: genre.create.name, or books.3.name.
// It omits patch.
func fieldOfInput(path ast.Path) string {
	isPatch := func(element ast.PathElement) bool { return element == ast.PathName("patch") }
	return dotted(slices.DeleteFunc(slices.Clone(path), isPatch))
}

// lastName returns the last name of a path: the field of the value.
func lastName(path ast.Path) string {
	for _, element := range slices.Backward(path) {
		if name, ok := element.(ast.PathName); ok {
			return string(name)
		}
	}
	return ""
}

// dotted writes a path with dots.
func dotted(path ast.Path) string {
	names := make([]string, len(path))
	for i, element := range path {
		names[i] = fmt.Sprint(element)
	}
	return strings.Join(names, ".")
}

func inputTypes(schema *ast.Schema) map[string]bool {
	names := map[string]bool{}
	for _, field := range schema.Mutation.Fields {
		for _, argument := range field.Arguments {
			names[argument.Type.Name()] = true
		}
	}
	return names
}

var scalars = map[string]func() graphql.Unmarshaler{
	"BigInt":   func() graphql.Unmarshaler { return new(model.BigInt) },
	"Date":     func() graphql.Unmarshaler { return new(model.Date) },
	"DateTime": func() graphql.Unmarshaler { return new(model.Timestamp) },
	"Decimal":  func() graphql.Unmarshaler { return new(model.Cents) },
}

// fits reports whether a value is valid for a built-in scalar or an enum.
func fits(of *ast.Definition, value any) bool {
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	if of.Kind == ast.Enum {
		return isText && of.EnumValues.ForName(text) != nil
	}
	switch of.Name {
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
	default: // ID: a string, or a number without fraction and exponent
		return isText || isNumber && strings.IndexFunc(string(number), func(c rune) bool {
			return c != '-' && (c < '0' || c > '9')
		}) < 0
	}
}
