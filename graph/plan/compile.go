package plan

import (
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// variants are the plans of one operation. What is selected depends on the
// variables in @include and @skip; with these given it is fixed, so each
// combination that is seen has a plan of its own.
type variants struct {
	conditions  []string // the variables in @include and @skip
	unsupported bool

	mu    sync.RWMutex
	plans map[uint32]*plan // by the truth of the conditions; nil: not to be compiled
}

const (
	// maxConditions bounds how many conditions a planned operation has.
	maxConditions = 6
	// maxPlans is how many plans of an operation are kept; past that all are
	// forgotten, which costs those in use one compilation each.
	maxPlans = 8
)

func newVariants(operation *graphql.OperationContext) *variants {
	v := &variants{plans: map[uint32]*plan{}}
	v.scan(operation.Operation.Directives)
	v.scanSelections(operation.Operation.SelectionSet)
	for _, fragment := range operation.Doc.Fragments {
		v.scan(fragment.Directives)
		v.scanSelections(fragment.SelectionSet)
	}
	v.unsupported = v.unsupported || len(v.conditions) > maxConditions
	return v
}

func (v *variants) scanSelections(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			v.scan(s.Directives)
			v.scanSelections(s.SelectionSet)
		case *ast.InlineFragment:
			v.scan(s.Directives)
			v.scanSelections(s.SelectionSet)
		case *ast.FragmentSpread:
			v.scan(s.Directives)
		}
	}
}

func (v *variants) scan(directives ast.DirectiveList) {
	for _, d := range directives {
		if d.Name != "include" && d.Name != "skip" {
			v.unsupported = true
			continue
		}
		if condition := d.Arguments.ForName("if").Value; condition.Kind == ast.Variable && !slices.Contains(v.conditions, condition.Raw) {
			v.conditions = append(v.conditions, condition.Raw)
		}
	}
}

// plan gives the plan for the operation's variables, or nil where the reference
// executor is to answer.
func (v *variants) plan(operation *graphql.OperationContext) *plan {
	if v.unsupported {
		return nil
	}
	var truth uint32
	for i, name := range v.conditions {
		value, ok := operation.Variables[name].(bool)
		if !ok {
			return nil
		}
		if value {
			truth |= 1 << i
		}
	}
	v.mu.RLock()
	p, known := v.plans[truth]
	v.mu.RUnlock()
	if known {
		return p
	}
	p = compile(operation)
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.plans) >= maxPlans {
		clear(v.plans)
	}
	v.plans[truth] = p
	return p
}

// compile makes the plan of an operation, or nil where it selects something
// that plans do not know.
func compile(operation *graphql.OperationContext) *plan {
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
	return p
}

// compiler turns selection sets into selections. unknown is set by the first
// field that has no place in a plan.
type compiler struct {
	operation *graphql.OperationContext
	byID      map[string][]*ast.Field // the query's fields that name a row, by their name
	unknown   bool
}

// collect merges a selection set into its fields (GraphQL October 2021, section
// 6.3.2), for an object that is of the given types.
func (c *compiler) collect(set ast.SelectionSet, types ...string) []graphql.CollectedField {
	return graphql.CollectFields(c.operation, set, types)
}

// leaf appends a field of a row.
type leaf[P any] func(dst []byte, row P) []byte

// compileSelection compiles what is selected of rows of one type: its leaves
// from a table, its edges by edge, which gives nil for a field that it does not
// know.
func compileSelection[P any](c *compiler, fields []graphql.CollectedField, typename string, leaves map[string]leaf[P], edgeOf func(graphql.CollectedField) edge[P]) *selection[P] {
	s := new(selection[P])
	for _, f := range fields {
		compiled := field[P]{key: keyOf(f.Alias, len(s.fields) == 0), name: f.Alias}
		if f.Name == "__typename" {
			text := []byte(`"` + typename + `"`)
			compiled.leaf = func(dst []byte, _ P) []byte { return append(dst, text...) }
		} else if compiled.leaf = leaves[f.Name]; compiled.leaf != nil {
			s.columns |= model.ColumnOf(f.Name)
		} else if compiled.edge = edgeOf(f); compiled.edge == nil {
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
