package db

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// list is a set of rows that can be paged through: a table, or the part of it
// that belongs to a parent.
type list[T any] struct {
	table  table[T]
	from   string // what follows FROM; the rows have the alias r
	parent string // the column that holds the parent's id; empty for a whole table
}

// rows writes FROM and WHERE of the rows that match, with what else must hold of
// them. Conditions that nobody asks for are not in it.
func (l list[T]) rows(w *statement, joins string, where ...string) string {
	if w.search != nil && w.once {
		w.with = `WITH found AS MATERIALIZED (` + w.found() + `) `
		joins += ` JOIN found s ON s.id = r.id`
	} else if w.search != nil {
		joins += ` JOIN (` + w.found() + `) s ON s.id = r.id`
	}
	w.byGenre = strings.HasPrefix(joins, joinGenre)
	if w.wanted.Where != nil {
		where = append(where, w.condition(w.wanted.Where, l.table.name, "r"))
	}
	text := ` FROM ` + l.from + joins
	if len(where) > 0 {
		text += ` WHERE ` + strings.Join(where, " AND ")
	}
	return text
}

// pageSQL writes the SELECT of one page. parent stands for the parent's id: a
// placeholder or a column.
func (l list[T]) pageSQL(w *statement, p *model.Page, seq sequence, parent string) string {
	w.ranked = slices.ContainsFunc(p.Order.Keys, func(k model.OrderKey) bool { return k.Field == model.Relevance })
	var where []string
	if parent != "" {
		where = append(where, l.parent+" = "+parent)
	}
	if parent == "" && byFew(w, p, seq) {
		return l.fewSQL(w, p, seq)
	}
	// The rows of a search alone, by rank alone, are chosen without a look at the
	// table: PostgreSQL would read all of it rather than many rows one by one.
	whole := p.Limit == unlimited
	byRank := w.ranked && len(p.Order.Keys) == 1 && parent == "" && !whole
	best, unseen := "", byRank && w.wanted.Where == nil
	if byRank && w.search.many && foreseen(w.wanted.Where, l.table.name) {
		best = searchSQLOf(w.dialect).best(w, w.search, p, seq.descending)
	}
	inner := seq
	if best != "" || unseen {
		inner.expressions = []string{seq.expressions[0], "s.id"}
	}
	if best == "" {
		for _, b := range boundsOf(p) {
			where = append(where, inner.beyond(w, b.position, b.before, b.inclusive))
		}
	}
	// The ids of these are chosen first, and the rest is read of the page's rows alone.
	narrow := seq.joins() != "" || l.table.name == "books" && parent == "" && w.search == nil && w.dialect.Postgres && covered(p)
	var text string
	switch {
	case best != "":
		text = `SELECT s.id` + inner.selected() + ` FROM (` + best + `) s`
	case unseen:
		text = `SELECT s.id` + inner.selected() + ` FROM (` + w.found() + `) s`
		if len(where) > 0 {
			text += ` WHERE ` + strings.Join(where, " AND ")
		}
	case narrow && !whole:
		text = `SELECT r.id` + seq.selected() + l.rows(w, seq.joins(), where...)
	default:
		text = `SELECT ` + l.table.selected(w.dialect, "r") + seq.selected() + l.rows(w, seq.joins(), where...)
	}
	text += ` ORDER BY ` + inner.by(p.Backward, "")
	if whole {
		return text
	}
	// The limit stands in the text: PostgreSQL cannot plan for a limit that it does
	// not know, and would plan the prepared statement again each time.
	text += ` LIMIT ` + strconv.Itoa(p.Limit)
	if p.Offset > 0 {
		text += ` OFFSET ` + w.arg(p.Offset)
	}
	if best != "" || unseen || narrow {
		text = `SELECT ` + l.table.selected(w.dialect, "r") + seq.named("k") + ` FROM (` + text + `) k JOIN ` + l.table.name + ` r ON r.id = k.id` +
			` ORDER BY ` + seq.by(p.Backward, "k")
	}
	return text
}

// foreseen tells whether a database knows well how many rows fulfil a condition:
// it is about numbers and times of the rows themselves.
func foreseen(c *model.Condition, table string) bool {
	switch {
	case c == nil:
		return true
	case c.Op == model.And || c.Op == model.Or || c.Op == model.Not:
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !foreseen(part, table) })
	}
	return c.Op != model.Related && !catalogue[table].fields[c.Field].text
}

// bound says that rows come after a position, or before it.
type bound struct {
	position          *model.Position
	before, inclusive bool
}

func boundsOf(p *model.Page) []bound {
	all := []bound{{p.After, false, false}, {p.From, false, true}, {p.Before, true, false}, {p.Until, true, true}}
	return slices.DeleteFunc(all, func(b bound) bool { return b.position == nil })
}

// count counts the rows of a whole table.
func (l list[T]) count(ctx context.Context, s *Store, m model.Match) (n int, err error) {
	w, err := s.statement(ctx, l.table.name, m)
	if err != nil {
		return 0, err
	}
	text := `SELECT count(*)`
	if w.search != nil && m.Where == nil {
		text += ` FROM (` + w.found() + `) s`
	} else {
		text += l.rows(w, "")
	}
	err = s.run(ctx, false, func(h handle) error {
		return sqlx.GetContext(ctx, planned(h, m), &n, text, w.args...)
	})
	return n, err
}

// planned gives the handle for a statement with these conditions. With any but
// of ids it is planned for its own values each time: what is best for a rare
// word is not for a frequent one.
func planned(h handle, m model.Match) handle {
	if m.Search == "" && ofIDs(m.Where) {
		return h
	}
	return unprepared(h)
}

// ofIDs tells whether a condition speaks of the rows' own ids alone, one or a
// range of them, for which there is one good plan.
func ofIDs(c *model.Condition) bool {
	switch {
	case c == nil:
		return true
	case c.Op == model.And:
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !ofIDs(part) })
	}
	return c.Field == "id" && comparisons[c.Op] != ""
}

// unprepared gives the handle for a statement that is not to be prepared for
// others.
func unprepared(h handle) handle {
	switch h := h.(type) {
	case *remembering:
		h.handle = unprepared(h.handle)
	case *pool:
		return h.DB
	case txHandle:
		return h.Tx
	}
	return h
}

// page reads a page of a whole table.
func page[T any](ctx context.Context, s *Store, l list[T], p *model.Page) ([]*T, error) {
	return l.page(ctx, s, p, nil)
}

// page reads a page, of a parent or of a whole table.
func (l list[T]) page(ctx context.Context, s *Store, p *model.Page, parent *model.ID) (out []*T, err error) {
	l.table = l.table.without(p.Omit)
	w, err := s.statement(ctx, l.table.name, p.Match)
	if err != nil {
		return nil, err
	}
	seq, placeholder := sequenceOf(s.dialect, l.table.name, p.Order), ""
	if parent != nil {
		placeholder = w.arg(*parent)
	}
	text := l.pageSQL(w, p, seq, placeholder)
	err = s.run(ctx, false, func(h handle) error {
		rows, err := planned(h, p.Match).QueryContext(ctx, text, w.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		read := newReader(l.table, seq, nil)
		out = nil // of an attempt before
		for rows.Next() {
			row, err := read.scan(rows)
			if err != nil {
				return err
			}
			out = append(out, row)
		}
		return rows.Err()
	})
	if p.Backward {
		slices.Reverse(out)
	}
	return out, err
}

// reader reads the rows of pages, with the keys that they are in order by.
type reader[T any] struct {
	table  table[T]
	row    T
	keys   []key
	into   []any
	buffer []byte
	slab   slab[T]
}

// newReader makes a reader of rows that begin with what is scanned into first.
func newReader[T any](t table[T], seq sequence, first []any) *reader[T] {
	r := &reader[T]{table: t}
	r.into = append(first, t.fields(&r.row)...)
	for _, o := range seq.orderings {
		k := o.scan()
		r.keys, r.into = append(r.keys, k), append(r.into, k.into)
	}
	return r
}

// scan gives the row that rows stand at.
func (r *reader[T]) scan(rows *sql.Rows) (*T, error) {
	if err := rows.Scan(r.into...); err != nil {
		return nil, err
	}
	if len(r.keys) > 0 {
		r.buffer = keysOf(r.keys, r.buffer[:0])
		*r.table.keys(&r.row) = string(r.buffer)
	}
	return r.slab.keep(r.row), nil
}

// pages reads the same page of many parents: in one statement where the
// database can limit each parent by itself, else in one each.
func pages[T any](ctx context.Context, s *Store, l list[T], parents []model.ID, p *model.Page) (map[model.ID][]*T, error) {
	out := make(map[model.ID][]*T, len(parents))
	if !s.dialect.Postgres {
		for _, parent := range parents {
			rows, err := l.page(ctx, s, p, &parent)
			if err != nil {
				return nil, err
			}
			out[parent] = rows
		}
		return out, nil
	}
	w, err := s.statement(ctx, l.table.name, p.Match)
	if err != nil {
		return nil, err
	}
	l.table = l.table.without(p.Omit)
	seq := sequenceOf(s.dialect, l.table.name, p.Order)
	w.once = w.search != nil && !w.search.many // of many, each parent has a part that is looked at quicker alone
	page := l.pageSQL(w, p, seq, "p.id")
	text := w.with + `SELECT p.id, r.* FROM ` + dialect.Keys(w.arg(s.dialect.Array(parents))) + ` AS p (id) CROSS JOIN LATERAL (` +
		page + `) r`
	keyed := len(p.Order.Keys) > 0
	if keyed {
		text += ` ORDER BY p.id, ` + seq.by(false, "r")
	}
	err = s.run(ctx, false, func(h handle) error {
		rows, err := planned(h, p.Match).QueryContext(ctx, text, w.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var parent model.ID
		read := newReader(l.table, seq, []any{&parent})
		clear(out) // of an attempt before
		for rows.Next() {
			row, err := read.scan(rows)
			if err != nil {
				return err
			}
			of := out[parent]
			if of == nil {
				of = make([]*T, 0, min(p.Limit, 16))
			}
			out[parent] = append(of, row)
		}
		if !keyed { // they come in order, so this costs less than to have them sorted
			for _, rows := range out {
				l.table.sort(rows, p.Order.IDDescending)
			}
		}
		return rows.Err()
	})
	return out, err
}

// counts counts the rows of many parents in one statement; a parent without
// rows is left out.
func counts[T any](ctx context.Context, s *Store, l list[T], parents []model.ID, m model.Match) (map[model.ID]int, error) {
	out := make(map[model.ID]int, len(parents))
	w, err := s.statement(ctx, l.table.name, m)
	if err != nil {
		return nil, err
	}
	text := `SELECT ` + l.parent + `, count(*)` + l.rows(w, "", s.dialect.In(l.parent, w.arg(s.dialect.Array(parents)))) +
		` GROUP BY ` + l.parent
	err = s.run(ctx, false, func(h handle) error {
		rows, err := planned(h, m).QueryContext(ctx, text, w.args...)
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

// covered holds for pages by date or by price of books of some authors, dates and
// prices: an index has them all.
func covered(p *model.Page) bool {
	authors := false
	var of func(c *model.Condition) bool
	of = func(c *model.Condition) bool {
		switch {
		case c.Op == model.And || c.Op == model.Or || c.Op == model.Not:
			return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !of(part) })
		case c.Op == model.ContainsFolded || c.Op == model.EndsWithFolded:
			authors = authors || c.Field == "author"
			return c.Field == "author"
		}
		return c.Op != model.Related && (c.Field == "id" || c.Field == "price" || c.Field == "publishedAt")
	}
	return len(p.Order.Keys) == 1 && (p.Order.Keys[0].Field == "PUBLISHED_AT" || p.Order.Keys[0].Field == "PRICE") &&
		p.Where != nil && of(p.Where) && authors
}
