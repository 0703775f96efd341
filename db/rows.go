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
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

// mapping maps the rows of a table to values of T.
type mapping[T any] struct {
	*query.Table
	fields []model.RowField[T]
	keys   func(*T) *string // the encoded sort keys of a row
	id     func(*T) model.ID
	extra  []extraColumn

	noun      string // in messages: "Genre"
	reference string // the field that refers to another table, or empty
	children  *children
}

// source defines which rows of a table a Reader reads.
type source[T any] struct {
	mapping[T]
	from   string // FROM clause; the rows have the alias r
	parent string // column of the parent's id; empty for a whole table
}

func (s *source[T]) query() query.Source {
	return query.Source{Table: s.Table, From: s.from, Parent: s.parent}
}

// children are the rows of another table that refer to a row.
type children struct {
	table  string // "books"
	column string // "genre_id"
	of     *children
}

// extraColumn is a column after the fields, and its destination for Scan.
type extraColumn struct {
	expression string
	target     any
}

// selected returns the list of columns in a SELECT of rows with an alias, or without one.
func (t mapping[T]) selected(d *dialect.Dialect, alias string) string {
	columns := query.Columns(d, t.infos(), alias)
	for _, column := range t.extra {
		columns += ", " + column.expression
	}
	return columns
}

func (t mapping[T]) infos() []*model.FieldInfo {
	infos := make([]*model.FieldInfo, len(t.fields))
	for i := range t.fields {
		infos[i] = &t.fields[i].FieldInfo
	}
	return infos
}

// project returns the mapping without the fields that a projection omits.
func (t mapping[T]) project(p model.Projection) mapping[T] {
	if p == 0 {
		return t
	}
	t.fields = slices.DeleteFunc(slices.Clone(t.fields), func(f model.RowField[T]) bool { return !p.Has(&f.FieldInfo) })
	return t
}

// sort sorts rows by id.
func (t mapping[T]) sort(rows []*T, descending bool) {
	slices.SortFunc(rows, func(a, b *T) int {
		if descending {
			a, b = b, a
		}
		return cmp.Compare(t.id(a), t.id(b))
	})
}

// rowScanner scans rows of a table and encodes their sort keys.
type rowScanner[T any] struct {
	mapping mapping[T]
	row     T
	keys    []any // destinations of the sort keys
	targets []any
	buffer  []byte
	slab    slab[T]
}

// newRowScanner returns a scanner. The columns first precede those of the mapping; the sort keys
// follow them.
func newRowScanner[T any](t mapping[T], keys []model.Kind, first ...any) *rowScanner[T] {
	r := &rowScanner[T]{mapping: t}
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

// scan scans the current row.
func (r *rowScanner[T]) scan(rows *sql.Rows) (*T, error) {
	if err := rows.Scan(r.targets...); err != nil {
		return nil, err
	}
	if len(r.keys) > 0 {
		r.buffer = r.buffer[:0]
		for _, key := range r.keys {
			r.buffer = model.AppendKey(r.buffer, keyValue(key))
		}
		*r.mapping.keys(&r.row) = string(r.buffer)
	}
	return r.slab.add(r.row), nil
}

// appendTo returns a scanRow that appends to all. The columns of the revision precede those of the
// mapping; the sort keys follow them.
func (t mapping[T]) appendTo(all *[]*T, keys []model.Kind) scanRow {
	*all = nil
	var seen model.Revision
	scanner := newRowScanner(t, keys, revisionTargets(&seen)...)
	return func(rows *sql.Rows, at *model.Revision) error {
		row, err := scanner.scan(rows)
		if err != nil {
			return err
		}
		*all, *at = append(*all, row), seen
		return nil
	}
}

// fetch runs a statement that writes and returns rows.
func fetch[T any](ctx context.Context, s *Store, t mapping[T], text string, args ...any) (all []*T, err error) {
	err = s.run(ctx, txOf(ctx), true, text, func(h stmt.Handle) error {
		rows, err := stmt.Query(ctx, h, text, args...)
		if err != nil {
			return err
		}
		all = nil
		scanner := newRowScanner(t, nil)
		return scanAll(rows, nil, func(rows *sql.Rows, _ *model.Revision) error {
			row, err := scanner.scan(rows)
			if err != nil {
				return err
			}
			all = append(all, row)
			return nil
		})
	})
	return all, err
}

// slab allocates rows in blocks, because one allocation for each row costs more.
type slab[T any] struct{ block []T }

func (s *slab[T]) add(row T) *T {
	const smallest, largest = 4, 128
	if len(s.block) == cap(s.block) {
		s.block = make([]T, 0, min(max(smallest, 2*cap(s.block)), largest))
	}
	s.block = append(s.block, row)
	return &s.block[len(s.block)-1]
}

// distinct returns ids without duplicates. Two or more are sorted.
func distinct(ids []model.ID) []model.ID {
	if len(ids) < 2 {
		return ids
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// database/sql assigns a value directly only to a destination of the driver's own type. It prints
// and parses a value for a named integer type. Columns are therefore scanned into *int64 or by the
// scanners below.

// scanTarget returns the destination of Scan for the pointer p of a field.
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

// newKey returns a destination of Scan for a sort key.
func newKey(kind model.Kind) any {
	switch kind {
	case model.KindText, model.KindNatural:
		return new(string)
	case model.KindDate:
		return new(model.Date)
	case model.KindTimestamp:
		return new(model.Timestamp)
	}
	return new(int64)
}

// keyValue returns a scanned sort key as model.Place stores it.
func keyValue(key any) any {
	switch key := key.(type) {
	case *string:
		return *key
	case *int64:
		return *key
	}
	return key.(fmt.Stringer).String() // *model.Date or *model.Timestamp
}

// number scans an int.
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

// nullableText scans a text or NULL.
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

// timestamp scans the result of the dialect's Timestamp.
type timestamp model.Timestamp

// epoch is 2000-01-01 UTC, PostgreSQL's zero time, in microseconds since 1970.
const epoch = 946_684_800_000_000

// Scan implements sql.Scanner.
func (t *timestamp) Scan(src any) error {
	if binaryForm, ok := src.([]byte); ok && len(binaryForm) == 8 {
		*t = timestamp(int64(binary.BigEndian.Uint64(binaryForm)) + epoch)
		return nil
	}
	return (*model.Timestamp)(t).Scan(src)
}
