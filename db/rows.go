package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// table is how the rows of a type are read.
type table[T any] struct {
	*query.Table
	fields []model.RowField[T]
	keys   func(*T) *string // where the keys of an order go
	id     func(*T) model.ID
	extra  []extraColumn

	noun      string // in messages: "Genre"
	reference string // the field that points at another table; empty where none does
	children  *children
}

// children are the rows of another table that point at those of a table.
type children struct {
	table  string // "books"
	noun   string // "book"
	column string // "genre_id"
	of     *children
}

// extraColumn is a column that follows those of the fields, and where it is scanned to.
type extraColumn struct {
	expression string
	target     any
}

// selected returns the columns of rows that have an alias, or none, as they are read.
func (t table[T]) selected(d *dialect.Dialect, alias string) string {
	columns := query.Columns(d, t.infos(), alias)
	for _, column := range t.extra {
		columns += ", " + column.expression
	}
	return columns
}

func (t table[T]) infos() []*model.FieldInfo {
	infos := make([]*model.FieldInfo, len(t.fields))
	for i := range t.fields {
		infos[i] = &t.fields[i].FieldInfo
	}
	return infos
}

// project returns the table as it is read with the fields of a projection.
func (t table[T]) project(p model.Projection) table[T] {
	if p == 0 {
		return t
	}
	t.fields = slices.DeleteFunc(slices.Clone(t.fields), func(f model.RowField[T]) bool { return !p.Has(&f.FieldInfo) })
	return t
}

// sort puts rows in order of id.
func (t table[T]) sort(rows []*T, descending bool) {
	slices.SortFunc(rows, func(a, b *T) int {
		if descending {
			a, b = b, a
		}
		return cmp.Compare(t.id(a), t.id(b))
	})
}

// rowReader reads rows of a table, with the keys that they are in order by.
type rowReader[T any] struct {
	table   table[T]
	row     T
	keys    []any // pointers
	targets []any
	buffer  []byte
	slab    slab[T]
}

// newRowReader returns a reader of rows that begin with what is scanned to first, and
// end with the keys.
func newRowReader[T any](t table[T], keys []model.Kind, first ...any) *rowReader[T] {
	r := &rowReader[T]{table: t}
	r.targets = first
	for _, f := range t.fields {
		r.targets = append(r.targets, scanTarget(f.Pointer(&r.row)))
	}
	for _, column := range t.extra {
		r.targets = append(r.targets, column.target)
	}
	for _, kind := range keys {
		r.keys = append(r.keys, newKey(kind))
	}
	r.targets = append(r.targets, r.keys...)
	return r
}

// scan reads the row that rows are at.
func (r *rowReader[T]) scan(rows *sql.Rows) (*T, error) {
	if err := rows.Scan(r.targets...); err != nil {
		return nil, err
	}
	if len(r.keys) > 0 {
		r.buffer = r.buffer[:0]
		for _, key := range r.keys {
			r.buffer = model.AppendKey(r.buffer, keyValue(key))
		}
		*r.table.keys(&r.row) = string(r.buffer)
	}
	return r.slab.add(r.row), nil
}

// appendTo returns what sets rows to those that are read, which begin with the revision
// and end with the keys.
func (t table[T]) appendTo(all *[]*T, keys []model.Kind) scanRow {
	*all = nil
	var seen model.Revision
	reader := newRowReader(t, keys, targets(&seen)...)
	return func(rows *sql.Rows, at *model.Revision) error {
		row, err := reader.scan(rows)
		*all, *at = append(*all, row), seen
		return err
	}
}

// fetch runs a statement of a write that returns t's columns.
func fetch[T any](ctx context.Context, s *Store, t table[T], text string, args ...any) (all []*T, err error) {
	err = s.run(ctx, txOf(ctx), true, func(h handle) error {
		rows, err := h.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		all = nil
		reader := newRowReader(t, nil)
		return scanAll(rows, nil, func(rows *sql.Rows, _ *model.Revision) error {
			row, err := reader.scan(rows)
			all = append(all, row)
			return err
		})
	})
	return all, err
}

// slab holds rows, many to one allocation.
type slab[T any] struct{ block []T }

func (s *slab[T]) add(row T) *T {
	const smallest, largest = 4, 128
	if len(s.block) == cap(s.block) {
		s.block = make([]T, 0, min(max(smallest, 2*cap(s.block)), largest))
	}
	s.block = append(s.block, row)
	return &s.block[len(s.block)-1]
}

// ByID returns the rows with these ids, in no order; what does not exist is left out.
func (r Rows[T]) ByID(ctx context.Context, ids []model.ID) (rows []*T, err error) {
	q := selection{text: r.s.store.byIDSQL[r.Name], args: []any{r.s.store.dialect.Array(distinct(ids))}}
	err = r.s.read(ctx, q, func() scanRow { return r.appendTo(&rows, nil) })
	return rows, err
}

func byIDSQL[T any](d *dialect.Dialect, t table[T]) string {
	return versioned("SELECT " + t.selected(d, "r") + " FROM " + d.ByIDs(t.Name))
}

// distinct returns each id once, in order if there are several.
func distinct(ids []model.ID) []model.ID {
	if len(ids) < 2 {
		return ids
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// database/sql has a fast way only for the driver's own types: what is scanned
// into a named integer it prints and parses again. The columns are therefore
// scanned into int64 where that is what a type is made of, and by the scanners
// here where it is not.

// scanTarget returns where the value of a field is scanned to, of which p is the pointer.
func scanTarget(p any) any {
	switch p := p.(type) {
	case *model.ID:
		return (*int64)(p)
	case *model.Cents:
		return (*int64)(p)
	case *int:
		return (*number)(p)
	case *model.Timestamp:
		return (*timestamp)(p)
	case **string:
		return &nullableText{target: p}
	}
	return p
}

// newKey returns where a key of an order is scanned to.
func newKey(kind model.Kind) any {
	switch kind {
	case model.KindText:
		return new(string)
	case model.KindDate:
		return new(model.Date)
	case model.KindTimestamp:
		return new(model.Timestamp)
	}
	return new(int64)
}

// keyValue returns a key that was scanned as model.Position has it.
func keyValue(key any) any {
	switch key := key.(type) {
	case *string:
		return *key
	case *int64:
		return *key
	}
	return key.(fmt.Stringer).String() // *model.Date or *model.Timestamp
}

// number scans an int that fits.
type number int

// Scan implements sql.Scanner.
func (n *number) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("no integer: %v", src)
	}
	*n = number(v)
	return nil
}

// nullableText scans a text that may be null.
type nullableText struct {
	target **string
	texts  slab[string]
}

// Scan implements sql.Scanner.
func (n *nullableText) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*n.target = nil
	case string:
		*n.target = n.texts.add(v)
	case []byte:
		*n.target = n.texts.add(string(v))
	default:
		return fmt.Errorf("no text: %v", src)
	}
	return nil
}

// timestamp scans what the dialect's Timestamp returns.
type timestamp model.Timestamp

// epoch is 2000-01-01, from which PostgreSQL counts, in microseconds since 1970.
const epoch = 946_684_800_000_000

// Scan implements sql.Scanner.
func (t *timestamp) Scan(src any) error {
	if binaryForm, ok := src.([]byte); ok && len(binaryForm) == 8 {
		*t = timestamp(int64(binary.BigEndian.Uint64(binaryForm)) + epoch)
		return nil
	}
	return (*model.Timestamp)(t).Scan(src)
}
