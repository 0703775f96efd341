package db

import (
	"context"
	"database/sql"
	"slices"

	"library-catalogue/db/dialect"
	"library-catalogue/db/facetcount"
	"library-catalogue/db/query"
	"library-catalogue/db/search"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

// Reader reads the rows of a type with a Snapshot: a whole table, or the children of a parent, such
// as the books of a genre.
//
// Reader and Writer are interfaces, because a package compiles the methods of each generic struct that a
// type it uses contains.
type Reader[T any] interface {
	// Correct returns the corrected text of a search, or nil if it needs no correction.
	Correct(ctx context.Context, text string) (*string, error)
	// Count counts the matching rows of a whole table.
	Count(ctx context.Context, sel model.Selection) (n int, err error)
	// Page returns a page of a whole table.
	Page(ctx context.Context, p *model.Page) (rows []*T, err error)
	// Pages returns the same page of the children of each parent. It takes one statement if the engine
	// HasLateral, else one for each parent.
	Pages(ctx context.Context, parents []model.ID, p *model.Page) (map[model.ID][]*T, error)
	// Counts counts the matching children of each parent. Parents without any are omitted.
	Counts(ctx context.Context, parents []model.ID, sel model.Selection) (counts map[model.ID]int, err error)
	// Places returns the place of every n-th row in the order of a page of a whole table, limit
	// of them at most, and their revision. The page must not have a search.
	Places(ctx context.Context, p *model.Page, every, limit int) (places []*model.Place, seen model.Revision, err error)
	// ByID returns the rows with these ids in any order. Missing rows are omitted.
	ByID(ctx context.Context, ids []model.ID) (rows []*T, err error)
	// Stream reads all matching rows of a table in the page's order and calls fn with at most max rows
	// at a time. The Snapshot must belong to ReadTransaction. It ignores the page's other fields.
	Stream(ctx context.Context, p *model.Page, max int, fn func(context.Context, []*T) error) error
	// Groups returns groups by parent. Parents without rows are omitted. Without parents, the groups of
	// the whole table are under 0.
	Groups(ctx context.Context, parents []model.ID, g *model.Grouping) (groups map[model.ID][]*model.BookGroup,
		err error)
	// AsOf returns rows as they were at moments. Rows that did not exist are omitted. Error:
	// PositionGone if the log does not have the row of a moment any more.
	AsOf(ctx context.Context, keys []Past) (map[Past]*T, error)
}

// reader implements Reader.
type reader[T any] struct {
	s *Snapshot
	*source[T]
}

// Past names a row as it was at a position in the log.
type Past struct {
	model.Position
	ID model.ID
}

// selectBuilder builds a SELECT of rows that match a selection.
type selectBuilder struct {
	*query.Builder
	search *search.Search // nil without a search
}

// newSelect returns the builder for rows of a table that match a selection.
func (s *Snapshot) newSelect(ctx context.Context, t *query.Table, sel model.Selection) (b selectBuilder, err error) {
	b.Builder = query.New(s.store.dialect)
	if sel.Search != "" {
		b.search, err = s.newSearch(ctx, t, sel.Search)
	}
	return b, err
}

// candidates returns the rows that the search finds, with their ranks if ranked is set.
func (b selectBuilder) candidates(ranked bool) query.Candidates {
	if b.search == nil {
		return ""
	}
	return query.Candidates("(" + b.search.Found(b.Builder, ranked) + ")")
}

// pageSQL returns the SELECT of one page of a whole table or of a parent.
func (s *source[T]) pageSQL(
	b selectBuilder, fields []*model.FieldInfo, p *model.Page, k query.Keyset, parent string,
) string {
	if b.search != nil && parent == "" {
		if top := b.search.Top(b.Builder, p); top != "" {
			return b.Top(s.query(), fields, p, k, query.Candidates("("+top+")"))
		}
	}
	return b.Page(s.query(), fields, p, k, b.candidates(query.Ranked(p)), parent)
}

func (r *reader[T]) Count(ctx context.Context, sel model.Selection) (n int, err error) {
	if r.Table != query.Books || r.parent != "" {
		return r.countRows(ctx, sel)
	}
	err = r.s.count(ctx, sel, nil, func(counts *facetcount.Counts) { n = counts.Rows() })
	return n, err
}

// countRows counts the matching rows of a whole table.
func (r *reader[T]) countRows(ctx context.Context, sel model.Selection) (n int, err error) {
	b, err := r.s.newSelect(ctx, r.Table, sel)
	if err != nil {
		return 0, err
	}
	rows, found := r.query(), b.candidates(false)
	// a single condition leaves no index to choose
	if len(query.Conjuncts(sel.Where)) > 1 && b.ChoosesPath(r.Table, sel, model.Order{}) {
		if rows, found, err = r.access(ctx, b, sel.Where, model.Order{}, query.Unlimited, nil); err != nil {
			return 0, err
		}
	}
	// SQLite counts without reading rows if count(*) is alone in its SELECT.
	text := versioned("(" + b.RowCount(rows, sel.Where, found) + ")")
	err = r.s.readRow(ctx, readStmt{text, b.Args, !query.OnlyIDs(sel)}, &n)
	return n, err
}

func (r *reader[T]) Page(ctx context.Context, p *model.Page) ([]*T, error) {
	return r.page(ctx, p, nil)
}

// page returns a page of a parent or of a whole table.
func (r *reader[T]) page(ctx context.Context, p *model.Page, parent *model.ID) (rows []*T, err error) {
	q, t, keys, err := r.selectPage(ctx, p, parent)
	if err != nil {
		return nil, err
	}
	err = r.s.read(ctx, q, func() scanRow { return t.appendTo(&rows, keys) })
	if p.Backward {
		slices.Reverse(rows)
	}
	return rows, err
}

// selectPage returns the statement for a page of a parent or of a whole table, with the mapping and
// sort keys of its rows.
func (r *reader[T]) selectPage(
	ctx context.Context, p *model.Page, parent *model.ID,
) (q readStmt, t mapping[T], keys []model.Kind, err error) {
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
	all := p.All() && len(p.Order.Keys) == 0 // AccessPath would not change the plan
	if parent == nil && !all && p.Limit != query.Unlimited && b.ChoosesPath(r.Table, p.Selection, p.Order) {
		from, found, err := r.access(ctx, b, p.Where, p.Order, p.Offset+p.Limit, nil)
		if err != nil {
			return q, t, nil, err
		}
		text = b.Page(from, t.infos(), p, k, found, "")
	} else {
		text = r.pageSQL(b, t.infos(), p, k, placeholder)
	}
	return readStmt{versioned(text), b.Args, !query.OnlyIDs(p.Selection)}, t, k.Kinds, nil
}

// access returns the access path for reading the given number of matching rows in an order, or columns of all in any
// order. Only SQLite needs it.
func (r *reader[T]) access(
	ctx context.Context, b selectBuilder, where *model.Condition, o model.Order, rows int, columns []string,
) (query.Source, query.Candidates, error) {
	conditions := r.Lookups(where, o)
	var fewest []int
	if len(conditions) > 0 {
		b := query.New(r.s.store.dialect)
		text := b.Fewest(r.Table, conditions, rows, query.Covers(columns, where), r.s.store.Sizes().Books)
		// This is not a read of the Snapshot, because it selects the access path and not the rows.
		err := r.s.store.run(ctx, r.s.tx, false, text, func(h stmt.Handle) error {
			return stmt.Select(ctx, stmt.Unprepared(h), &fewest, text, b.Args...)
		})
		if err != nil {
			return query.Source{}, "", err
		}
	}
	var lookup *model.Condition
	if len(fewest) > 0 {
		lookup = conditions[fewest[0]]
	}
	found, candidates := b.AccessPath(r.query(), o, lookup)
	if rows == query.Unlimited {
		found, candidates = b.AccessPathOfAll(r.query(), query.Covers(columns, where), lookup)
	}
	return found, candidates, nil
}

func (r *reader[T]) Pages(ctx context.Context, parents []model.ID, p *model.Page) (map[model.ID][]*T, error) {
	pages := make(map[model.ID][]*T, len(parents))
	d := r.s.store.dialect
	if !d.HasLateral {
		for _, parent := range parents {
			rows, err := r.page(ctx, p, &parent)
			if err != nil {
				return nil, err
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
	if b.search != nil && !b.search.Many { // for many rows a search within each parent is faster
		with, found = "WITH found AS MATERIALIZED "+string(found)+" ", "found"
	}
	text := with +
		b.PageOfEach(dialect.Keys(b.Arg(d.Array(parents))), b.Page(r.query(), t.infos(), p, k, found, "p.id"), k)
	// The statement is not versioned: the statement that read the parents was, and reading the
	// revision once costs less than two more columns in so many rows.
	err = r.s.read(ctx, readStmt{text, b.Args, !query.OnlyIDs(p.Selection)}, func() scanRow {
		clear(pages)
		var parent model.ID
		scanner := newRowScanner(t, k.Kinds, (*int64)(&parent))
		return func(rows *sql.Rows, _ *model.Revision) error {
			row, err := scanner.scan(rows)
			if err != nil {
				return err
			}
			if pages[parent] == nil {
				pages[parent] = make([]*T, 0, min(p.Limit, 16))
			}
			pages[parent] = append(pages[parent], row)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	if len(k.Kinds) == 0 { // an order by id alone is cheaper to sort here
		for _, rows := range pages {
			t.sort(rows, p.Order.IDDescending)
		}
	}
	return pages, nil
}

func (r *reader[T]) Counts(
	ctx context.Context, parents []model.ID, sel model.Selection,
) (counts map[model.ID]int, err error) {
	b, err := r.s.newSelect(ctx, r.Table, sel)
	if err != nil {
		return nil, err
	}
	text := versioned(b.RowCounts(r.query(), sel.Where, b.candidates(false), b.Arg(r.s.store.dialect.Array(parents))))
	err = r.s.read(ctx, readStmt{text, b.Args, !query.OnlyIDs(sel)}, func() scanRow {
		counts = make(map[model.ID]int, len(parents))
		return func(rows *sql.Rows, at *model.Revision) error {
			var parent model.ID
			var n int
			err := rows.Scan(append(revisionTargets(at), &parent, &n)...)
			counts[parent] = n
			return err
		}
	})
	return counts, err
}

func (r *reader[T]) Places(
	ctx context.Context, p *model.Page, every, limit int,
) (places []*model.Place, seen model.Revision, err error) {
	b := query.New(r.s.store.dialect)
	k := b.NewKeyset(r.Table, p.Order)
	text := versioned(b.Places(r.query(), p, k, every, limit))
	err = r.s.read(ctx, readStmt{text, b.Args, true}, func() scanRow {
		places = nil
		return func(rows *sql.Rows, at *model.Revision) error {
			place := new(model.Place)
			keys := make([]any, len(k.Kinds))
			for i, kind := range k.Kinds {
				keys[i] = newKey(kind)
			}
			err := rows.Scan(append(append(revisionTargets(at), (*int64)(&place.ID)), keys...)...)
			for _, key := range keys {
				place.Keys = append(place.Keys, keyValue(key))
			}
			places, seen = append(places, place), *at
			return err
		}
	})
	return places, seen, err
}

func (r *reader[T]) ByID(ctx context.Context, ids []model.ID) (rows []*T, err error) {
	q := readStmt{text: r.s.store.byIDSQL[r.Name], args: []any{r.s.store.dialect.Array(distinct(ids))}}
	err = r.s.read(ctx, q, func() scanRow { return r.appendTo(&rows, nil) })
	return rows, err
}

func byIDSQL[T any](d *dialect.Dialect, t mapping[T]) string {
	return versioned("SELECT " + t.selected(d, "r") + " FROM " + d.ByIDs(t.Name))
}
