package plan

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Compile returns the plan of an operation. query declares all fields with a plan.
func Compile(query *Type[Root], operation *graphql.OperationContext) *Plan {
	d := directivesOf(operation)
	p := &Plan{Conditional: len(d.conditions) > 0}
	noBool := func(variable string) bool { _, isBool := operation.Variables[variable].(bool); return !isBool }
	p.unknown = operation.Operation.Operation != ast.Query || d.others || slices.ContainsFunc(d.conditions, noBool)
	if p.unknown {
		return p
	}
	c := &compiler{operation: operation, byID: map[string][]*ast.Field{}}
	p.root = query.compile(c, operation.Operation.SelectionSet)
	p.byID, p.unknown = c.byID, c.unknown
	return p
}

// directives summarizes the directives of an operation and of its document's fragments.
type directives struct {
	conditions []string // variables of @include and @skip
	others     bool     // there are other directives
}

func directivesOf(operation *graphql.OperationContext) (d directives) {
	d.add(operation.Operation.Directives)
	d.addSelections(operation.Operation.SelectionSet)
	for _, fragment := range operation.Doc.Fragments {
		d.add(fragment.Directives)
		d.addSelections(fragment.SelectionSet)
	}
	return d
}

func (d *directives) addSelections(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			d.add(s.Directives)
			d.addSelections(s.SelectionSet)
		case *ast.InlineFragment:
			d.add(s.Directives)
			d.addSelections(s.SelectionSet)
		case *ast.FragmentSpread:
			d.add(s.Directives)
		}
	}
}

func (d *directives) add(list ast.DirectiveList) {
	for _, directive := range list {
		if directive.Name != "include" && directive.Name != "skip" {
			d.others = true
		} else if condition := directive.Arguments.ForName("if").Value; condition.Kind == ast.Variable {
			d.conditions = append(d.conditions, condition.Raw)
		}
	}
}

// compiler compiles selection sets. The first field without a plan sets unknown.
type compiler struct {
	operation *graphql.OperationContext
	byID      map[string][]*ast.Field // root fields with an id, by name
	unknown   bool
}

// collect returns the merged fields of a selection set for an object of these types (GraphQL
// September 2025, section Field Collection).
func (c *compiler) collect(set ast.SelectionSet, types ...string) []graphql.CollectedField {
	return graphql.CollectFields(c.operation, set, types)
}

func (t *Type[P]) compile(c *compiler, set ast.SelectionSet) *selection[P] {
	s := &selection[P]{projection: model.NoneOnDemand}
	for _, f := range c.collect(set, t.name, "Node") {
		compiled := field[P]{Field: f.Field, key: keyOf(f.Alias, len(s.fields) == 0), name: ast.PathName(f.Alias)}
		if f.Name == "__typename" {
			text := []byte(`"` + t.name + `"`)
			compiled.leaf = func(dst []byte, _ P) []byte { return append(dst, text...) }
		} else if relation := t.relations[f.Name]; relation != nil {
			compiled.relation = relation(c, f)
		} else if compiled.leaf = t.leaves[f.Name]; compiled.leaf != nil {
			s.projection |= model.ProjectionOf(t.name, f.Name)
		} else {
			c.unknown = true
		}
		s.fields = append(s.fields, compiled)
	}
	return s
}

// keyOf returns a quoted response key with its comma and colon.
func keyOf(alias string, first bool) []byte {
	if first {
		return []byte(`"` + alias + `":`)
	}
	return []byte(`,"` + alias + `":`)
}
