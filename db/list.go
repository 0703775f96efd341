package db

import (
	"context"
	"reflect"
	"slices"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/db/search"
	"library-catalogue/graph/model"
)

// list is the rows of a type that are read by pages and counted: all of a table, or
// those that belong to a parent, as the books of a genre.
type list[T any] struct {
	table[T]
	from   string // what follows FROM; the rows have the alias r
	parent string // the column that holds the parent's id; empty for a whole table
}

func (l list[T]) query() query.List {
	return query.List{Table: l.Table, From: l.from, Parent: l.parent}
}

// selectBuilder writes a statement about the rows of a selection.
type selectBuilder struct {
	*query.Builder
	search *search.Search // nil where nothing is searched for
}

// newSelect begins a statement about selected rows of a table.
func (s *Store) newSelect(ctx context.Context, t *query.Table, sel model.Selection) (b selectBuilder, err error) {
	b.Builder = query.New(s.dialect)
	if sel.Search != "" {
		b.search, err = s.newSearch(ctx, t, sel.Search)
	}
	return b, err
}

// newSearch reads the text of a search of a table, unless the request has done so.
func (s *Store) newSearch(ctx context.Context, t *query.Table, text string) (*search.Search, error) {
	lookUp := func() (*search.Search, error) {
		return search.New(ctx, s.dialect, t, text, s.options.manyFound, s.selectColumn)
	}
	if Writing(ctx) {
		return lookUp()
	}
	return search.CacheOf(ctx).Get(t, text, lookUp)
}

// correct returns what is searched for in place of a text; nil where the text is.
func (l list[T]) correct(ctx context.Context, s *Store, text string) (*string, error) {
	found, err := s.newSearch(ctx, l.Table, text)
	if err != nil || found.Correction() == "" {
		return nil, err
	}
	return new(found.Correction()), nil
}

// selectColumn implements search.Select.
func (s *Store) selectColumn(ctx context.Context, dest any, text string, args ...any) error {
	var at model.Revision
	return s.runAt(ctx, false, &at, func(h handle) error {
		rows, err := unprepared(h).QueryContext(ctx, versioned("SELECT q.* FROM ("+text+") q"), args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		values := reflect.ValueOf(dest).Elem()
		values.SetZero() // of an attempt before
		value := reflect.New(values.Type().Elem())
		for rows.Next() {
			if err := rows.Scan(append(targets(&at), value.Interface())...); err != nil {
				return err
			}
			values.Set(reflect.Append(values, value.Elem()))
		}
		return rows.Err()
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
func (l list[T]) pageSQL(b selectBuilder, p *model.Page, k query.Keyset, parent string) string {
	if b.search != nil && parent == "" {
		if top := b.search.Top(b.Builder, p); top != "" {
			return b.Top(l.query(), l.infos(), p, k, query.Candidates("("+top+")"))
		}
	}
	return b.Page(l.query(), l.infos(), p, k, b.candidates(query.Ranked(p)), parent)
}

// count counts the rows of a whole table.
func (l list[T]) count(ctx context.Context, s *Store, sel model.Selection) (n int, err error) {
	b, err := s.newSelect(ctx, l.Table, sel)
	if err != nil {
		return 0, err
	}
	rows, found := l.query(), b.candidates(false)
	if len(query.Conjuncts(sel.Where)) > 1 && b.ChoosesPath(l.Table, sel, model.Order{}) { // one alone has an index that is all to be read
		if rows, found, err = l.access(ctx, s, b, sel.Where, model.Order{}, query.Unlimited); err != nil {
			return 0, err
		}
	}
	// A count that is all of its SELECT is made without a look at the rows on SQLite.
	text := versioned("(" + b.RowCount(rows, sel.Where, found) + ")")
	err = s.read(ctx, sel, func(h handle, at *model.Revision) error {
		return h.QueryRowxContext(ctx, text, b.Args...).Scan(&at.Catalogue, &at.Reference, &n)
	})
	return n, err
}

// read runs a versioned statement about rows that match. fn sets at.
func (s *Store) read(ctx context.Context, sel model.Selection, fn func(h handle, at *model.Revision) error) error {
	var at model.Revision
	return s.runAt(ctx, false, &at, func(h handle) error { return fn(handleFor(h, sel), &at) })
}

// page reads a page, of a parent or of a whole table.
func (l list[T]) page(ctx context.Context, s *Store, p *model.Page, parent *model.ID) (rows []*T, err error) {
	l.table = l.project(p.Projection)
	b, err := s.newSelect(ctx, l.Table, p.Selection)
	if err != nil {
		return nil, err
	}
	placeholder := ""
	if parent != nil {
		placeholder = b.Arg(*parent)
	}
	k := b.NewKeyset(l.Table, p.Order)
	text := ""
	all := p.All() && len(p.Order.Keys) == 0 // which are found as well without AccessPath
	if parent == nil && !all && p.Limit != query.Unlimited && b.ChoosesPath(l.Table, p.Selection, p.Order) {
		rows, found, err := l.access(ctx, s, b, p.Where, p.Order, p.Offset+p.Limit)
		if err != nil {
			return nil, err
		}
		text = b.Page(rows, l.infos(), p, k, found, "")
	} else {
		text = l.pageSQL(b, p, k, placeholder)
	}
	text = versioned(text)
	err = s.read(ctx, p.Selection, func(h handle, at *model.Revision) error {
		rows, err = readRows(ctx, h, targets(at), l.table, k.Kinds, text, b.Args...)
		return err
	})
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows, err
}

// access returns the rows of a whole table as SQLite is to find so many of those that
// match, in an order.
func (l list[T]) access(ctx context.Context, s *Store, b selectBuilder, where *model.Condition, o model.Order, rows int) (query.List, query.Candidates, error) {
	conditions := l.Lookups(where, o)
	var fewest []int
	if len(conditions) > 0 {
		b := query.New(s.dialect)
		text := b.Fewest(l.Table, conditions, rows, s.Sizes().Books)
		ctx := withoutReadSet(ctx) // it says how the rows are found, and not which they are
		err := s.run(ctx, false, func(h handle) error { return sqlx.SelectContext(ctx, unprepared(h), &fewest, text, b.Args...) })
		if err != nil {
			return query.List{}, "", err
		}
	}
	var lookup *model.Condition
	if len(fewest) > 0 {
		lookup = conditions[fewest[0]]
	}
	found, candidates := b.AccessPath(l.query(), o, lookup)
	if rows == query.Unlimited {
		found, candidates = b.AccessPathOfAll(l.query(), where, lookup)
	}
	return found, candidates, nil
}

// pages reads the same page of many parents: in one statement where the engine can
// limit each parent by itself, else in one each.
func (l list[T]) pages(ctx context.Context, s *Store, parents []model.ID, p *model.Page) (map[model.ID][]*T, error) {
	pages := make(map[model.ID][]*T, len(parents))
	if !s.dialect.HasLateral {
		for _, parent := range parents {
			rows, err := l.page(ctx, s, p, &parent)
			if err != nil {
				return nil, err
			}
			pages[parent] = rows
		}
		return pages, nil
	}
	l.table = l.project(p.Projection)
	b, err := s.newSelect(ctx, l.Table, p.Selection)
	if err != nil {
		return nil, err
	}
	k := b.NewKeyset(l.Table, p.Order)
	with, found := "", b.candidates(query.Ranked(p))
	if b.search != nil && !b.search.Many { // of many, each parent has a part that is found quicker by itself
		with, found = "WITH found AS MATERIALIZED "+string(found)+" ", "found"
	}
	text := with + b.PageOfEach(dialect.Keys(b.Arg(s.dialect.Array(parents))), b.Page(l.query(), l.infos(), p, k, found, "p.id"), k)
	// Not versioned: the parents' statement was, and a look at the revision costs less
	// than two columns of so many rows.
	err = s.run(ctx, false, func(h handle) error { return l.readPages(ctx, handleFor(h, p.Selection), pages, p, k, text, b.Args) })
	return pages, err
}

// readPages reads rows that begin with their parents. In order of id alone they come in
// any order: to sort them here costs less.
func (l list[T]) readPages(ctx context.Context, h handle, pages map[model.ID][]*T, p *model.Page, k query.Keyset, text string, args []any) error {
	rows, err := h.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var parent model.ID
	reader := newRowReader(l.table, k.Kinds, (*int64)(&parent))
	clear(pages) // of an attempt before
	for rows.Next() {
		row, err := reader.scan(rows)
		if err != nil {
			return err
		}
		if pages[parent] == nil {
			pages[parent] = make([]*T, 0, min(p.Limit, 16))
		}
		pages[parent] = append(pages[parent], row)
	}
	if len(k.Kinds) == 0 {
		for _, rows := range pages {
			l.sort(rows, p.Order.IDDescending)
		}
	}
	return rows.Err()
}

// positions reads where each row of a whole table stands whose number in the order of a
// page is a multiple of every, and the revision that they are of.
func (l list[T]) positions(ctx context.Context, s *Store, p *model.Page, every, limit int) (positions []*model.Position, at model.Revision, err error) {
	b := query.New(s.dialect)
	k := b.NewKeyset(l.Table, p.Order)
	text := versioned(b.Positions(l.query(), p, k, every, limit))
	err = s.runAt(ctx, false, &at, func(h handle) error {
		positions = nil // of an attempt before
		rows, err := unprepared(h).QueryContext(ctx, text, b.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			position := new(model.Position)
			keys := make([]any, len(k.Kinds))
			for i, kind := range k.Kinds {
				keys[i] = newKey(kind)
			}
			if err := rows.Scan(append(append(targets(&at), (*int64)(&position.ID)), keys...)...); err != nil {
				return err
			}
			for _, key := range keys {
				position.Keys = append(position.Keys, keyValue(key))
			}
			positions = append(positions, position)
		}
		return rows.Err()
	})
	return positions, at, err
}

// counts counts the rows of many parents; a parent without rows is left out.
func (l list[T]) counts(ctx context.Context, s *Store, parents []model.ID, sel model.Selection) (map[model.ID]int, error) {
	b, err := s.newSelect(ctx, l.Table, sel)
	if err != nil {
		return nil, err
	}
	text := versioned(b.RowCounts(l.query(), sel.Where, b.candidates(false), b.Arg(s.dialect.Array(parents))))
	counts := make(map[model.ID]int, len(parents))
	err = s.read(ctx, sel, func(h handle, at *model.Revision) error {
		rows, err := h.QueryContext(ctx, text, b.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var parent model.ID
			var n int
			if err := rows.Scan(&at.Catalogue, &at.Reference, &parent, &n); err != nil {
				return err
			}
			counts[parent] = n
		}
		return rows.Err()
	})
	return counts, err
}
