package graphqlhttp

import (
	"cmp"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// Limits bound a GraphQL request before it runs. 0 means the value of DefaultLimits.
type Limits struct {
	Body  int // bytes of the body
	Depth int // nested fields; introspection counts as one
	Cost  int // estimated price of an operation (graph/cost)
}

// DefaultLimits are the default limits.
var DefaultLimits = Limits{Body: 1 << 20, Depth: 12, Cost: 50_000}

// Fixed limits, which bound the work before the price of an operation is known.
const (
	maxTokens     = 2_000         // tokens of a document
	maxFields     = 500           // selected fields of an operation, with its fragments spread
	maxRootFields = 20            // fields on the first level of an operation
	maxAliases    = 15            // aliases of one field in one selection
	maxDirectives = 20            // directives of a document
	maxValueDepth = 20            // nested lists and objects in variables and extensions
	maxValues     = 100_000       // values in variables and extensions
	maxMembers    = maxTokens / 4 // members of an object; a document declares a variable in four tokens: $ name : Type
	maxErrors     = 10            // errors in a response; further errors are omitted
)

// OrDefault returns l with defaults in place of zeros.
func (l Limits) OrDefault() Limits {
	return Limits{
		cmp.Or(l.Body, DefaultLimits.Body), cmp.Or(l.Depth, DefaultLimits.Depth), cmp.Or(l.Cost, DefaultLimits.Cost),
	}
}

// check returns the limit that a document exceeds, or the first introspection field, if there is
// one. It visits each selection once, adds up a fragment where it is spread, and stops counting
// at a limit.
func (l Limits) check(document *ast.QueryDocument) (schema *ast.Field, _ *gqlerror.Error) {
	m := measurer{maxDepth: l.Depth, fragments: document.Fragments, measures: map[string]*measure{}}
	for _, operation := range document.Operations {
		m.directives(operation.Directives)
		for _, variable := range operation.VariableDefinitions {
			m.directives(variable.Directives)
		}
		m.operation(operation.SelectionSet, m.selections(operation.SelectionSet), operation.Position)
	}
	for _, fragment := range document.Fragments { // unused fragments are validated too
		if document.Fragments.ForName(fragment.Name) == fragment {
			m.fragment(fragment.Name)
		} else {
			m.selections(fragment.SelectionSet)
		}
	}
	return m.introspection, m.err
}

// measure counts the contents of a selection set with its fragments spread.
type measure struct {
	fields, roots, depth int
	aliased              map[string]int // aliases of each field of the first level
}

type measurer struct {
	maxDepth  int
	fragments ast.FragmentDefinitionList
	measures  map[string]*measure // by fragment; nil while it is being measured
	found     int                 // number of directives
	err       *gqlerror.Error

	introspection *ast.Field // first introspection field; nil if there is none
}

// operation checks the limits of a whole operation.
func (m *measurer) operation(set ast.SelectionSet, whole measure, at *ast.Position) {
	m.within(whole.roots, maxRootFields, at, model.TooLarge,
		"The operation has too many root fields: at most %d are allowed.")
	if whole.depth > m.maxDepth && m.err == nil {
		at = m.deeper(set, m.maxDepth)
	}
	m.within(whole.depth, m.maxDepth, at, model.DepthLimitExceeded,
		"The operation is too deep: at most %d levels of fields are allowed.")
}

func isIntrospection(f *ast.Field) bool { return f.Name == "__schema" || f.Name == "__type" }

// deeper returns the position of the first field with that number of levels above it, nil if
// there is none.
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

// within records an error if n exceeds the limit, unless there is an error.
func (m *measurer) within(n, limit int, at *ast.Position, code model.Code, message string) {
	if n > limit && m.err == nil {
		m.err = withCode(gqlerror.ErrorPosf(at, message, limit), code)
	}
}

func (m *measurer) directives(list ast.DirectiveList) {
	m.found += len(list)
	if len(list) > 0 {
		m.within(m.found, maxDirectives, list[0].Position, model.TooLarge,
			"The document has too many directives: at most %d are allowed.")
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

// fragment measures a fragment once. It returns nil for an unknown fragment, which validation
// refuses. It refuses a cycle, because validation would take long to list all cycles.
func (m *measurer) fragment(name string) *measure {
	definition := m.fragments.ForName(name)
	if definition == nil {
		return nil
	}
	if of, begun := m.measures[name]; begun {
		if of == nil && m.err == nil {
			m.err = validationError(
				gqlerror.ErrorPosf(definition.Position, "Cannot spread fragment %q within itself.", name))
		}
		return of
	}
	m.measures[name] = nil
	m.directives(definition.Directives)
	of := m.selections(definition.SelectionSet)
	m.measures[name] = &of
	return &of
}

// add adds a part to the sum of a selection set.
func (m *measurer) add(sum *measure, part measure, at *ast.Position) {
	sum.fields += part.fields
	sum.roots += part.roots
	sum.depth = max(sum.depth, part.depth)
	m.within(sum.fields, maxFields, at, model.TooLarge,
		"The operation selects too many fields, with its fragments spread: at most %d are allowed.")
	if part.aliased == nil {
		return
	}
	if sum.aliased == nil {
		sum.aliased = make(map[string]int, len(part.aliased))
	}
	for name, n := range part.aliased {
		sum.aliased[name] += n
		m.within(sum.aliased[name], maxAliases, at, model.TooLarge,
			"A field has too many aliases: at most %d are allowed.")
	}
}
