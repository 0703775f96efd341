package db

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/db/dialect"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// newRows says what new rows of a table are stored with.
type newRows[T any] struct {
	table  table[T]
	fields []model.RowField[T]
	texts  []textColumn // given unless the engine DerivesTexts
}

// textColumn is a column that follows from a text: its folded form or its words.
type textColumn struct {
	field int // of newRows, which has the text
	name  string
	of    func(text string) string
}

var newBooks = newRowsOf(bookTable)

func newRowsOf[T any](t table[T]) newRows[T] {
	return rowsWith(t, slices.DeleteFunc(slices.Clone(t.fields), func(f model.RowField[T]) bool { return !f.Writable }))
}

// rowsWith returns new rows that are stored with these of their fields.
func rowsWith[T any](t table[T], fields []model.RowField[T]) newRows[T] {
	n := newRows[T]{table: t, fields: fields}
	for i, f := range fields {
		if _, stored := dialect.SQLite.Folded(t.Name + "." + f.Column); stored && f.HasFold() {
			n.texts = append(n.texts, textColumn{i, f.FoldColumn(), collate.Fold})
		}
		if slices.Contains(search.Columns(t.Name), f.Column) {
			n.texts = append(n.texts, textColumn{i, f.Column + "_words", search.Words})
		}
	}
	return n
}

// columns returns the columns that are given.
func (n newRows[T]) columns() []string {
	names := make([]string, len(n.fields))
	for i, f := range n.fields {
		names[i] = f.Column
	}
	return names
}

// values returns a row's values of the columns.
func (n newRows[T]) values(row *T) []any {
	values := make([]any, len(n.fields), len(n.fields)+len(n.texts))
	for i, f := range n.fields {
		values[i] = argument(f.Pointer(row))
	}
	return values
}

// textValues returns the values of the columns that follow from the texts among a row's
// values. No text is an empty one.
func (n newRows[T]) textValues(values []any) []any {
	derived := make([]any, len(n.texts))
	for i, column := range n.texts {
		var text string
		switch v := values[column.field].(type) {
		case string:
			text = v
		case *string:
			if v != nil {
				text = *v
			}
		}
		derived[i] = column.of(text)
	}
	return derived
}

// argument returns the value at a pointer of a RowField as drivers take it.
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

// insertSQL writes the INSERT of so many rows, which returns them. before is a function
// call that the engine makes before it stores any; it may be empty.
func (n newRows[T]) insertSQL(d *dialect.Dialect, before string, rows int) string {
	return n.storeSQL(d, before, rows) + ` RETURNING ` + n.table.selected(d, "")
}

// storeSQL is as insertSQL, and returns nothing.
func (n newRows[T]) storeSQL(d *dialect.Dialect, before string, rows int) string {
	columns := n.columns()
	if !d.DerivesTexts {
		for _, column := range n.texts {
			columns = append(columns, column.name)
		}
	}
	return `INSERT INTO ` + n.table.Name + ` AS r (` + strings.Join(columns, ", ") + `) ` + n.rowsSQL(d, before, rows)
}

// postgresTypes are the types of columns in PostgreSQL, for arrays of their values.
var postgresTypes = map[model.Kind]string{
	model.KindText: "text", model.KindID: "bigint", model.KindInt: "integer", model.KindBigInt: "bigint",
	model.KindCents: "bigint", model.KindDate: "date", model.KindTimestamp: "timestamptz",
}

// rowsSQL returns the rows of an INSERT, which are stored in their order. PostgreSQL
// takes each column as one array, so that the statement is the same for any number of
// rows and is parsed and planned once.
func (n newRows[T]) rowsSQL(d *dialect.Dialect, before string, rows int) string {
	if !d.HasArrays {
		return "VALUES " + tuples(rows, len(n.fields)+len(n.texts))
	}
	arrays := make([]string, len(n.fields))
	for i, f := range n.fields {
		arrays[i] = "$" + strconv.Itoa(i+1) + "::" + postgresTypes[f.Kind] + "[]"
	}
	if before != "" {
		before = ", " + before
	}
	all := strings.Join(n.columns(), ", ")
	return "SELECT " + all + " FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS n (" + all + ", place)" + before + " ORDER BY place"
}

// args returns the arguments of storeSQL.
func (n newRows[T]) args(d *dialect.Dialect, rows []*T) []any {
	values := make([][]any, len(rows))
	for i, row := range rows {
		values[i] = n.values(row)
		if !d.DerivesTexts {
			values[i] = append(values[i], n.textValues(values[i])...)
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
	return args
}

// insert runs INSERTs of many rows each.
func insert[T any](ctx context.Context, s *Store, n newRows[T], before string, rows []*T) error {
	for part := range slices.Chunk(rows, importRows) {
		stored, err := fetch(ctx, s, n.table, n.insertSQL(s.dialect, before, len(part)), n.args(s.dialect, part)...)
		if err != nil {
			return err
		}
		// Both engines number the rows in the order in which they are given, and
		// promise nothing about the order in which they give them back.
		n.table.sort(stored, false)
		for i, row := range part {
			*row = *stored[i]
		}
	}
	return nil
}
