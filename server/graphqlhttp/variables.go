package graphqlhttp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// readVariables reads the values of an operation's variables, and holds them to their
// types (GraphQL September 2025, section 6.1.2), where gqlparser would take a number
// for a string, or a string for a number, and knows nothing of scalars of our own.
// Nothing is made of a value behind the first one that is wrong, nor of one for
// which there is no variable. What else is wrong with the values gqlparser finds.
func (g *Handler) readVariables(ctx context.Context, operation *ast.OperationDefinition, object string) (map[string]any, *gqlerror.Error) {
	values := map[string]any{}
	if object == "" {
		return values, nil
	}
	r := variableReader{jsonReader: jsonReader{text: object}, schema: g.documents.schema, most: g.limits.Errors}
	for n := 0; !r.stopped(); n++ {
		name, ok := r.member(n)
		if !ok {
			break
		}
		variable := operation.VariableDefinitions.ForName(name)
		if variable == nil {
			r.raw()
			continue
		}
		r.input = strings.HasSuffix(variable.Type.NamedType, "Input")
		values[name] = r.value(variable.Type, ast.Path{ast.PathName(name)})
	}
	if r.message != "" {
		return nil, variableError(operation, r.path, r.message)
	}
	if r.refused != nil {
		return nil, present(ctx, r.refused.Err())
	}
	return values, nil
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

// variableReader reads values until one is none of its type.
type variableReader struct {
	jsonReader
	schema *ast.Schema

	path    ast.Path // of that value
	message string

	refused model.FieldErrors // by scalars of our own
	most    int               // of these
	input   bool              // the variable stands for an input, whose fields need not its name
}

// stopped tells that nothing is read any more.
func (r *variableReader) stopped() bool { return r.message != "" || len(r.refused) == r.most }

func (r *variableReader) value(of *ast.Type, path ast.Path) any {
	switch begin := r.next(); {
	case begin == 'n':
		r.raw()
		return nil
	case of.Elem == nil:
		return r.named(of.NamedType, path)
	case begin != '[':
		return r.value(of.Elem, path) // a value stands for a list of it
	}
	r.at++
	items := []any{}
	for !r.stopped() {
		if more, _ := r.more(len(items), ']'); !more {
			break
		}
		items = append(items, r.value(of.Elem, append(path, ast.PathIndex(len(items)))))
	}
	return items
}

// named reads a value of a type that is no list.
func (r *variableReader) named(name string, path ast.Path) any {
	definition := r.schema.Types[name]
	if definition.Kind == ast.InputObject {
		return r.object(definition, path)
	}
	raw := r.raw()
	value := scalar(raw)
	if ours[name] != nil {
		if err, wrong := errors.AsType[*model.Error](ours[name]().UnmarshalGQL(value)); wrong {
			r.refuse(path, err.Fields[0].Message)
		}
	} else if !fits(definition, value) {
		r.wrong(path, name+" cannot represent "+raw)
	}
	return value
}

func (r *variableReader) object(of *ast.Definition, path ast.Path) map[string]any {
	if r.next() != '{' {
		r.wrong(path, "must be an object of type "+of.Name)
		return nil
	}
	object := map[string]any{}
	null := false
	for n := 0; !r.stopped(); n++ {
		name, ok := r.member(n)
		if !ok {
			break
		}
		path := append(path, ast.PathName(name))
		switch field := of.Fields.ForName(name); {
		case field != nil:
			object[name] = r.value(field.Type, path)
			null = null || object[name] == nil
		case name == "__typename": // which clients leave in what they were answered
			r.raw()
		default:
			r.wrong(path, "unknown field")
		}
	}
	if of.Directives.ForName("oneOf") != nil && (len(object) != 1 || null) && !r.stopped() {
		r.refuse(path, "The %s field must have exactly one of "+fieldNames(of)+".")
	}
	return object
}

// scalar gives the value of a JSON text; nil where that is an object or a list.
func scalar(raw string) any {
	switch raw[0] {
	case '"':
		return unquote(raw)
	case 't', 'f':
		return raw == "true"
	case '{', '[':
		return nil
	}
	return json.Number(raw)
}

// refuse notes what is wrong with a field of an input, by the name that it has where
// its input is part of the document, or with another value, by the way to it.
func (r *variableReader) refuse(path ast.Path, message string) {
	name := joined(path)
	called := name
	if r.input {
		name, called = inputName(append(ast.Path{ast.PathName("input")}, path[1:]...)), words(lastName(path))
	}
	r.refused = append(r.refused, model.FieldError{Field: name, Message: strings.ReplaceAll(message, "%s", called)})
}

// fieldNames tells the fields of a type, of which there are two.
func fieldNames(of *ast.Definition) string { return of.Fields[0].Name + " and " + of.Fields[1].Name }

func (r *variableReader) wrong(path ast.Path, message string) {
	r.path, r.message = slices.Clone(path), message
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
