package db

import (
	"strings"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// key reads a value that rows are put in order by, as model.Position holds it.
type key struct {
	into  any // where to scan it
	value func() any
}

func textKey() key {
	var v string
	return key{&v, func() any { return v }}
}

func numberKey() key {
	var v int64
	return key{&v, func() any { return v }}
}

func dateKey() key {
	var v model.Date
	return key{&v, func() any { return v.String() }}
}

func timestampKey() key {
	var v model.Timestamp
	return key{&v, func() any { return v.String() }}
}

// sequence is an order of a list, as SQL.
type sequence struct {
	orderings   []ordering // by key, without the id
	descending  []bool     // by key, and last that of the id
	expressions []string   // by key, and last that of the id
}

func sequenceOf(d *dialect.Dialect, table string, o model.Order) sequence {
	var s sequence
	for _, key := range o.Keys {
		ordering := catalogue[table].order[key.Field]
		if ordering.text {
			ordering.expression = d.SortKey(ordering.expression)
		}
		s.orderings = append(s.orderings, ordering)
		s.expressions = append(s.expressions, ordering.expression)
		s.descending = append(s.descending, key.Descending)
	}
	s.expressions = append(s.expressions, "r.id")
	s.descending = append(s.descending, o.IDDescending)
	return s
}

// joins gives what the keys need beside the rows, each once.
func (s sequence) joins() string {
	var joins string
	for _, o := range s.orderings {
		if strings.HasPrefix(o.join, joins) { // one may be the beginning of another
			joins = o.join
		}
	}
	return joins
}

// selected gives the keys as columns, with names that begin with o.
func (s sequence) selected() string {
	var b strings.Builder
	for i, o := range s.orderings {
		b.WriteString(", " + o.expression + " AS " + s.name(i))
	}
	return b.String()
}

func (s sequence) name(i int) string { return "o" + string(rune('a'+i)) }

// named gives the keys of a subquery that has an alias, as columns.
func (s sequence) named(alias string) string {
	var b strings.Builder
	for i := range s.orderings {
		b.WriteString(", " + alias + "." + s.name(i))
	}
	return b.String()
}

// by writes what follows ORDER BY, turned round or not: of the expressions, or of
// the columns of a subquery that has an alias.
func (s sequence) by(backward bool, alias string) string {
	parts := make([]string, len(s.expressions))
	for i, expression := range s.expressions {
		switch parts[i] = expression; {
		case alias != "" && i < len(s.orderings):
			parts[i] = alias + "." + s.name(i)
		case alias != "":
			parts[i] = alias + ".id"
		}
		if s.descending[i] != backward {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

// beyond writes that a row comes after a position, or before it.
func (s sequence) beyond(w *statement, p *model.Position, before, inclusive bool) string {
	values := make([]string, 0, len(s.expressions))
	for _, key := range p.Keys {
		values = append(values, w.arg(key))
	}
	values = append(values, w.arg(p.ID))
	greater := func(i int) bool { return s.descending[i] == before }
	uniform := true
	for i := range s.expressions {
		uniform = uniform && greater(i) == greater(0)
	}
	last := len(values) - 1
	operator := func(i int, orEqual bool) string {
		op := " < "
		if greater(i) {
			op = " > "
		}
		if orEqual {
			op = strings.TrimSuffix(op, " ") + "= "
		}
		return op
	}
	if last == 0 {
		return s.expressions[0] + operator(0, inclusive) + values[0]
	}
	// No index has columns of two tables. And one that is to serve a list of values
	// too begins anew for each of them, at the position.
	if uniform && s.joins() == "" && w.dialect.Postgres && !w.listed(s.expressions[0]) {
		return "(" + strings.Join(s.expressions, ", ") + ")" + operator(0, inclusive) + "(" + strings.Join(values, ", ") + ")"
	}
	text := s.expressions[last] + operator(last, inclusive) + values[last]
	for i := last - 1; i >= 0; i-- {
		// In this form PostgreSQL foresees well how many rows that are.
		text = s.expressions[i] + operator(i, true) + values[i] + " AND (" + s.expressions[i] + " <> " + values[i] + " OR " + text + ")"
	}
	return text
}

// keysOf encodes the keys that were scanned.
func keysOf(keys []key, buffer []byte) []byte {
	for _, k := range keys {
		buffer = model.AppendKey(buffer, k.value())
	}
	return buffer
}
