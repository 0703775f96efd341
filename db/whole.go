package db

import (
	"context"
	"database/sql"
	"strconv"

	"library-catalogue/db/query"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

func (r *reader[T]) Stream(ctx context.Context, p *model.Page, max int, fn func(context.Context, []*T) error) error {
	b, err := r.s.newSelect(ctx, r.Table, p.Selection)
	if err != nil {
		return err
	}
	k := b.NewKeyset(r.Table, p.Order)
	c := &cursor{Snapshot: r.s, name: "stream_" + r.mapping.Name, max: max}
	c.text = r.pageSQL(b, r.infos(), &model.Page{Selection: p.Selection, Order: p.Order, Limit: query.Unlimited}, k, "")
	c.args = b.Args
	if err := c.open(ctx); err != nil {
		return err
	}
	defer c.close()
	scanner := newRowScanner(r.mapping, k.Kinds)
	for {
		part := make([]*T, 0, min(max, 512))
		err := c.next(ctx, func(rows *sql.Rows) error {
			row, err := scanner.scan(rows)
			part = append(part, row)
			return err
		})
		if err == nil && len(part) > 0 {
			err = fn(ctx, part)
		}
		if err != nil || len(part) < max {
			return err
		}
	}
}

// cursor reads a SELECT in parts. The transaction can run other statements between them.
type cursor struct {
	*Snapshot
	name string // name of PostgreSQL's cursor, unique in the transaction
	text string
	args []any
	max  int // rows in a part
	rows *sql.Rows
}

// open declares a cursor in PostgreSQL, because a connection cannot run another statement while one
// returns rows.
func (c *cursor) open(ctx context.Context) error {
	if !c.store.dialect.NeedsCursors {
		return nil
	}
	declare := "DECLARE " + c.name + " NO SCROLL CURSOR FOR " + c.text
	err := c.store.run(ctx, c.tx, false, declare, func(h stmt.Handle) error {
		_, err := h.ExecContext(ctx, declare, c.args...)
		return err
	})
	c.text, c.args = "FETCH "+strconv.Itoa(c.max)+" FROM "+c.name, nil
	return err
}

// next calls fn for each row of the next part.
func (c *cursor) next(ctx context.Context, fn func(*sql.Rows) error) error {
	return c.store.run(ctx, c.tx, false, c.text, func(h stmt.Handle) (err error) {
		if c.rows == nil {
			if c.rows, err = stmt.Query(ctx, h, c.text, c.args...); err != nil { //nolint:rowserrcheck // read below
				return err
			}
		}
		for n := 0; n < c.max && c.rows.Next(); n++ {
			if err := fn(c.rows); err != nil {
				return err
			}
		}
		err = c.rows.Err()
		if c.store.dialect.NeedsCursors {
			c.close()
		}
		return err
	})
}

func (c *cursor) close() {
	if c.rows != nil {
		c.rows.Close()
		c.rows = nil
	}
}
