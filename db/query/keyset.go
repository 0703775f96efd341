package query

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// Keyset is a total order of the rows r of a table: sort keys and the id.
type Keyset struct {
	Kinds []model.Kind // kinds of the sort keys, without the id

	keys       []ordering
	columns    []string // expressions of the sort keys and the id
	descending []bool   // for each column
}

// NewKeyset returns the SQL of an order.
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

// joins returns the joins of the sort keys. One join may be the beginning of another.
func (k *Keyset) joins() string {
	var joins string
	for _, key := range k.keys {
		if strings.HasPrefix(key.join, joins) {
			joins = key.join
		}
	}
	return joins
}

// covered reports whether the index of the only sort key covers the usual filters.
func (k *Keyset) covered() bool { return len(k.keys) == 1 && k.keys[0].covered }

func keyName(i int) string { return "key" + strconv.Itoa(i+1) }

// selected returns the sort keys as columns named key1, key2 …
func (k *Keyset) selected() string {
	var text strings.Builder
	for i, key := range k.keys {
		text.WriteString(", " + key.expression + " AS " + keyName(i))
	}
	return text.String()
}

// of returns the order for a subquery with an alias that selected the sort keys and the id.
func (k Keyset) of(alias string) Keyset {
	k.keys, k.columns = slices.Clone(k.keys), slices.Clone(k.columns)
	for i := range k.keys {
		k.columns[i] = alias + "." + keyName(i)
		k.keys[i] = ordering{kind: k.keys[i].kind, expression: k.columns[i]}
	}
	k.columns[len(k.keys)] = alias + ".id"
	return k
}

// orderBy returns the ORDER BY list, reversed if backward.
func (k *Keyset) orderBy(backward bool) string {
	parts := slices.Clone(k.columns)
	for i := range parts {
		if k.descending[i] != backward {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

// Bound is an end of a page: rows come after or before a place.
type Bound struct {
	Place             *model.Place
	Before, Inclusive bool
}

// Bounds returns the ends of a page.
func Bounds(p *model.Page) []Bound {
	all := []Bound{{p.After, false, false}, {p.From, false, true}, {p.Before, true, false}, {p.Until, true, true}}
	return slices.DeleteFunc(all, func(b Bound) bool { return b.Place == nil })
}

// Operator returns the operator that compares a column with its value at the bound.
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

// seek returns the condition that a row is within a bound.
func (b *Builder) seek(k *Keyset, bound Bound) string {
	last := len(k.columns) - 1
	values := make([]string, 0, len(k.columns))
	for _, key := range bound.Place.Keys {
		values = append(values, b.Arg(key))
	}
	values = append(values, b.Arg(bound.Place.ID))
	text := k.columns[last] + bound.Operator(k.descending[last], bound.Inclusive) + values[last]
	oneWay := !slices.Contains(k.descending, !k.descending[0])
	if last > 0 && oneWay && k.joins() == "" && b.Dialect.HasRowCompare {
		// An index with all columns serves a row comparison.
		return "(" + strings.Join(k.columns, ", ") + ")" + bound.Operator(k.descending[0], bound.Inclusive) + "(" +
			strings.Join(values, ", ") + ")"
	}
	for i := last - 1; i >= 0; i-- {
		// PostgreSQL estimates the number of rows well for this form.
		column, value := k.columns[i], values[i]
		text = column + bound.Operator(k.descending[i], true) + value + " AND (" + column + " <> " + value + " OR " +
			text + ")"
	}
	return text
}
