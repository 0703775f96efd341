package db

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// table says how a type's rows are read.
type table[T any] struct {
	name    string
	columns []string
	fields  func(*T) []any   // where to scan the columns
	keys    func(*T) *string // where to put the keys of an ordering
	id      func(*T) model.ID
}

// selected gives the columns of rows that have an alias, or none, as they are read.
func (t table[T]) selected(d *dialect.Dialect, alias string) string {
	expressions := make([]string, len(t.columns))
	for i, column := range t.columns {
		expressions[i] = column
		if alias != "" {
			expressions[i] = alias + "." + column
		}
		switch column {
		case "published_at":
			expressions[i] = d.Date(expressions[i])
		case "created_at", "updated_at":
			expressions[i] = d.Timestamp(expressions[i])
		}
	}
	return strings.Join(expressions, ", ")
}

// without gives the table as it is read without some columns.
func (t table[T]) without(omitted model.Columns) table[T] {
	if omitted == 0 {
		return t
	}
	narrow := t
	narrow.columns = nil
	var kept []int
	for i, column := range t.columns {
		if optional[column]&omitted == 0 {
			narrow.columns, kept = append(narrow.columns, column), append(kept, i)
		}
	}
	narrow.fields = func(row *T) []any {
		all, into := t.fields(row), make([]any, len(kept))
		for i, k := range kept {
			into[i] = all[k]
		}
		return into
	}
	return narrow
}

var optional = map[string]model.Columns{
	"version": model.Version, "description": model.Description, "created_at": model.CreatedAt, "updated_at": model.UpdatedAt,
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

// query reads the rows that a SELECT or a RETURNING of t's columns gives.
func query[T any](ctx context.Context, s *Store, write bool, t table[T], text string, args ...any) (out []*T, err error) {
	err = s.run(ctx, write, func(h handle) error {
		rows, err := h.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var row T
		into := t.fields(&row)
		read := slab[T]{}
		out = nil // of an attempt before
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			out = append(out, read.keep(row))
		}
		return rows.Err()
	})
	return out, err
}

// slab keeps rows, many to one allocation.
type slab[T any] struct{ block []T }

func (s *slab[T]) keep(row T) *T {
	const smallest, largest = 4, 128
	if len(s.block) == cap(s.block) {
		s.block = make([]T, 0, min(max(smallest, 2*cap(s.block)), largest))
	}
	s.block = append(s.block, row)
	return &s.block[len(s.block)-1]
}

// byID reads the rows with these ids, in no order; what does not exist is left out.
func byID[T any](ctx context.Context, s *Store, t table[T], ids []model.ID) ([]*T, error) {
	return query(ctx, s, false, t, `SELECT `+t.selected(s.dialect, "r")+` FROM `+s.dialect.ByIDs(t.name), s.dialect.Array(distinct(ids)))
}

// distinct gives each id once. Several come in order.
func distinct(ids []model.ID) []model.ID {
	if len(ids) < 2 {
		return ids
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// one gives the only row of rows, or nil.
func one[T any](rows []*T, err error) (*T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}
