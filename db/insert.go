package db

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"library-catalogue/db/changes"
	"library-catalogue/db/dialect"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// newRows describes an INSERT into a table.
type newRows[T any] struct {
	mapping mapping[T]
	fields  []model.RowField[T]
	texts   []textColumn // written by the program unless the engine DerivesTexts
	actors  []string     // actor of each row, for the log; nil means the transaction's
	before  string       // function call that the engine makes before it stores the rows, or empty
}

// textColumn is a column that is derived from texts: a folded form or words.
type textColumn struct {
	fields []int // indexes into newRows.fields
	name   string
	of     func(texts ...string) string
}

func newRowsOf[T any](t mapping[T]) newRows[T] {
	return rowsWith(t, slices.DeleteFunc(slices.Clone(t.fields), func(f model.RowField[T]) bool { return !f.Writable }))
}

// rowsWith returns newRows that store the given fields.
func rowsWith[T any](t mapping[T], fields []model.RowField[T]) newRows[T] {
	n := newRows[T]{mapping: t, fields: fields}
	for i, f := range fields {
		if _, stored := dialect.SQLite.Folded(t.Name + "." + f.Column); stored && f.HasFold() {
			n.texts = append(n.texts, textColumn{[]int{i}, f.FoldColumn(), ofOne(collate.Fold)})
			if f.Natural {
				n.texts = append(n.texts, textColumn{[]int{i}, f.KeyColumn(), ofOne(collate.NaturalKey)})
			}
		}
		if slices.Contains(search.Columns(t.Name), f.Column) {
			column := f.Column + "_words"
			if f.Column == "description" {
				column = "given_words" // tells the triggers that this program knows the rule of the schema
			}
			n.texts = append(n.texts, textColumn{n.indexes(search.Sources(t.Name, f.Column)), column, search.Words})
		}
	}
	return n
}

// ofOne returns a function of one text as one of several.
func ofOne(of func(string) string) func(...string) string {
	return func(texts ...string) string { return of(texts[0]) }
}

// indexes returns the indexes of the fields that have one of the columns.
func (n newRows[T]) indexes(columns []string) (found []int) {
	for _, column := range columns {
		if i := slices.IndexFunc(n.fields, func(f model.RowField[T]) bool { return f.Column == column }); i >= 0 {
			found = append(found, i)
		}
	}
	return found
}

// without returns n without the optional fields that no row has, because each parameter of an INSERT costs.
func (n newRows[T]) without(rows []*T) newRows[T] {
	isMissing := func(f model.RowField[T]) bool {
		return f.Is(model.OnInclude) && !slices.ContainsFunc(rows, func(row *T) bool { return f.Text(row) != "" })
	}
	if !slices.ContainsFunc(n.fields, isMissing) {
		return n
	}
	less := rowsWith(n.mapping, slices.DeleteFunc(slices.Clone(n.fields), isMissing))
	less.actors, less.before = n.actors, n.before
	return less
}

func (n newRows[T]) columns() []string {
	names := make([]string, len(n.fields))
	for i, f := range n.fields {
		names[i] = f.Column
	}
	return names
}

// values returns the values of a row's fields.
func (n newRows[T]) values(row *T) []any {
	values := make([]any, len(n.fields), len(n.fields)+len(n.texts))
	for i, f := range n.fields {
		values[i] = argument(f.Pointer(row))
	}
	return values
}

// textValues returns the values of the derived columns. NULL is derived as an empty text.
func (n newRows[T]) textValues(values []any) []any {
	derived := make([]any, len(n.texts))
	var texts []string
	for i, column := range n.texts {
		texts = texts[:0]
		for _, field := range column.fields {
			var text string
			switch v := values[field].(type) {
			case string:
				text = v
			case *string:
				if v != nil {
					text = *v
				}
			}
			texts = append(texts, text)
		}
		derived[i] = column.of(texts...)
	}
	return derived
}

// argument returns the value behind a pointer of a RowField in a type that the drivers accept.
func argument(p any) any {
	switch p := p.(type) {
	case *string:
		return *p
	case **string:
		return *p
	case *int:
		return *p
	case *int64:
		return *p
	case *model.ID:
		return *p
	case *model.Cents:
		return *p
	case *model.Date:
		return p.String()
	case *model.Timestamp:
		return p.String()
	}
	return p
}

// insertSQL returns an INSERT of many rows that returns them.
func (n newRows[T]) insertSQL(d *dialect.Dialect, rows int) string {
	return n.storeSQL(d, rows) + ` RETURNING ` + n.mapping.selected(d, "")
}

// storeSQL is like insertSQL, without RETURNING.
func (n newRows[T]) storeSQL(d *dialect.Dialect, rows int) string {
	columns := n.columns()
	if !d.DerivesTexts {
		for _, column := range n.texts {
			columns = append(columns, column.name)
		}
	}
	if n.actors != nil && !d.HasArrays {
		columns = append(columns, "actor")
	}
	return `INSERT INTO ` + n.mapping.Name + ` AS r (` + strings.Join(columns, ", ") + `) ` + n.rowsSQL(d, rows)
}

// rowsSQL returns the rows of an INSERT, which are stored in this order. PostgreSQL takes an array
// for each column, so that one prepared statement serves any number of rows.
func (n newRows[T]) rowsSQL(d *dialect.Dialect, rows int) string {
	if !d.HasArrays {
		columns := len(n.fields) + len(n.texts)
		if n.actors != nil {
			columns++
		}
		return "VALUES " + tuples(rows, columns)
	}
	arrays := make([]string, len(n.fields))
	for i, f := range n.fields {
		arrays[i] = "$" + strconv.Itoa(i+1) + "::" + dialect.Types[f.Kind] + "[]"
	}
	before := ""
	if n.before != "" {
		before = ", " + n.before
	}
	if n.actors != nil {
		before += ", set_config('catalogue.actors', $" + strconv.Itoa(len(n.fields)+1) + ", true) AS a"
	}
	all := strings.Join(n.columns(), ", ")
	return "SELECT " + all + " FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS n (" + all +
		", place)" + before + " ORDER BY place"
}

func (n newRows[T]) args(d *dialect.Dialect, rows []*T) []any {
	values := make([][]any, len(rows))
	for i, row := range rows {
		values[i] = n.values(row)
		if !d.DerivesTexts {
			values[i] = append(values[i], n.textValues(values[i])...)
		}
		if n.actors != nil && !d.HasArrays {
			values[i] = append(values[i], n.actors[i])
		}
	}
	if !d.HasArrays {
		return slices.Concat(values...)
	}
	args := make([]any, len(n.fields))
	for i := range args {
		column := make([]any, len(values))
		for k, row := range values {
			column[k] = row[i]
		}
		args[i] = pq.Array(column)
	}
	if n.actors != nil {
		args = append(args, pq.StringArray(n.actors))
	}
	return args
}

// importRows is the number of rows in one statement of an import. The SQLite driver's time for a
// statement grows with the square of its parameters.
const importRows = 100

// arrayRows is the number of rows in one INSERT with an array for each column, because triggers run for each statement.
const arrayRows = 500

// insert stores rows by INSERTs of many, and sets each row to what was stored.
func insert[T any](ctx context.Context, s *Store, n newRows[T], rows []*T) error {
	actors := n.actors
	if actors == nil {
		actors = actorsOf(ctx, len(rows))
	}
	if actors == nil && txOf(ctx) == nil && !s.dialect.HasArrays {
		actors = make([]string, len(rows)) // by their column a trigger knows a transaction of the service
	}
	size := importRows
	if s.dialect.HasArrays {
		size = arrayRows
	}
	for part := range slices.Chunk(rows, size) {
		if actors != nil {
			n.actors, actors = actors[:len(part)], actors[len(part):]
		}
		n := n.without(part)
		text := n.insertSQL(s.dialect, len(part))
		s.prepareSoon(text)
		stored, err := fetch(ctx, s, n.mapping, text, n.args(s.dialect, part)...)
		if err != nil {
			return err
		}
		// Both engines number rows in the order of the INSERT, but return them in any order.
		n.mapping.sort(stored, false)
		for i, row := range part {
			*row = *stored[i]
		}
	}
	return nil
}

// actorsOf returns the actors of an INSERT of some rows, unless its transaction has one.
func actorsOf(ctx context.Context, rows int) []string {
	actor := changes.Actor(ctx)
	if actor == "" || txOf(ctx) != nil {
		return nil
	}
	actors := make([]string, rows)
	for i := range actors {
		actors[i] = actor
	}
	return actors
}

// numbered replaces the placeholders ? with the engine's.
func (s *Store) numbered(text string) string { return sqlx.Rebind(s.dialect.BindType, text) }

// tuple writes (?, ?, …).
func tuple(columns int) string {
	return "(" + strings.TrimSuffix(strings.Repeat("?, ", columns), ", ") + ")"
}

// tuples writes (?, ?, …), (?, ?, …), …
func tuples(rows, columns int) string {
	return strings.TrimSuffix(strings.Repeat(tuple(columns)+", ", rows), ", ")
}

func anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
