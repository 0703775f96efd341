package model

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/text/unicode/norm"
)

// Filter is the filter input of a type, by GraphQL field names. A map distinguishes null from
// absent. Values are as written in the document, or scalars.
type Filter = map[string]any

// Bounds of a filter.
const (
	maxConditions  = 200
	maxFilterDepth = 10
	MaxOperands    = 10_000 // values of in and notIn
)

// Condition is a filter in a form common to all types. A comparison with a null value is false.
type Condition struct {
	Op      Op
	Field   string       // GraphQL name of a field or relation; for And the field common to all parts, or empty
	Operand any          // int64 or string; for In a slice of these
	Of      []*Condition // parts of And, Or, Not and Related
}

// Op is the operation of a Condition.
type Op string

// The operations. Numbers, ids and cents are int64; dates and timestamps are text in the format of
// GraphQL. Eq and In compare text exactly, other operations compare SortKeys, or
// NaturalKeys for fields in natural order. Operations with Folded compare folded text.
const (
	And     Op = "and" // true without parts
	Or      Op = "or"  // false without parts
	Not     Op = "not" // has one part
	Eq      Op = "eq"
	Gt      Op = "gt"
	Gte     Op = "gte"
	Lt      Op = "lt"
	Lte     Op = "lte"
	In      Op = "in"
	IsNull  Op = "isNull"
	Related Op = "related" // a related row meets the part

	Contains         Op = "contains"
	StartsWith       Op = "startsWith"
	EndsWith         Op = "endsWith"
	ContainsFolded   Op = "icontains"
	StartsWithFolded Op = "istartsWith"
	EndsWithFolded   Op = "iendsWith"
)

// parseFilter returns the condition of a filter, nil if it matches all rows. The error is
// BadUserInput and names the field.
func parseFilter(typename string, filter Filter) (*Condition, error) {
	if len(filter) == 0 {
		return nil, nil
	}
	p := filterParser{}
	c := p.filter(typename, filter, "filter", 1)
	if p.conditions > maxConditions {
		p.problems = FieldErrors{
			NewFieldError("filter", "The filter must not have more than %d conditions.", maxConditions)}
	}
	return c, p.problems.Err()
}

type filterParser struct {
	conditions int
	problems   FieldErrors
}

func (p *filterParser) refuse(path, format string, args ...any) {
	if len(p.problems) < maxProblems {
		p.problems = append(p.problems, NewFieldError(path, format, append([]any{path}, args...)...))
	}
}

// maxProblems is the maximum number of reported errors of a filter.
const maxProblems = 10

// filter returns the condition of a filter input.
func (p *filterParser) filter(typename string, value any, path string, depth int) *Condition {
	fields, _ := value.(map[string]any)
	if fields == nil {
		p.refuse(path, "The %s filter must not be null.")
		return nil
	}
	if depth > maxFilterDepth {
		p.refuse(path, "The filter must not be nested deeper than %[2]d levels: see %[1]s.", maxFilterDepth)
		return nil
	}
	if len(fields) == 0 {
		p.conditions++
	}
	all := &Condition{Op: And}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, path := fields[name], path+"."+name
		var c *Condition
		relation, field := Entities[typename].Relation(name), Entities[typename].Field(name)
		switch {
		case name == "not":
			c = negated(p.filter(typename, value, path, depth+1))
		case name == "and", name == "or":
			c = p.list(Op(name), typename, value, path, depth)
		case relation != nil && relation.Many():
			c = p.quantifiers(name, relation.Type, value, path, depth)
		case relation != nil:
			p.conditions++
			if of := p.filter(relation.Type, value, path, depth+1); of.outcome() == 1 {
				c = &Condition{Op: And} // every row has one
			} else {
				c = &Condition{Op: Related, Field: name, Of: []*Condition{of}}
			}
		case field != nil && field.Is(Filterable):
			c = p.operators(field, value, path)
		default:
			p.refuse(path, "There is no field %s.")
		}
		all.Of = append(all.Of, c)
	}
	return all
}

func negated(c *Condition) *Condition { return &Condition{Op: Not, Of: []*Condition{c}} }

func (p *filterParser) list(op Op, typename string, value any, path string, depth int) *Condition {
	value = written(value)
	if value == nil {
		p.refuse(path, "The %s list must not be null.")
		return nil
	}
	c := &Condition{Op: op}
	for i, part := range graphql.CoerceList(value) {
		c.Of = append(c.Of, p.filter(typename, part, path+"."+strconv.Itoa(i), depth+1))
	}
	return c
}

// quantifiers returns a condition on related rows.
func (p *filterParser) quantifiers(name, typename string, value any, path string, depth int) *Condition {
	fields, _ := value.(map[string]any)
	if fields == nil {
		p.refuse(path, "The %s filter must not be null.")
		return nil
	}
	all := &Condition{Op: And, Field: name}
	for _, quantifier := range slices.Sorted(maps.Keys(fields)) {
		p.conditions++
		of := p.filter(typename, fields[quantifier], path+"."+quantifier, depth+1)
		related := &Condition{Op: Related, Field: name, Of: []*Condition{of}}
		switch quantifier {
		case "none":
			related = negated(related)
		case "every":
			related.Of[0] = negated(of)
			related = negated(related)
		}
		all.Of = append(all.Of, related)
	}
	return all
}

// operators returns the condition of the operators on a field.
func (p *filterParser) operators(f *FieldInfo, value any, path string) *Condition {
	name := f.Name
	operators, _ := value.(map[string]any)
	if operators == nil {
		p.refuse(path, "The %s filter must not be null: to ask for rows without a value, use isNull.")
		return nil
	}
	all := &Condition{Op: And, Field: name}
	for _, operator := range slices.Sorted(maps.Keys(operators)) {
		value, path := written(operators[operator]), path+"."+operator
		p.conditions++
		c := &Condition{Op: Op(operator), Field: name}
		if value == nil {
			p.refuse(path, "The %s operand must not be null: to ask for rows without a value, use isNull.")
			continue
		}
		switch operator {
		case "isNull":
			c.Op = IsNull
			if is, _ := value.(bool); !is {
				c = negated(c)
			}
		case "in", "notIn":
			c = p.oneOf(f, value, path)
		case "eq", "neq":
			c = comparison(Eq, name, p.exact(f, value, path))
		default:
			c = comparison(c.Op, name, p.operand(f.Kind, value, path))
		}
		if operator == "neq" || operator == "notIn" {
			c = negated(c)
		}
		all.Of = append(all.Of, c)
	}
	return all
}

// between is an amount with a fraction of a cent, above so many cents. No row equals it.
type between Cents

// comparison returns the condition that compares a field with a value.
func comparison(op Op, name string, operand any) *Condition {
	if cents, ok := operand.(between); ok {
		switch op {
		case Gt, Gte:
			op = Gt
		case Lt, Lte:
			op = Lte
		default:
			return &Condition{Op: Or, Field: name}
		}
		operand = int64(cents)
	}
	return &Condition{Op: op, Field: name, Operand: operand}
}

// oneOf returns the condition of a list of values. Consecutive numbers become a range, because
// planners estimate ranges better.
func (p *filterParser) oneOf(f *FieldInfo, value any, path string) *Condition {
	name := f.Name
	numbers, texts := p.operands(f, value, path)
	n := len(numbers)
	switch {
	case n+len(texts) == 0:
		return &Condition{Op: Or, Field: name}
	case n > 1 && numbers[n-1]-numbers[0] == int64(n-1):
		return &Condition{Op: And, Field: name,
			Of: []*Condition{{Op: Gte, Field: name, Operand: numbers[0]},
				{Op: Lte, Field: name, Operand: numbers[n-1]}}}
	case n > 0:
		return &Condition{Op: In, Field: name, Operand: numbers}
	}
	return &Condition{Op: In, Field: name, Operand: texts}
}

// operands reads the values of a list, sorted and without duplicates.
func (p *filterParser) operands(f *FieldInfo, value any, path string) (numbers []int64, texts []string) {
	values := graphql.CoerceList(value)
	if len(values) > MaxOperands {
		p.refuse(path, "The %s list must not have more than %d values.", MaxOperands)
		return nil, nil
	}
	for i, v := range values {
		switch operand := p.exact(f, v, path+"."+strconv.Itoa(i)).(type) {
		case int64:
			numbers = append(numbers, operand)
		case string:
			texts = append(texts, operand)
		}
	}
	slices.Sort(numbers)
	slices.Sort(texts)
	return slices.Compact(numbers), slices.Compact(texts)
}

// exact reads a value that the field is compared with, in the form in which it is stored.
func (p *filterParser) exact(f *FieldInfo, value any, path string) any {
	operand := p.operand(f.Kind, value, path)
	if text, ok := operand.(string); ok && f.Syntax != nil {
		if text, ok = f.Syntax.Parse(text); !ok {
			p.refuse(path, "The %s operand must be a valid %s.", f.Syntax.Noun)
			return nil
		}
		return text
	}
	return operand
}

// operand reads a value: int64, string or between, or nil for an invalid value.
func (p *filterParser) operand(k Kind, value any, path string) any {
	switch k {
	case KindID:
		var id ID
		if err := id.UnmarshalGQL(value); err != nil || id < 0 {
			p.refuse(path, "The %s operand must be an id.")
			return nil
		}
		return int64(id)
	case KindInt:
		n, err := graphql.UnmarshalInt64(value)
		if err != nil || n < math.MinInt32 || n > math.MaxInt32 {
			p.refuse(path, "The %s operand must be an integer of 32 bits.")
			return nil
		}
		return n
	case KindBigInt:
		var n BigInt
		if err := n.UnmarshalGQL(value); err != nil {
			p.refuse(path, "The %s operand must be an integer of 64 bits.")
			return nil
		}
		return int64(n)
	case KindCents:
		text, _ := scalarText(value)
		text = strings.TrimSpace(text)
		c, _, exact, ok := parseDecimal(text)
		switch {
		case !ok:
			p.refuse(path, "The %s operand must be a number.")
			return nil
		case exact:
			return int64(c)
		case strings.HasPrefix(text, "-"):
			return between(c - 1)
		}
		return between(c)
	case KindDate:
		var d Date
		if err := d.UnmarshalGQL(value); err != nil {
			p.refuse(path, "The %s operand must be a valid date.")
			return nil
		}
		return d.String()
	case KindTimestamp:
		var t Timestamp
		if err := t.UnmarshalGQL(value); err != nil || !t.IsValid() {
			p.refuse(path, "The %s operand must be a valid date and time.")
			return nil
		}
		return t.String()
	default:
		text, ok := value.(string)
		if !ok || strings.ContainsRune(text, 0) {
			p.refuse(path, "The %s operand must be a text without the character NUL.")
			return nil
		}
		return norm.NFC.String(text) // as texts are stored
	}
}

// key appends a text that identifies the condition.
func (c *Condition) key(dst []byte) []byte {
	if c == nil {
		return append(dst, '-')
	}
	dst = append(append(append(dst, c.Op...), ' '), c.Field...)
	if c.Operand != nil {
		operand, _ := json.Marshal(c.Operand) // numbers and texts always have a JSON text
		dst = append(append(dst, ' '), operand...)
	}
	dst = append(dst, '(')
	for _, part := range c.Of {
		dst = part.key(dst)
	}
	return append(dst, ')')
}

// outcome returns 1 for a condition that matches every row, -1 for one that matches none, and 0
// otherwise.
func (c *Condition) outcome() int {
	switch {
	case c == nil:
		return 1
	case c.Op == And:
		all := 1
		for _, part := range c.Of {
			all = min(all, part.outcome())
		}
		return all
	case c.Op == Or:
		some := -1
		for _, part := range c.Of {
			some = max(some, part.outcome())
		}
		return some
	case c.Op == Not:
		return -c.Of[0].outcome()
	case c.Op == Related: // there may be no related row
		return min(0, c.Of[0].outcome())
	}
	return 0
}
