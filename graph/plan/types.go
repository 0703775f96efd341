package plan

import (
	"context"
	"reflect"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Root is the root object of a query.
type Root struct{}

// Type describes a type of the schema with rows P as objects: its leaves, and the relations that
// One, Value, ByID, Connection and Facet add. Other fields have no plan.
type Type[P any] struct {
	Aggregate *Type[*model.Aggregate]  // type of connections' aggregate
	Facets    *Type[*model.BookFacets] // type of connections' facets

	name      string
	leaves    map[string]leaf[P]
	relations map[string]compileRelation[P]
}

type compileRelation[P any] func(*compiler, graphql.CollectedField) relation[P]

// leaf appends a leaf of a row in JSON.
type leaf[P any] func(dst []byte, row P) []byte

// NewType returns a type without fields.
func NewType[P any](name string) *Type[P] {
	return &Type[P]{name: name, leaves: map[string]leaf[P]{}, relations: map[string]compileRelation[P]{}}
}

// NodeType returns a type of nodes with these fields.
func NodeType[T any](name string, fields []model.RowField[T], nodeID func(*T) string) *Type[*T] {
	t := NewType[*T](name)
	t.leaves["nodeId"] = func(dst []byte, row *T) []byte { return model.AppendString(dst, nodeID(row)) }
	for _, f := range fields {
		t.leaves[f.Name] = f.AppendGraphQL
	}
	return t
}

// StructType returns a type with the fields of struct T as leaves: strings, lists of them, integers, values with
// AppendJSON, or pointers to these.
func StructType[T any](name string) *Type[*T] {
	t := NewType[*T](name)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		t.leaves[strings.ToLower(f.Name[:1])+f.Name[1:]] = func(dst []byte, row *T) []byte {
			v := reflect.ValueOf(row).Elem().FieldByIndex(f.Index)
			if v.Kind() != reflect.Pointer {
				v = v.Addr()
			}
			if v.IsNil() {
				return append(dst, "null"...)
			}
			switch v := v.Interface().(type) {
			case *int:
				return strconv.AppendInt(dst, int64(*v), 10)
			case *string:
				return model.AppendString(dst, *v)
			case *[]string:
				dst = append(dst, '[')
				for i, text := range *v {
					if i > 0 {
						dst = append(dst, ',')
					}
					dst = model.AppendString(dst, text)
				}
				return append(dst, ']')
			default:
				return v.(interface{ AppendJSON([]byte) []byte }).AppendJSON(dst)
			}
		}
	}
	return t
}

// Load returns the rows with these ids, in their order, and nil for missing rows.
type Load[T any] func(ctx context.Context, ids []model.ID) ([]*T, error)

// One adds a field that leads to a row by its id. load returns an error if a row is missing.
func One[P, T any](t *Type[P], name string, target *Type[*T], id func(P) model.ID, load Load[T]) {
	t.relations[name] = func(c *compiler, f graphql.CollectedField) relation[P] {
		return newOne(func(r *run, rows []P) ([]*T, error) {
			ids := make([]model.ID, len(rows))
			for i, row := range rows {
				ids[i] = id(row)
			}
			return load(r.ctx, ids)
		}, target.compile(c, f.Selections))
	}
}

// Value adds a field that leads to a part of the row.
func Value[P, C any](t *Type[P], name string, target *Type[C], value func(P) C) {
	t.relations[name] = func(c *compiler, f graphql.CollectedField) relation[P] {
		return newValue(func(row P, _ context.Context) (C, error) { return value(row), nil },
			target.compile(c, f.Selections))
	}
}

// Find returns a connection for each row, all with the same arguments.
type Find[P any, C model.Node] func(ctx context.Context, rows []P, args model.PageArgs) ([]*model.Connection[C], error)

// Connection adds a field that leads to a connection.
func Connection[P any, C model.Node](t *Type[P], name string, target *Type[C], find Find[P, C]) {
	t.relations[name] = func(c *compiler, f graphql.CollectedField) relation[P] {
		return compileConnection(c, f, target, find)
	}
}

// ByID adds a root field that leads to the row with the argument id. With other arguments the field has no plan.
func ByID[T any](query *Type[Root], name string, target *Type[*T], load Load[T]) {
	query.relations[name] = func(c *compiler, f graphql.CollectedField) relation[Root] {
		c.unknown = c.unknown || len(f.Arguments) > 1
		at := len(c.byID[name])
		c.byID[name] = append(c.byID[name], f.Field)
		return newOne(func(r *run, _ []Root) ([]*T, error) {
			// The first field requests the ids of all such fields in one batch. The others find their
			// rows in the loader.
			ids, err := mapRows(r.byID[name], func(field *ast.Field) (model.ID, error) {
				value, err := field.Arguments.ForName("id").Value.Value(r.variables) // id is required
				if err != nil {
					return 0, err
				}
				id, err := graphql.UnmarshalID(value)
				return model.ParseID(id), err
			})
			if err != nil {
				return nil, err
			}
			rows, err := load(r.ctx, ids)
			if err != nil {
				return nil, err
			}
			return rows[at : at+1], nil
		}, target.compile(c, f.Selections))
	}
}
