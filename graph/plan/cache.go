package plan

import (
	"context"
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Cache holds the plans of the operations of one document. Its zero value is empty.
type Cache struct {
	mu         sync.RWMutex
	operations map[*ast.OperationDefinition]*variants
}

type optionsKey struct{}

// options are what an operation is run with.
type options struct {
	cache  *Cache
	buffer []byte
	fields bool
}

// With returns the context of an operation with the cache of its document. The answer
// is appended to buffer, which its owner may use again once that was sent. Where
// fields is set, the context of a look-up names its field, as the reference executor's
// does. An operation without such a context is compiled for itself.
func With(ctx context.Context, cache *Cache, buffer []byte, fields bool) context.Context {
	return context.WithValue(ctx, optionsKey{}, &options{cache, buffer, fields})
}

func optionsOf(ctx context.Context) *options {
	if o, ok := ctx.Value(optionsKey{}).(*options); ok {
		return o
	}
	return &options{cache: new(Cache)}
}

// variants returns the plans of an operation.
func (c *Cache) variants(operation *graphql.OperationContext) *variants {
	c.mu.RLock()
	v, known := c.operations[operation.Operation]
	c.mu.RUnlock()
	if known {
		return v
	}
	v = newVariants(operation)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.operations == nil {
		c.operations = map[*ast.OperationDefinition]*variants{}
	}
	c.operations[operation.Operation] = v
	return v
}

// variants are the plans of one operation. What is selected depends on the
// variables in @include and @skip; with their values it is fixed, so each
// combination that is seen has a plan of its own.
type variants struct {
	conditions  []string // the variables in @include and @skip
	unsupported bool

	mu    sync.RWMutex
	plans map[uint32]*plan // by the conditionBits of the conditions; nil: not to be compiled
}

const (
	// maxConditions bounds how many conditions a planned operation has.
	maxConditions = 6
	// maxPlans is how many plans of an operation are cached; past that all are
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

// plan returns the plan for the operation's variables, or nil where the reference
// executor is to answer.
func (v *variants) plan(operation *graphql.OperationContext) *plan {
	if v.unsupported {
		return nil
	}
	var conditionBits uint32
	for i, name := range v.conditions {
		value, ok := operation.Variables[name].(bool)
		if !ok {
			return nil
		}
		if value {
			conditionBits |= 1 << i
		}
	}
	v.mu.RLock()
	p, known := v.plans[conditionBits]
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
	v.plans[conditionBits] = p
	return p
}
