package graphqlhttp

import (
	"context"
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

// readVariables reads the values of an operation's variables, and holds them to their
// types (GraphQL September 2025, section 6.1.2), where gqlparser would take a number
// for a string, or a string for a number, and knows nothing of scalars of our own.
// Nothing is made of a value behind the first one that is wrong, nor of one for
// which there is no variable. What else is wrong with the values gqlparser finds.
func (h *Handler) readVariables(ctx context.Context, operation *ast.OperationDefinition, object jsontext.Value) (map[string]any, *gqlerror.Error) {
	values := map[string]any{}
	if object == nil {
		return values, nil
	}
	r := variableReader{Decoder: newDecoder(object), schema: h.documents.schema, max: h.limits.Errors}
	_, _ = r.ReadToken() // the opening brace
	for !r.stopped() && r.PeekKind() == jsontext.KindString {
		token, _ := r.ReadToken()
		name := token.String()
		variable := operation.VariableDefinitions.ForName(name)
		if variable == nil {
			_ = r.SkipValue()
			continue
		}
		r.isInput = h.inputs[variable.Type.NamedType]
		values[name] = r.value(variable.Type, ast.Path{ast.PathName(name)})
	}
	if r.message != "" {
		return nil, variableError(operation, r.path, r.message)
	}
	if r.refused != nil {
		return nil, h.presentError(ctx, r.refused.Err())
	}
	return values, nil
}

// variableError returns what is wrong with the value at a path, which begins with the
// name of the variable.
func variableError(operation *ast.OperationDefinition, path ast.Path, message string) *gqlerror.Error {
	name := string(path[0].(ast.PathName))
	err := gqlerror.ErrorPosf(operation.VariableDefinitions.ForName(name).Position, "Variable $%s: %s.", path, strings.TrimSuffix(message, "."))
	return validationError(err)
}

// nameVariable puts an error that gqlparser has found in the variables into the form of
// variableError.
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

// variableReader reads the value of a variable until a part of it is none of its type.
type variableReader struct {
	*jsontext.Decoder
	schema  *ast.Schema
	isInput bool // the variable stands for the input of a mutation, whose fields need not its name

	path    ast.Path // of the part that is none of its type
	message string

	refused model.FieldErrors // by scalars of our own
	max     int               // of these
}

// stopped reports whether nothing is read any more.
func (r *variableReader) stopped() bool { return r.message != "" || len(r.refused) == r.max }

func (r *variableReader) value(of *ast.Type, path ast.Path) any {
	switch kind := r.PeekKind(); {
	case kind == jsontext.KindNull:
		_ = r.SkipValue()
		return nil
	case of.Elem == nil:
		return r.named(r.schema.Types[of.NamedType], path)
	case kind != jsontext.KindBeginArray:
		return r.value(of.Elem, path) // a value stands for a list of it
	}
	_, _ = r.ReadToken()
	items := []any{}
	for !r.stopped() && r.PeekKind() != jsontext.KindEndArray {
		items = append(items, r.value(of.Elem, append(path, ast.PathIndex(len(items)))))
	}
	_, _ = r.ReadToken()
	return items
}

// named reads a value of a type that is no list.
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
		case name == "__typename": // which clients leave in what they were answered
			_ = r.SkipValue()
		default:
			r.wrong(path, "unknown field")
		}
	}
	_, _ = r.ReadToken()
	if of.Directives.ForName("oneOf") != nil && (len(object) != 1 || null) && !r.stopped() {
		r.refuse(path, "The %s field must have exactly one of "+of.Fields[0].Name+" and "+of.Fields[1].Name+".") // there are two
	}
	return object
}

// wrong notes a value that is none of its type.
func (r *variableReader) wrong(path ast.Path, message string) {
	r.path, r.message = slices.Clone(path), message
}

// refuse notes what is wrong with a field of an input, by the name that it has where
// its input is part of the document, or with another value, by the way to it.
func (r *variableReader) refuse(path ast.Path, message string) {
	name := dotted(path)
	called := name
	if r.isInput {
		name, called = fieldOfInput(path[1:]), strings.ReplaceAll(model.Snake(lastName(path)), "_", " ")
	}
	r.refused = append(r.refused, model.FieldError{Field: name, Message: strings.ReplaceAll(message, "%s", called)})
}

// fieldOfInput returns the name of a field within an input: genre.create.name, or
// books.3.name. Those of a patch are as if they stood in the input.
func fieldOfInput(path ast.Path) string {
	isPatch := func(element ast.PathElement) bool { return element == ast.PathName("patch") }
	return dotted(slices.DeleteFunc(slices.Clone(path), isPatch))
}

// lastName returns the innermost name of a path: the field that a value stood in.
func lastName(path ast.Path) string {
	for _, element := range slices.Backward(path) {
		if name, ok := element.(ast.PathName); ok {
			return string(name)
		}
	}
	return ""
}

// dotted writes a path with dots, as the names of fields are.
func dotted(path ast.Path) string {
	names := make([]string, len(path))
	for i, element := range path {
		names[i] = fmt.Sprint(element)
	}
	return strings.Join(names, ".")
}

// inputTypes returns the names of the types that are arguments of mutations.
func inputTypes(schema *ast.Schema) map[string]bool {
	names := map[string]bool{}
	for _, field := range schema.Mutation.Fields {
		for _, argument := range field.Arguments {
			names[argument.Type.Name()] = true
		}
	}
	return names
}

// scalars are those that are not of the specification.
var scalars = map[string]func() graphql.Unmarshaler{
	"BigInt":   func() graphql.Unmarshaler { return new(model.BigInt) },
	"Date":     func() graphql.Unmarshaler { return new(model.Date) },
	"DateTime": func() graphql.Unmarshaler { return new(model.Timestamp) },
	"Decimal":  func() graphql.Unmarshaler { return new(model.Cents) },
}

// scalar returns the value of a JSON text; nil where that is an object or a list.
func scalar(raw jsontext.Value) any {
	switch raw.Kind() {
	case jsontext.KindString:
		text, _ := jsontext.AppendUnquote(nil, raw) // it was looked at before
		return string(text)
	case jsontext.KindTrue, jsontext.KindFalse:
		return raw.Kind() == jsontext.KindTrue
	case jsontext.KindNumber:
		return json.Number(raw)
	default:
		return nil
	}
}

// fits reports whether a value is one of a scalar of the specification or an enum.
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
	default: // ID, of which a number has neither fraction nor exponent
		return isText || isNumber && strings.IndexFunc(string(number), func(c rune) bool { return c != '-' && (c < '0' || c > '9') }) < 0
	}
}
