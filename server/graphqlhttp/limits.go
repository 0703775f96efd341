package graphqlhttp

import (
	"cmp"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// Limits bound what one GraphQL request may ask for, before any work is done
// for it. 0 stands for the default, that of DefaultLimits.
type Limits struct {
	Body          int // bytes of a request's body
	Tokens        int // of a document
	Depth         int // fields one in another; introspection, which ends by itself, is not counted
	Fields        int // that an operation selects, once its fragments are spread
	RootFields    int // on the first level of an operation
	Aliases       int // of one field in one selection
	Directives    int // in a document
	VariableDepth int // lists and objects one in another, in variables and extensions
	Values        int // in variables and extensions
	Cost          int // of an operation, as graph/cost estimates it
	Errors        int // in an answer; those past it are left out
}

// DefaultLimits are the limits of a server of which nothing else is said.
var DefaultLimits = Limits{
	Body: 1 << 20, Tokens: 2_000, Depth: 12, Fields: 500, RootFields: 20, Aliases: 15, Directives: 20,
	VariableDepth: 20, Values: 100_000, Cost: 50_000, Errors: 10,
}

// OrDefault returns l with the defaults in place of zeros.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits
	return Limits{
		cmp.Or(l.Body, d.Body), cmp.Or(l.Tokens, d.Tokens), cmp.Or(l.Depth, d.Depth), cmp.Or(l.Fields, d.Fields),
		cmp.Or(l.RootFields, d.RootFields), cmp.Or(l.Aliases, d.Aliases), cmp.Or(l.Directives, d.Directives),
		cmp.Or(l.VariableDepth, d.VariableDepth), cmp.Or(l.Values, d.Values), cmp.Or(l.Cost, d.Cost), cmp.Or(l.Errors, d.Errors),
	}
}

// members is how many members an object in variables or extensions may have: more
// than there can be variables in a document are of no use.
func (l Limits) members() int {
	const tokens = 4 // of a variable: $ name : Type
	return l.Tokens / tokens
}

// check returns which limit a document is over, and else the first field that asks for
// the schema, if one does. It looks at each selection once: what a fragment holds
// is added up where the fragment is spread, and nothing is counted further than a
// limit.
func (l Limits) check(document *ast.QueryDocument) (schema *ast.Field, _ *gqlerror.Error) {
	m := measurer{limits: l, fragments: document.Fragments, measures: map[string]*measure{}}
	for _, operation := range document.Operations {
		m.directives(operation.Directives)
		for _, variable := range operation.VariableDefinitions {
			m.directives(variable.Directives)
		}
		m.operation(operation.SelectionSet, m.selections(operation.SelectionSet), operation.Position)
	}
	for _, fragment := range document.Fragments { // also what nothing spreads: it will be validated
		if document.Fragments.ForName(fragment.Name) == fragment {
			m.fragment(fragment.Name)
		} else {
			m.selections(fragment.SelectionSet)
		}
	}
	return m.introspection, m.err
}

// measure is what a selection set holds, once its fragments are spread.
type measure struct {
	fields, roots, depth int
	aliased              map[string]int // how often each field of the first level is there under an alias
}

type measurer struct {
	limits    Limits
	fragments ast.FragmentDefinitionList
	measures  map[string]*measure // of fragments; nil while one is being measured
	found     int                 // directives
	err       *gqlerror.Error

	introspection *ast.Field // the first that asks for the schema; nil where none does
}

// operation holds an operation to the limits that only a whole can exceed.
func (m *measurer) operation(set ast.SelectionSet, whole measure, at *ast.Position) {
	m.within(whole.roots, m.limits.RootFields, at, model.TooLarge, "The operation has too many fields on its first level: %d are allowed.")
	if whole.depth > m.limits.Depth && m.err == nil {
		at = m.deeper(set, m.limits.Depth)
	}
	m.within(whole.depth, m.limits.Depth, at, model.DepthLimitExceeded, "The operation is too deep: %d levels of fields are allowed.")
}

func isIntrospection(f *ast.Field) bool { return f.Name == "__schema" || f.Name == "__type" }

// deeper returns the place of the first field that has so many levels of fields above
// it, nil where there is none.
func (m *measurer) deeper(set ast.SelectionSet, levels int) (at *ast.Position) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if levels == 0 {
				return s.Position
			}
			if !isIntrospection(s) {
				at = m.deeper(s.SelectionSet, levels-1)
			}
		case *ast.InlineFragment:
			at = m.deeper(s.SelectionSet, levels)
		case *ast.FragmentSpread:
			if definition := m.fragments.ForName(s.Name); definition != nil {
				at = m.deeper(definition.SelectionSet, levels)
			}
		}
		if at != nil {
			return at
		}
	}
	return nil
}

// within notes an error if n is over a limit. The first error stays.
func (m *measurer) within(n, limit int, at *ast.Position, code model.Code, message string) {
	if n > limit && m.err == nil {
		m.err = withCode(gqlerror.ErrorPosf(at, message, limit), code)
	}
}

func (m *measurer) directives(list ast.DirectiveList) {
	m.found += len(list)
	if len(list) > 0 {
		m.within(m.found, m.limits.Directives, list[0].Position, model.TooLarge, "The document has too many directives: %d are allowed.")
	}
}

func (m *measurer) selections(set ast.SelectionSet) (sum measure) {
	for _, selection := range set {
		if m.err != nil {
			return sum
		}
		switch s := selection.(type) {
		case *ast.Field:
			m.directives(s.Directives)
			below := m.selections(s.SelectionSet)
			of := measure{fields: 1 + below.fields, roots: 1, depth: 1 + below.depth}
			if isIntrospection(s) {
				of.depth = 1
				m.introspection = cmp.Or(m.introspection, s)
			}
			if s.Alias != s.Name {
				of.aliased = map[string]int{s.Name: 1}
			}
			m.add(&sum, of, s.Position)
		case *ast.InlineFragment:
			m.directives(s.Directives)
			m.add(&sum, m.selections(s.SelectionSet), s.Position)
		case *ast.FragmentSpread:
			m.directives(s.Directives)
			if of := m.fragment(s.Name); of != nil {
				m.add(&sum, *of, s.Position)
			}
		}
	}
	return sum
}

// fragment measures a fragment once. It returns nil for one that there is not,
// which validation refuses. One that is spread within itself is refused here:
// validation would take long to tell all the ways round.
func (m *measurer) fragment(name string) *measure {
	definition := m.fragments.ForName(name)
	if definition == nil {
		return nil
	}
	if of, begun := m.measures[name]; begun {
		if of == nil && m.err == nil {
			m.err = validationError(gqlerror.ErrorPosf(definition.Position, "Cannot spread fragment %q within itself.", name))
		}
		return of
	}
	m.measures[name] = nil
	m.directives(definition.Directives)
	of := m.selections(definition.SelectionSet)
	m.measures[name] = &of
	return &of
}

// add puts one more part into a selection set.
func (m *measurer) add(sum *measure, part measure, at *ast.Position) {
	sum.fields += part.fields
	sum.roots += part.roots
	sum.depth = max(sum.depth, part.depth)
	m.within(sum.fields, m.limits.Fields, at, model.TooLarge, "The operation selects too many fields, with its fragments spread: %d are allowed.")
	if part.aliased == nil {
		return
	}
	if sum.aliased == nil {
		sum.aliased = make(map[string]int, len(part.aliased))
	}
	for name, n := range part.aliased {
		sum.aliased[name] += n
		m.within(sum.aliased[name], m.limits.Aliases, at, model.TooLarge, "One field is asked for under too many aliases: %d are allowed.")
	}
}
