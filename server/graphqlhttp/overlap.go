package graphqlhttp

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// overlaps finds fields with the same response name that cannot be merged (GraphQL September
// 2025, section 5.3.2). It compares each field with the first of its name, because equality is
// transitive. gqlparser compares all pairs in every operation: 150 operations with a fragment of
// 500 fields, which the limits allow, take it 2 to 6 s, and 25 ms here. The limit of fields
// bounds the work, because it counts spread fragments too.
type overlaps struct {
	schema *ast.Schema
	found  func(message string, at *ast.Position)
	some   bool // a conflict was found
}

func overlappingFields(observers *core.Events, addError core.AddErrFunc) {
	observers.OnOperation(func(walker *core.Walker, operation *ast.OperationDefinition) {
		o := &overlaps{schema: walker.Schema, found: func(message string, at *ast.Position) {
			addError(core.Message("%s", message), core.At(at))
		}}
		o.check([]ast.SelectionSet{operation.SelectionSet}, nil, false)
	})
}

// sameName holds the fields of an object with the same response name.
type sameName struct {
	name   string
	fields []*ast.Field
}

// check checks selection sets that are merged at a path. If exclusive is true, they are of
// different object types, so that only one applies and only the shapes must agree.
func (o *overlaps) check(sets []ast.SelectionSet, path []string, exclusive bool) {
	for _, group := range collectFields(sets) {
		fields, path := group.fields, append(slices.Clip(path), group.name)
		parts := [][]*ast.Field{fields}
		if !exclusive {
			parts = byObject(fields)
		}
		for _, part := range parts {
			for _, f := range part[1:] {
				if why := o.differ(part[0], f, exclusive); why != "" {
					o.conflict(path, why, f)
				}
			}
			o.check(selectionsOf(part), path, exclusive)
		}
		if len(parts) > 1 && !o.some {
			for _, part := range parts[1:] {
				if why := o.differ(fields[0], part[0], true); why != "" {
					o.conflict(path, why, part[0])
				}
			}
			o.check(selectionsOf(fields), path, true)
		}
	}
}

// differ returns the difference that prevents merging two fields, "" if there is none.
func (o *overlaps) differ(a, b *ast.Field, exclusive bool) string {
	switch {
	case !exclusive && a.Name != b.Name:
		return `"` + a.Name + `" and "` + b.Name + `" are different fields`
	case !exclusive && !sameArguments(a.Arguments, b.Arguments):
		return "they have differing arguments"
	case a.Definition != nil && b.Definition != nil && !o.sameShape(a.Definition.Type, b.Definition.Type):
		return `they return conflicting types "` + a.Definition.Type.String() + `" and "` +
			b.Definition.Type.String() + `"`
	}
	return ""
}

func (o *overlaps) conflict(path []string, why string, f *ast.Field) {
	o.some = true
	var message strings.Builder
	message.WriteString(`Fields "` + path[0] + `" conflict because `)
	for _, name := range path[1:] {
		message.WriteString(`subfields "` + name + `" conflict because `)
	}
	message.WriteString(why + ". Use different aliases on the fields to fetch both if this was intentional.")
	o.found(message.String(), f.Position)
}

// collectFields groups the fields of selection sets by response name, in order, with fragments
// spread.
func collectFields(sets []ast.SelectionSet) (groups []sameName) {
	places := map[string]int{}
	spread := map[string]bool{}
	var collect func(ast.SelectionSet)
	collect = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch s := selection.(type) {
			case *ast.Field:
				place, ok := places[s.Alias]
				if !ok {
					place = len(groups)
					places[s.Alias] = place
					groups = append(groups, sameName{name: s.Alias})
				}
				groups[place].fields = append(groups[place].fields, s)
			case *ast.InlineFragment:
				collect(s.SelectionSet)
			case *ast.FragmentSpread:
				if s.Definition != nil && !spread[s.Name] {
					spread[s.Name] = true
					collect(s.Definition.SelectionSet)
				}
			}
		}
	}
	for _, set := range sets {
		collect(set)
	}
	return groups
}

func selectionsOf(fields []*ast.Field) (sets []ast.SelectionSet) {
	for _, f := range fields {
		if len(f.SelectionSet) > 0 {
			sets = append(sets, f.SelectionSet)
		}
	}
	return sets
}

// byObject splits fields by their object types, which are mutually exclusive. If a field belongs to an
// interface, it returns one part, because that field applies to every object type.
func byObject(fields []*ast.Field) (parts [][]*ast.Field) {
	for _, f := range fields {
		if f.ObjectDefinition == nil || f.ObjectDefinition.Kind != ast.Object {
			return [][]*ast.Field{fields}
		}
		i := slices.IndexFunc(parts, func(part []*ast.Field) bool {
			return part[0].ObjectDefinition == f.ObjectDefinition
		})
		if i < 0 {
			i, parts = len(parts), append(parts, nil)
		}
		parts[i] = append(parts[i], f)
	}
	return parts
}

// sameShape reports whether two types have the same lists, nullability and leaf types. Method
// check compares the fields of objects.
func (o *overlaps) sameShape(a, b *ast.Type) bool {
	if a.NonNull != b.NonNull || (a.Elem == nil) != (b.Elem == nil) {
		return false
	}
	if a.Elem != nil {
		return o.sameShape(a.Elem, b.Elem)
	}
	leaf := func(t *ast.Type) bool { return o.schema.Types[t.NamedType].IsLeafType() }
	return a.NamedType == b.NamedType || !leaf(a) && !leaf(b)
}

func sameArguments(a, b ast.ArgumentList) bool {
	if len(a) != len(b) {
		return false
	}
	for _, argument := range a {
		other := b.ForName(argument.Name)
		if other == nil || !sameValue(argument.Value, other.Value) {
			return false
		}
	}
	return true
}

// sameValue reports whether two values are equal. The order of an object's fields does not
// matter.
func sameValue(a, b *ast.Value) bool {
	if a.Kind != b.Kind || a.Raw != b.Raw || len(a.Children) != len(b.Children) {
		return false
	}
	for i, child := range a.Children {
		other := b.Children[i].Value
		if a.Kind == ast.ObjectValue {
			other = b.Children.ForName(child.Name)
		}
		if other == nil || !sameValue(child.Value, other) {
			return false
		}
	}
	return true
}
