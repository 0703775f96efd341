package plan_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// generate makes a random valid operation over the schema, with fragments,
// aliases, merged fields, directives, variables and literals, and some sets of
// values for its variables. cursors are some of each connection type's own.
func generate(schema *ast.Schema, cursors map[string][]string, r *rand.Rand) (query string, variables []map[string]any) {
	g := newGenerator(schema, cursors, r, 40)
	body := g.selections(schema.Query, 5)
	var declared []string
	for _, name := range g.order {
		declared = append(declared, fmt.Sprintf("$%s: %s", name, g.types[name]))
	}
	head := "query Q"
	if len(declared) > 0 {
		head += "(" + strings.Join(declared, ", ") + ")"
	}
	sets := 3
	if len(g.order) == 0 {
		sets = 1
	}
	for range sets {
		variables = append(variables, g.variables())
	}
	return head + body + strings.Join(g.fragments, ""), variables
}

type generator struct {
	schema    *ast.Schema
	cursors   map[string][]string
	r         *rand.Rand
	budget    int // fields that may still be selected
	names     int // aliases given
	order     []string
	types     map[string]string
	values    map[string]func() any // a random value of a variable, nil where it is not given
	fragments []string
}

func newGenerator(schema *ast.Schema, cursors map[string][]string, r *rand.Rand, budget int) *generator {
	return &generator{schema: schema, cursors: cursors, r: r, budget: budget, types: map[string]string{}, values: map[string]func() any{}}
}

// variables returns random values of the variables that were declared.
func (g *generator) variables() map[string]any {
	set := map[string]any{}
	for _, name := range g.order {
		if value := g.values[name](); value != nil {
			set[name] = value
		}
	}
	return set
}

func (g *generator) chance(percent int) bool { return g.r.IntN(100) < percent }

// variable declares a variable of a type and returns its use.
func (g *generator) variable(typ string, value func() any) string {
	name := fmt.Sprintf("v%d", len(g.order))
	g.order = append(g.order, name)
	g.types[name] = typ
	g.values[name] = value
	return "$" + name
}

// selections writes a selection set for a type.
func (g *generator) selections(def *ast.Definition, depth int) string {
	var out []string
	for n := 1 + g.r.IntN(5); n > 0; n-- {
		switch {
		case g.chance(10):
			out = append(out, g.alias()+"__typename"+g.directives())
		case g.chance(12) && depth > 0:
			on, condition := g.narrowed(def), ""
			if on != def || g.chance(70) {
				condition = " on " + on.Name
			}
			out = append(out, "..."+condition+g.directives()+g.selections(on, depth-1))
		case g.chance(8) && depth > 0:
			on := g.narrowed(def)
			name := fmt.Sprintf("F%d", len(g.fragments))
			g.fragments = append(g.fragments, "") // its place, before those inside it
			at := len(g.fragments) - 1
			g.fragments[at] = " fragment " + name + " on " + on.Name + g.selections(on, depth-1)
			out = append(out, "..."+name+g.directives())
		default:
			if text := g.field(def, depth); text != "" {
				out = append(out, text)
				if g.chance(8) { // the same field again is merged
					out = append(out, text)
				}
			}
		}
	}
	if len(out) == 0 {
		out = append(out, "__typename")
	}
	return "{" + strings.Join(out, " ") + "}"
}

// narrowed returns a type that a fragment on def may be on.
func (g *generator) narrowed(def *ast.Definition) *ast.Definition {
	if possible := g.schema.PossibleTypes[def.Name]; def.IsAbstractType() && g.chance(80) {
		return possible[g.r.IntN(len(possible))]
	}
	return def
}

// field writes one field with its arguments, or nothing.
func (g *generator) field(def *ast.Definition, depth int) string {
	var fields ast.FieldList
	for _, f := range def.Fields {
		if f.Type.Name() == changePage || def == g.schema.Query && slices.Contains(left, f.Name) && !g.chance(1) {
			continue
		}
		if leaf := g.schema.Types[f.Type.Name()].IsLeafType(); !strings.HasPrefix(f.Name, "__") && (leaf || depth > 0) {
			fields = append(fields, f)
		}
	}
	if g.budget--; g.budget < 0 || len(fields) == 0 {
		return ""
	}
	f := fields[g.r.IntN(len(fields))]
	var arguments []string
	for _, a := range f.Arguments {
		if value := g.argument(f, a, arguments); value != "" {
			arguments = append(arguments, a.Name+": "+value)
		}
	}
	text := f.Name
	if len(arguments) > 0 {
		text += "(" + strings.Join(arguments, ", ") + ")"
	}
	// A name of its own keeps fields with other arguments or types apart.
	alias := ""
	if len(f.Arguments) > 0 || def.IsAbstractType() || g.chance(20) {
		g.names++
		alias = fmt.Sprintf("a%d: ", g.names)
	}
	text = alias + text + g.directives()
	if target := g.schema.Types[f.Type.Name()]; !target.IsLeafType() {
		text += g.selections(target, depth-1)
	}
	return text
}

func (g *generator) alias() string {
	if g.chance(30) {
		g.names++
		return fmt.Sprintf("t%d: ", g.names)
	}
	return ""
}

// directives writes @include or @skip, by a literal or a variable, or nothing.
func (g *generator) directives() string {
	if !g.chance(12) {
		return ""
	}
	condition := fmt.Sprint(g.chance(50))
	if g.chance(60) && len(g.order) < 6 {
		condition = g.variable("Boolean!", func() any { return g.chance(50) })
	}
	return [...]string{" @include(if: ", " @skip(if: "}[g.r.IntN(2)] + condition + ")"
}

// argument writes a value for an argument, or nothing.
func (g *generator) argument(f *ast.FieldDefinition, a *ast.ArgumentDefinition, before []string) string {
	if !g.given(a, strings.Join(before, " ")) {
		return ""
	}
	literal, typ, _ := g.value(f, a)
	if !g.chance(40) {
		return literal
	}
	return g.variable(typ, func() any {
		if g.chance(10) && !strings.HasSuffix(typ, "!") {
			return nil
		}
		_, _, value := g.value(f, a)
		return value
	})
}

// given reports whether an argument is to be given beside those before it.
func (g *generator) given(a *ast.ArgumentDefinition, before string) bool {
	switch a.Name {
	case "first", "last":
		return g.chance(50) && !(a.Name == "last" && strings.Contains(before, "first") && g.chance(98))
	case "offset", "after", "before":
		return g.chance(15)
	case "filter", "having", "orderBy", "search":
		// A cursor of one ordering is refused by another.
		foreign := a.Name != "filter" && (strings.Contains(before, "after: ") || strings.Contains(before, "before: "))
		return g.chance(15) && !(foreign && g.chance(90))
	case "bounds", "by", "id", "isbn", "nodeId", "nodeIds":
		return true
	}
	if a.Type.NonNull {
		panic("no value for the argument " + a.Name)
	}
	return false
}

// value returns a value of an argument as a literal and as a variable has it.
func (g *generator) value(f *ast.FieldDefinition, a *ast.ArgumentDefinition) (literal, typ string, value any) {
	switch a.Name {
	case "first", "last":
		n := g.r.IntN(7)
		return fmt.Sprint(n), "Int", int64(n)
	case "offset":
		n := g.r.IntN(4)
		return fmt.Sprint(n), "Int", int64(n)
	case "after", "before":
		cursors := g.cursors[f.Type.Name()]
		if g.chance(8) { // broken, or foreign
			cursors = []string{"zzz", "", g.cursors["GenreConnection"][0]}
		}
		cursor := cursors[g.r.IntN(len(cursors))]
		return fmt.Sprintf("%q", cursor), "String", cursor
	case "bounds":
		var bounds []any
		for price := g.r.IntN(300_000); len(bounds) < 1+g.r.IntN(4); price += g.r.IntN(300_000) { // seldom not ascending
			bounds = append(bounds, fmt.Sprintf("%d.50", price))
		}
		return fmt.Sprintf("%q", bounds), "[Decimal!]!", bounds
	case "by":
		keys := []any{"GENRE", "CATEGORY", "AUTHOR", "YEAR"}
		g.r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		keys = keys[:1+g.r.IntN(2)]
		if g.chance(3) { // refused
			keys = append(keys, keys[0])
		}
		return fmt.Sprint(keys), "[BookGroupBy!]!", keys
	case "id":
		n := g.r.IntN(12)
		return fmt.Sprint(n), "ID!", fmt.Sprint(n)
	case "isbn":
		numbers := []string{"9783161484100", "0-306-40615-2", "", "1"} // the last ones are refused
		number := numbers[g.r.IntN(len(numbers))]
		return fmt.Sprintf("%q", number), "String!", number
	case "nodeId":
		id := g.nodeID()
		return fmt.Sprintf("%q", id), "ID!", id
	case "nodeIds":
		ids, texts := []any{}, []string{}
		for range g.r.IntN(5) {
			id := g.nodeID()
			ids, texts = append(ids, id), append(texts, fmt.Sprintf("%q", id))
		}
		return "[" + strings.Join(texts, ",") + "]", "[ID!]!", ids
	}
	literal, value = g.input(a.Type, 3)
	return literal, a.Type.String(), value
}

// input writes a value of an input type, and gives what a variable has for it.
func (g *generator) input(typ *ast.Type, depth int) (literal string, value any) {
	if !typ.NonNull && g.r.IntN(300) == 0 { // refused
		return "null", nil
	}
	if typ.Elem != nil {
		if g.chance(5) { // a value is taken for a list of one
			return g.input(typ.Elem, depth)
		}
		texts, values := []string{}, []any{}
		for range g.r.IntN(4) {
			text, value := g.input(typ.Elem, depth)
			if slices.Contains(texts, text) && !g.chance(5) { // an ordering refuses it
				continue
			}
			texts, values = append(texts, text), append(values, value)
		}
		return "[" + strings.Join(texts, ", ") + "]", values
	}
	def := g.schema.Types[typ.Name()]
	switch def.Kind {
	case ast.Enum:
		v := def.EnumValues[g.r.IntN(len(def.EnumValues))].Name
		if v == model.Relevance && !g.chance(5) { // refused without a search
			v = "NAME"
		}
		return v, v
	case ast.InputObject:
		texts, values := []string{}, map[string]any{}
		for _, f := range def.Fields {
			leaf := g.schema.Types[f.Type.Name()].IsLeafType()
			if !f.Type.NonNull && (!g.chance(15) || depth == 0 && !leaf) {
				continue
			}
			if f.DefaultValue != nil && g.chance(50) {
				continue
			}
			text, value := g.input(f.Type, depth-1)
			texts, values[f.Name] = append(texts, f.Name+": "+text), value
		}
		return "{" + strings.Join(texts, ", ") + "}", values
	}
	n := g.r.IntN(60)
	switch typ.Name() {
	case "Boolean":
		return fmt.Sprint(n < 30), n < 30
	case "Int", "BigInt":
		return fmt.Sprint(n), int64(n)
	case "ID":
		return fmt.Sprint(n), fmt.Sprint(n)
	case "Decimal":
		return fmt.Sprintf("%d.5", n), fmt.Sprintf("%d.50", n)
	case "Date":
		date := fmt.Sprintf("19%02d-02-03", n)
		return fmt.Sprintf("%q", date), date
	case "DateTime":
		moment := fmt.Sprintf("20%02d-02-03T04:05:06+02:00", n)
		return fmt.Sprintf("%q", moment), moment
	case "String":
		text := []string{"a", "B", "é", "the", "Book 1", "%", "x'"}[n%7]
		return fmt.Sprintf("%q", text), text
	}
	panic("no value of the type " + typ.Name())
}

// nodeID returns the global id of a book, genre or category, or none of them.
func (g *generator) nodeID() string {
	ids := []string{"Qm9vazox", "Qm9vazoy", "R2VucmU6MQ", "R2VucmU6OQ", "Q2F0ZWdvcnk6MQ", "Qm9vazo5OTk", "garbage", ""}
	return ids[g.r.IntN(len(ids))]
}
