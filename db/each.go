package db

import (
	"context"
	"database/sql"
	"strconv"

	"library-catalogue/graph/model"
)

// unlimited is the limit of a page that is the whole list.
const unlimited = -1

// StreamBooks reads all books that match, in the order of the page, of which no
// more counts. The rows go to fn in parts of so many, by one statement on one
// snapshot; with the context that it gets, fn reads from that too.
func (s *Store) StreamBooks(ctx context.Context, p *model.Page, rows int, fn func(context.Context, []*model.Book) error) error {
	return each(ctx, s, allBooks, p, rows, fn)
}

// StreamGenres is as StreamBooks.
func (s *Store) StreamGenres(ctx context.Context, p *model.Page, rows int, fn func(context.Context, []*model.Genre) error) error {
	return each(ctx, s, allGenres, p, rows, fn)
}

// StreamCategories is as StreamBooks.
func (s *Store) StreamCategories(ctx context.Context, p *model.Page, rows int, fn func(context.Context, []*model.Category) error) error {
	return each(ctx, s, allCategories, p, rows, fn)
}

func each[T any](ctx context.Context, s *Store, l list[T], p *model.Page, most int, fn func(context.Context, []*T) error) error {
	return s.InSnapshot(ctx, func(ctx context.Context, _ int64) error {
		w, err := s.statement(ctx, l.table.name, p.Match)
		if err != nil {
			return err
		}
		seq := sequenceOf(s.dialect, l.table.name, p.Order)
		text := l.pageSQL(w, &model.Page{Match: p.Match, Order: p.Order, Limit: unlimited}, seq, "")
		args := w.args
		declare, fetch := "", ""
		if s.dialect.Postgres { // a connection runs no other statement while one gives rows
			declare, fetch = "DECLARE whole NO SCROLL CURSOR FOR "+text, "FETCH "+strconv.Itoa(most)+" FROM whole"
		}
		if declare != "" {
			err := s.run(ctx, false, func(h handle) error {
				_, err := h.ExecContext(ctx, declare, args...)
				return err
			})
			if err != nil {
				return err
			}
			text, args = fetch, nil
		}
		var rows *sql.Rows
		defer func() {
			if rows != nil {
				rows.Close()
			}
		}()
		read := newReader(l.table, seq, nil)
		next := func() ([]*T, error) {
			part := make([]*T, 0, min(most, 512))
			err := s.run(ctx, false, func(h handle) (err error) {
				if rows == nil || fetch != "" {
					if rows, err = h.QueryContext(ctx, text, args...); err != nil {
						return err
					}
				}
				for len(part) < most && rows.Next() {
					row, err := read.scan(rows)
					if err != nil {
						return err
					}
					part = append(part, row)
				}
				if fetch != "" {
					rows.Close()
				}
				return rows.Err()
			})
			return part, err
		}
		return ahead(next, most, func(part []*T) error { return fn(ctx, part) })
	})
}
