package query

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// Keyset is an order of the rows r of a table: the keys that they are ordered by, and
// last the id, which makes the order total.
type Keyset struct {
	Kinds []model.Kind // of the keys, without the id

	keys       []ordering
	columns    []string // the keys and the id as expressions
	descending []bool   // by column
}

// NewKeyset returns an order as SQL.
func (b *Builder) NewKeyset(t *Table, o model.Order) Keyset {
	var k Keyset
	for _, by := range o.Keys {
		key := t.orders[by.Field]
		if key.kind == model.KindText {
			key.expression = b.Dialect.SortKey(key.expression)
		}
		k.Kinds = append(k.Kinds, key.kind)
		k.keys = append(k.keys, key)
		k.columns = append(k.columns, key.expression)
		k.descending = append(k.descending, by.Descending)
	}
	k.columns = append(k.columns, "r.id")
	k.descending = append(k.descending, o.IDDescending)
	return k
}

// joins returns what the keys need beside the rows, each once: one join may be the
// beginning of another.
func (k *Keyset) joins() string {
	var joins string
	for _, key := range k.keys {
		if strings.HasPrefix(key.join, joins) {
			joins = key.join
		}
	}
	return joins
}

// covered reports whether an index by the only key has what lists are narrowed by.
func (k *Keyset) covered() bool { return len(k.keys) == 1 && k.keys[0].covered }

func keyName(i int) string { return "key" + strconv.Itoa(i+1) }

// selected returns the keys as columns that are named key1, key2 …
func (k *Keyset) selected() string {
	var text strings.Builder
	for i, key := range k.keys {
		text.WriteString(", " + key.expression + " AS " + keyName(i))
	}
	return text.String()
}

// of returns the keyset of a subquery that has an alias, selected the keys, and may
// have the id in a column of its own.
func (k Keyset) of(alias string) Keyset {
	k.keys, k.columns = slices.Clone(k.keys), slices.Clone(k.columns)
	for i := range k.keys {
		k.columns[i] = alias + "." + keyName(i)
		k.keys[i] = ordering{kind: k.keys[i].kind, expression: k.columns[i]}
	}
	k.columns[len(k.keys)] = alias + ".id"
	return k
}

// orderBy writes what follows ORDER BY, reversed or not.
func (k *Keyset) orderBy(backward bool) string {
	parts := slices.Clone(k.columns)
	for i := range parts {
		if k.descending[i] != backward {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

// Bound is an end of a page: rows come after a position, or before it.
type Bound struct {
	Position          *model.Position
	Before, Inclusive bool
}

// Bounds returns the ends of a page that has any.
func Bounds(p *model.Page) []Bound {
	all := []Bound{{p.After, false, false}, {p.From, false, true}, {p.Before, true, false}, {p.Until, true, true}}
	return slices.DeleteFunc(all, func(b Bound) bool { return b.Position == nil })
}

// Operator returns the comparison of a column with its value at the bound.
func (b Bound) Operator(descending, inclusive bool) string {
	operator := " > "
	if descending != b.Before {
		operator = " < "
	}
	if inclusive {
		operator = operator[:2] + "= "
	}
	return operator
}

// seek writes that a row is within a bound.
func (b *Builder) seek(k *Keyset, bound Bound) string {
	last := len(k.columns) - 1
	values := make([]string, 0, len(k.columns))
	for _, key := range bound.Position.Keys {
		values = append(values, b.Arg(key))
	}
	values = append(values, b.Arg(bound.Position.ID))
	text := k.columns[last] + bound.Operator(k.descending[last], bound.Inclusive) + values[last]
	oneWay := !slices.Contains(k.descending, !k.descending[0])
	if last > 0 && oneWay && k.joins() == "" && b.Dialect.HasRowCompare {
		// An index serves this as a whole, if it has all columns.
		return "(" + strings.Join(k.columns, ", ") + ")" + bound.Operator(k.descending[0], bound.Inclusive) + "(" + strings.Join(values, ", ") + ")"
	}
	for i := last - 1; i >= 0; i-- {
		// In this form PostgreSQL estimates well how many rows that are.
		column, value := k.columns[i], values[i]
		text = column + bound.Operator(k.descending[i], true) + value + " AND (" + column + " <> " + value + " OR " + text + ")"
	}
	return text
}
