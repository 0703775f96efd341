package db

import (
	"context"
	"database/sql"
	"reflect"
	"slices"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
)

// Rows are the rows of a type as a Snapshot has them: all of a table, or those that belong
// to a parent, as the books of a genre.
type Rows[T any] struct {
	s *Snapshot
	*list[T]
}

// list says which rows of a table are read.
type list[T any] struct {
	table[T]
	from   string // what follows FROM; the rows have the alias r
	parent string // the column that holds the parent's id; empty for a whole table
}

func (l *list[T]) query() query.List {
	return query.List{Table: l.Table, From: l.from, Parent: l.parent}
}

// selectBuilder writes a statement about the rows of a selection.
type selectBuilder struct {
	*query.Builder
	search *search.Search // nil where nothing is searched for
}

// newSelect begins a statement about selected rows of a table.
func (s *Snapshot) newSelect(ctx context.Context, t *query.Table, sel model.Selection) (b selectBuilder, err error) {
	b.Builder = query.New(s.store.dialect)
	if sel.Search != "" {
		b.search, err = s.newSearch(ctx, t, sel.Search)
	}
	return b, err
}

// newSearch reads the text of a search of a table, unless the Snapshot has done so.
func (s *Snapshot) newSearch(ctx context.Context, t *query.Table, text string) (*search.Search, error) {
	return s.search.Get(t, text, func() (*search.Search, error) {
		return search.New(ctx, s.store.dialect, t, text, s.store.options.manyFound, s.selectColumn)
	})
}

// Correct returns the text that is searched for in place of another; nil where it is not corrected.
func (r Rows[T]) Correct(ctx context.Context, text string) (*string, error) {
	found, err := r.s.newSearch(ctx, r.Table, text)
	if err != nil || found.Correction() == "" {
		return nil, err
	}
	return new(found.Correction()), nil
}

// selectColumn implements search.Select.
func (s *Snapshot) selectColumn(ctx context.Context, dest any, text string, args ...any) error {
	text = versioned("SELECT q.* FROM (" + text + ") q")
	values := reflect.ValueOf(dest).Elem()
	value := reflect.New(values.Type().Elem())
	return s.read(ctx, selection{text, args, true}, func() scanRow {
		values.SetZero()
		return func(rows *sql.Rows, at *model.Revision) error {
			err := rows.Scan(append(targets(at), value.Interface())...)
			values.Set(reflect.Append(values, value.Elem()))
			return err
		}
	})
}

// candidates returns the rows that the search finds, with their ranks if they are
// asked for.
func (b selectBuilder) candidates(ranked bool) query.Candidates {
	if b.search == nil {
		return ""
	}
	return query.Candidates("(" + b.search.Found(b.Builder, ranked) + ")")
}

// pageSQL returns the SELECT of one page of a whole table, or of a parent.
func (l *list[T]) pageSQL(b selectBuilder, fields []*model.FieldInfo, p *model.Page, k query.Keyset, parent string) string {
	if b.search != nil && parent == "" {
		if top := b.search.Top(b.Builder, p); top != "" {
			return b.Top(l.query(), fields, p, k, query.Candidates("("+top+")"))
		}
	}
	return b.Page(l.query(), fields, p, k, b.candidates(query.Ranked(p)), parent)
}

// Count counts the rows that match, of a whole table.
func (r Rows[T]) Count(ctx context.Context, sel model.Selection) (n int, err error) {
	b, err := r.s.newSelect(ctx, r.Table, sel)
	if err != nil {
		return 0, err
	}
	rows, found := r.query(), b.candidates(false)
	if len(query.Conjuncts(sel.Where)) > 1 && b.ChoosesPath(r.Table, sel, model.Order{}) { // one alone has an index that is all to be read
		if rows, found, err = r.access(ctx, b, sel.Where, model.Order{}, query.Unlimited); err != nil {
			return 0, err
		}
	}
	// A count that is all of its SELECT is made without a look at the rows on SQLite.
	text := versioned("(" + b.RowCount(rows, sel.Where, found) + ")")
	err = r.s.read(ctx, selection{text, b.Args, !onlyIDs(sel)}, func() scanRow {
		return func(rows *sql.Rows, at *model.Revision) error { return rows.Scan(append(targets(at), &n)...) }
	})
	return n, err
}

// Page returns a page of a whole table, in its order.
func (r Rows[T]) Page(ctx context.Context, p *model.Page) (rows []*T, err error) {
	q, t, keys, err := r.selectPage(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	err = r.s.read(ctx, q, func() scanRow { return t.appendTo(&rows, keys) })
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows, err
}

// selectPage returns the SELECT of a page, of a parent or of a whole table, and the columns
// and keys of its rows.
func (r Rows[T]) selectPage(ctx context.Context, p *model.Page, parent *model.ID) (q selection, t table[T], keys []model.Kind, err error) {
	t = r.project(p.Projection)
	b, err := r.s.newSelect(ctx, r.Table, p.Selection)
	if err != nil {
		return q, t, nil, err
	}
	placeholder := ""
	if parent != nil {
		placeholder = b.Arg(*parent)
	}
	k := b.NewKeyset(r.Table, p.Order)
	text := ""
	all := p.All() && len(p.Order.Keys) == 0 // which are found as well without AccessPath
	if parent == nil && !all && p.Limit != query.Unlimited && b.ChoosesPath(r.Table, p.Selection, p.Order) {
		from, found, err := r.access(ctx, b, p.Where, p.Order, p.Offset+p.Limit)
		if err != nil {
			return q, t, nil, err
		}
		text = b.Page(from, t.infos(), p, k, found, "")
	} else {
		text = r.pageSQL(b, t.infos(), p, k, placeholder)
	}
	return selection{versioned(text), b.Args, !onlyIDs(p.Selection)}, t, k.Kinds, nil
}

// access returns the rows of a whole table as SQLite is to find so many of those that
// match, in an order.
func (r Rows[T]) access(ctx context.Context, b selectBuilder, where *model.Condition, o model.Order, rows int) (query.List, query.Candidates, error) {
	conditions := r.Lookups(where, o)
	var fewest []int
	if len(conditions) > 0 {
		b := query.New(r.s.store.dialect)
		text := b.Fewest(r.Table, conditions, rows, r.s.store.Sizes().Books)
		// Not a read of the Snapshot: it says how the rows are found, and not which they are.
		err := r.s.store.run(ctx, r.s.tx, false, func(h handle) error { return sqlx.SelectContext(ctx, unprepared(h), &fewest, text, b.Args...) })
		if err != nil {
			return query.List{}, "", err
		}
	}
	var lookup *model.Condition
	if len(fewest) > 0 {
		lookup = conditions[fewest[0]]
	}
	found, candidates := b.AccessPath(r.query(), o, lookup)
	if rows == query.Unlimited {
		found, candidates = b.AccessPathOfAll(r.query(), where, lookup)
	}
	return found, candidates, nil
}

// Pages returns the same page of the rows of many parents: by one statement where the
// engine can limit each parent by itself, else by one each.
func (r Rows[T]) Pages(ctx context.Context, parents []model.ID, p *model.Page) (map[model.ID][]*T, error) {
	pages := make(map[model.ID][]*T, len(parents))
	d := r.s.store.dialect
	if !d.HasLateral {
		for _, parent := range parents {
			q, t, keys, err := r.selectPage(ctx, p, &parent)
			if err != nil {
				return nil, err
			}
			var rows []*T
			if err := r.s.read(ctx, q, func() scanRow { return t.appendTo(&rows, keys) }); err != nil {
				return nil, err
			}
			if p.Backward {
				slices.Reverse(rows)
			}
			pages[parent] = rows
		}
		return pages, nil
	}
	t := r.project(p.Projection)
	b, err := r.s.newSelect(ctx, r.Table, p.Selection)
	if err != nil {
		return nil, err
	}
	k := b.NewKeyset(r.Table, p.Order)
	with, found := "", b.candidates(query.Ranked(p))
	if b.search != nil && !b.search.Many { // of many, each parent has a part that is found quicker by itself
		with, found = "WITH found AS MATERIALIZED "+string(found)+" ", "found"
	}
	text := with + b.PageOfEach(dialect.Keys(b.Arg(d.Array(parents))), b.Page(r.query(), t.infos(), p, k, found, "p.id"), k)
	// Not versioned: the parents' statement was, and a look at the revision costs less
	// than two columns of so many rows.
	err = r.s.read(ctx, selection{text, b.Args, !onlyIDs(p.Selection)}, func() scanRow {
		clear(pages)
		var parent model.ID
		reader := newRowReader(t, k.Kinds, (*int64)(&parent))
		return func(rows *sql.Rows, _ *model.Revision) error {
			row, err := reader.scan(rows)
			if pages[parent] == nil {
				pages[parent] = make([]*T, 0, min(p.Limit, 16))
			}
			pages[parent] = append(pages[parent], row)
			return err
		}
	})
	if len(k.Kinds) == 0 { // in order of id alone they come in any order: to sort them here costs less
		for _, rows := range pages {
			t.sort(rows, p.Order.IDDescending)
		}
	}
	return pages, err
}

// Counts counts the rows of many parents that match; a parent without any is left out.
func (r Rows[T]) Counts(ctx context.Context, parents []model.ID, sel model.Selection) (counts map[model.ID]int, err error) {
	b, err := r.s.newSelect(ctx, r.Table, sel)
	if err != nil {
		return nil, err
	}
	text := versioned(b.RowCounts(r.query(), sel.Where, b.candidates(false), b.Arg(r.s.store.dialect.Array(parents))))
	err = r.s.read(ctx, selection{text, b.Args, !onlyIDs(sel)}, func() scanRow {
		counts = make(map[model.ID]int, len(parents))
		return func(rows *sql.Rows, at *model.Revision) error {
			var parent model.ID
			var n int
			err := rows.Scan(append(targets(at), &parent, &n)...)
			counts[parent] = n
			return err
		}
	})
	return counts, err
}

// Positions returns where each row stands whose number in the order of a page of a whole
// table is a multiple of every, at most limit of them, and the revision that they are of.
// Nothing may be searched for.
func (r Rows[T]) Positions(ctx context.Context, p *model.Page, every, limit int) (positions []*model.Position, seen model.Revision, err error) {
	b := query.New(r.s.store.dialect)
	k := b.NewKeyset(r.Table, p.Order)
	text := versioned(b.Positions(r.query(), p, k, every, limit))
	err = r.s.read(ctx, selection{text, b.Args, true}, func() scanRow {
		positions = nil
		return func(rows *sql.Rows, at *model.Revision) error {
			position := new(model.Position)
			keys := make([]any, len(k.Kinds))
			for i, kind := range k.Kinds {
				keys[i] = newKey(kind)
			}
			err := rows.Scan(append(append(targets(at), (*int64)(&position.ID)), keys...)...)
			for _, key := range keys {
				position.Keys = append(position.Keys, keyValue(key))
			}
			positions, seen = append(positions, position), *at
			return err
		}
	})
	return positions, seen, err
}
