// Package variant caches what is made of the operations of a GraphQL document. What an
// operation selects depends on the variables in @include and @skip; with their values it
// is fixed, so that something is made for each variant, the values that are seen together.
package variant

import (
	"slices"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// maxVariants is how many variants of a document are cached: all of one with five
// conditions. Past that all are forgotten, and those in use are made once more.
const maxVariants = 32

// Cache holds what was made of the operations of one document. Its zero value is empty.
type Cache[T any] struct {
	mu         sync.RWMutex
	directives map[*ast.OperationDefinition]Directives
	variants   map[key]T
}

type key struct {
	operation *ast.OperationDefinition
	values    string // of the conditions
}

// Get returns what newValue returns for an operation with its variables, and its
// directives. It is called for a variant that is not cached.
func (c *Cache[T]) Get(operation *graphql.OperationContext, newValue func(*graphql.OperationContext, Directives) T) T {
	c.mu.RLock()
	directives, known := c.directives[operation.Operation]
	value, cached := c.variants[key{operation.Operation, directives.values(operation.Variables)}]
	c.mu.RUnlock()
	if known && cached {
		return value
	}
	if !known {
		directives = directivesOf(operation)
	}
	value = newValue(operation, directives)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.variants == nil || len(c.variants) >= maxVariants {
		c.directives, c.variants = map[*ast.OperationDefinition]Directives{}, map[key]T{}
	}
	c.directives[operation.Operation] = directives
	c.variants[key{operation.Operation, directives.values(operation.Variables)}] = value
	return value
}

// Directives are those of an operation and of the fragments of its document.
type Directives struct {
	Conditions []string // the variables in @include and @skip
	Others     bool     // whether there are any but these two
}

func directivesOf(operation *graphql.OperationContext) (d Directives) {
	d.add(operation.Operation.Directives)
	d.addSelections(operation.Operation.SelectionSet)
	for _, fragment := range operation.Doc.Fragments {
		d.add(fragment.Directives)
		d.addSelections(fragment.SelectionSet)
	}
	return d
}

func (d *Directives) addSelections(set ast.SelectionSet) {
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

func (d *Directives) add(list ast.DirectiveList) {
	for _, directive := range list {
		if directive.Name != "include" && directive.Name != "skip" {
			d.Others = true
		} else if condition := directive.Arguments.ForName("if").Value; condition.Kind == ast.Variable && !slices.Contains(d.Conditions, condition.Raw) {
			d.Conditions = append(d.Conditions, condition.Raw)
		}
	}
}

// values writes the values of the conditions: of each one letter.
func (d Directives) values(variables map[string]any) string {
	if len(d.Conditions) == 0 {
		return ""
	}
	letters := make([]byte, len(d.Conditions))
	for i, name := range d.Conditions {
		switch variables[name] {
		case true:
			letters[i] = 't'
		case false:
			letters[i] = 'f'
		default: // none: it is refused when the operation is executed
			letters[i] = '-'
		}
	}
	return string(letters)
}
