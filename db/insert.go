package db

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// InsertBooks stores new books, with ids that rise in their order, and gives
// them what they have as stored.
func (s *Store) InsertBooks(ctx context.Context, books []*model.Book) error {
	return gone(insert(ctx, s, newBooks, "", books))
}

// InsertGenres is as InsertBooks.
func (s *Store) InsertGenres(ctx context.Context, genres []*model.Genre) error {
	return gone(insert(ctx, s, newGenres, "", genres))
}

// InsertCategories is as InsertBooks.
func (s *Store) InsertCategories(ctx context.Context, categories []*model.Category) error {
	return insert(ctx, s, newCategories, "", categories)
}

// newRows says what new rows of a table are stored with.
type newRows[T any] struct {
	table  table[T]
	fields []model.RowField[T]
}

var (
	newBooks      = newRows[model.Book]{bookTable, writable(model.BookFields)}
	newGenres     = newRows[model.Genre]{genreTable, writable(model.GenreFields)}
	newCategories = newRows[model.Category]{categoryTable, writable(model.CategoryFields)}
)

func writable[T any](fields []model.RowField[T]) []model.RowField[T] {
	return slices.DeleteFunc(slices.Clone(fields), func(f model.RowField[T]) bool { return !f.Writable })
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
	values := make([]any, len(n.fields))
	for i, f := range n.fields {
		values[i] = argument(f.Pointer(row))
	}
	return values
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
	case *model.ID:
		return *p
	case *model.Cents:
		return *p
	case *model.Date:
		return p.String()
	}
	return p
}

// insertSQL writes the INSERT of so many rows. before is a function call that the
// engine makes before it stores any; it may be empty.
func (n newRows[T]) insertSQL(d *dialect.Dialect, before string, rows int) string {
	return `INSERT INTO ` + n.table.Name + ` AS r (` + strings.Join(n.columns(), ", ") + `) ` + n.rowsSQL(d, before, rows) +
		` RETURNING ` + n.table.selected(d, "")
}

// postgresTypes are the types of columns in PostgreSQL, for arrays of their values.
var postgresTypes = map[model.Kind]string{
	model.KindText: "text", model.KindID: "bigint", model.KindInt: "integer", model.KindCents: "bigint", model.KindDate: "date",
}

// rowsSQL returns the rows of an INSERT, which are stored in their order. PostgreSQL
// takes each column as one array, so that the statement is the same for any number of
// rows and is parsed and planned once.
func (n newRows[T]) rowsSQL(d *dialect.Dialect, before string, rows int) string {
	if !d.Postgres {
		return "VALUES " + tuples(rows, len(n.fields))
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

// rowArgs returns the arguments of rowsSQL.
func rowArgs(d *dialect.Dialect, rows [][]any) []any {
	if !d.Postgres {
		return slices.Concat(rows...)
	}
	args := make([]any, len(rows[0]))
	for i := range args {
		column := make([]any, len(rows))
		for k, row := range rows {
			column[k] = row[i]
		}
		args[i] = pq.Array(column)
	}
	return args
}

// insert runs INSERTs of many rows each.
func insert[T any](ctx context.Context, s *Store, n newRows[T], before string, rows []*T) error {
	for part := range slices.Chunk(rows, importRows) {
		values := make([][]any, len(part))
		for i, row := range part {
			values[i] = n.values(row)
		}
		stored, err := fetch(ctx, s, true, n.table, n.insertSQL(s.dialect, before, len(part)), rowArgs(s.dialect, values)...)
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

// gone is the error of a write of many rows. What one of them points at was
// looked for before: if it is not there, it was deleted a moment ago, and the
// transaction is run again.
func gone(err error) error {
	if errors.Is(err, errForeignKey) {
		return errors.Join(errRetry, err)
	}
	return err
}

// HoldGenres gives those of the ids that genres have, in order, and keeps these
// genres from being deleted until the transaction ends.
func (s *Store) HoldGenres(ctx context.Context, ids []model.ID) ([]model.ID, error) {
	return hold(ctx, s, "genres", ids)
}

// HoldCategories is as HoldGenres.
func (s *Store) HoldCategories(ctx context.Context, ids []model.ID) ([]model.ID, error) {
	return hold(ctx, s, "categories", ids)
}

func hold(ctx context.Context, s *Store, table string, ids []model.ID) (found []model.ID, err error) {
	err = s.selectRows(ctx, true, &found,
		`SELECT id FROM `+table+` WHERE `+s.dialect.In("id", "$1")+` ORDER BY id`+s.dialect.ForKeyShare, s.dialect.Array(ids))
	return found, err
}
