package db

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// list is a set of rows that can be paged through: a table, or the part of it
// that belongs to a parent.
type list[T any] struct {
	table  table[T]
	from   string // what follows FROM; the rows have the alias r
	parent string // the column that holds the parent's id; empty for a whole table
}

// pageSQL writes the SELECT of one page. parent stands for the parent's id: a
// placeholder or a column. Conditions that the page does not have are not in it.
func (l list[T]) pageSQL(p model.Page, parent string, args *[]any) string {
	placeholder := placeholders(args)
	var where []string
	if parent != "" {
		where = append(where, l.parent+" = "+parent)
	}
	ids := p.Range
	ids.Above = max(ids.Above, p.After)
	if p.Before != 0 && (ids.Below == 0 || p.Before < ids.Below) {
		ids.Below = p.Before
	}
	where = append(where, within(ids, placeholder)...)
	var b strings.Builder
	b.WriteString(`SELECT ` + l.table.selected() + ` FROM ` + l.from)
	if len(where) > 0 {
		b.WriteString(` WHERE ` + strings.Join(where, " AND "))
	}
	b.WriteString(` ORDER BY r.id`)
	if p.Backward {
		b.WriteString(` DESC`)
	}
	// The limit stands in the text: PostgreSQL cannot plan for a limit that it does
	// not know, and would plan the prepared statement again each time.
	b.WriteString(` LIMIT ` + strconv.Itoa(p.Limit))
	if p.Offset > 0 {
		b.WriteString(` OFFSET ` + placeholder(p.Offset))
	}
	return b.String()
}

// within gives the conditions of a range of ids.
func within(r model.Range, placeholder func(any) string) (where []string) {
	if r.Above != 0 {
		where = append(where, "r.id > "+placeholder(r.Above))
	}
	if r.Below != 0 {
		where = append(where, "r.id < "+placeholder(r.Below))
	}
	return where
}

// placeholders collects arguments and gives each its place in the text.
func placeholders(args *[]any) func(any) string {
	return func(v any) string {
		*args = append(*args, v)
		return "$" + strconv.Itoa(len(*args))
	}
}

// count counts the rows of a whole table.
func (l list[T]) count(ctx context.Context, s *Store, r model.Range) (int, error) {
	var args []any
	text := `SELECT count(*) FROM ` + l.from
	if where := within(r, placeholders(&args)); len(where) > 0 {
		text += ` WHERE ` + strings.Join(where, " AND ")
	}
	return s.count(ctx, text, args...)
}

// page reads a page of a whole table.
func page[T any](ctx context.Context, s *Store, l list[T], p model.Page) ([]*T, error) {
	var args []any
	text := l.pageSQL(p, "", &args)
	rows, err := query(ctx, s, false, l.table, text, args...)
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows, err
}

// pages reads the same page of many parents: in one statement where the
// database can limit each parent by itself, else in one each.
func pages[T any](ctx context.Context, s *Store, l list[T], parents []model.ID, p model.Page) (map[model.ID][]*T, error) {
	out := make(map[model.ID][]*T, len(parents))
	if s.dialect.lateral() {
		args := []any{s.dialect.keys(parents)}
		text := `SELECT p.id, r.* FROM unnest($1::bigint[]) AS p (id) CROSS JOIN LATERAL (` +
			l.pageSQL(p, "p.id", &args) + `) r ORDER BY p.id, r.id`
		err := s.run(ctx, false, func(h handle) error {
			rows, err := h.QueryContext(ctx, text, args...)
			if err != nil {
				return err
			}
			defer rows.Close()
			var parent model.ID
			var row T
			into := append([]any{&parent}, l.table.fields(&row)...)
			of := map[model.ID]*slab[T]{}
			for rows.Next() {
				if err := rows.Scan(into...); err != nil {
					return err
				}
				if of[parent] == nil {
					of[parent] = new(slab[T])
				}
				of[parent].add(row)
			}
			for parent, read := range of {
				out[parent] = read.rows
			}
			return rows.Err()
		})
		return out, err
	}
	for _, parent := range parents {
		args := []any{parent}
		rows, err := query(ctx, s, false, l.table, l.pageSQL(p, "$1", &args), args...)
		if err != nil {
			return nil, err
		}
		if p.Backward {
			slices.Reverse(rows)
		}
		out[parent] = rows
	}
	return out, nil
}

// counts counts the rows of many parents in one statement; a parent without
// rows is left out.
func counts[T any](ctx context.Context, s *Store, l list[T], parents []model.ID, r model.Range) (map[model.ID]int, error) {
	out := make(map[model.ID]int, len(parents))
	args := []any{s.dialect.keys(parents)}
	where := append([]string{s.dialect.in(l.parent, "$1")}, within(r, placeholders(&args))...)
	text := `SELECT ` + l.parent + `, count(*) FROM ` + l.from +
		` WHERE ` + strings.Join(where, " AND ") + ` GROUP BY ` + l.parent
	err := s.run(ctx, false, func(h handle) error {
		rows, err := h.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var parent model.ID
			var n int
			if err := rows.Scan(&parent, &n); err != nil {
				return err
			}
			out[parent] = n
		}
		return rows.Err()
	})
	return out, err
}
