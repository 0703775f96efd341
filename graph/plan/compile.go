package plan

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
	"library-catalogue/graph/variant"
)

// compile makes the plan of an operation, or nil where it has something that plans do
// not know.
func compile(operation *graphql.OperationContext, directives variant.Directives) *plan {
	undecided := func(name string) bool { _, isBool := operation.Variables[name].(bool); return !isBool }
	if directives.Others || slices.ContainsFunc(directives.Conditions, undecided) {
		return nil
	}
	c := &compiler{operation: operation, byID: map[string][]*ast.Field{}}
	p := &plan{byID: c.byID}
	if operation.Operation.Operation == ast.Mutation {
		p.mutation = c.mutation(operation.Operation)
	} else {
		p.root = c.query(operation.Operation.SelectionSet)
	}
	if c.unknown {
		return nil
	}
	p.checks = c.checks
	return p
}

// compiler makes selections of selection sets. unknown is set by the first
// field that has no place in a plan.
type compiler struct {
	operation *graphql.OperationContext
	byID      map[string][]*ast.Field // the query's fields that name a row, by their name
	checks    []argumentCheck
	unknown   bool
}

// argumentCheck returns what is wrong with the arguments of a field.
type argumentCheck func(variables map[string]any) error

// collect merges a selection set into its fields (GraphQL October 2021, section
// 6.3.2), for an object that is of the given types.
func (c *compiler) collect(set ast.SelectionSet, types ...string) []graphql.CollectedField {
	return graphql.CollectFields(c.operation, set, types)
}

// leaf appends a field of a row.
type leaf[P any] func(dst []byte, row P) []byte

// compileSelection compiles what is selected of rows of one type: its leaves
// from a table, its relations by relationOf, which returns nil for a field that it does not
// know.
func compileSelection[P any](c *compiler, fields []graphql.CollectedField, typename string, leaves map[string]leaf[P], relationOf func(graphql.CollectedField) relation[P]) *selection[P] {
	s := &selection[P]{projection: model.NoneOnDemand}
	for _, f := range fields {
		compiled := field[P]{key: keyOf(f.Alias, len(s.fields) == 0)}
		if f.Name == "__typename" {
			text := []byte(`"` + typename + `"`)
			compiled.leaf = func(dst []byte, _ P) []byte { return append(dst, text...) }
		} else if compiled.leaf = leaves[f.Name]; compiled.leaf != nil {
			s.projection |= model.ProjectionOf(typename, f.Name)
		} else if compiled.relation = relationOf(f); compiled.relation == nil {
			c.unknown = true
		}
		s.fields = append(s.fields, compiled)
	}
	return s
}

// keyOf quotes a response key once, with the comma that comes before it.
func keyOf(alias string, first bool) []byte {
	if first {
		return []byte(`"` + alias + `":`)
	}
	return []byte(`,"` + alias + `":`)
}
