package db

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"library-catalogue/db/changes"
	"library-catalogue/db/facetcount"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// GroupBooks returns the groups of all books for each grouping.
func (s *Snapshot) GroupBooks(ctx context.Context, groupings []*model.Grouping) ([][]*model.BookGroup, error) {
	all := make([][]*model.BookGroup, len(groupings))
	var statements []func() error
	counted, alone := map[string][]int{}, map[string][]int{} // indexes of groupings that one statement serves
	for i, g := range groupings {
		if counts, kept := s.countsFacets(g); counts {
			// a column that is not kept is not read with those that are
			key := strconv.FormatBool(kept) + g.Selection.Key()
			counted[key] = append(counted[key], i)
		} else {
			alone[g.Key()] = append(alone[g.Key()], i)
		}
	}
	for _, places := range counted {
		statements = append(statements, func() error { return s.countFacets(ctx, groupings, places, all) })
	}
	for _, places := range alone {
		g := groupings[places[0]]
		statements = append(statements, func() error {
			begun := time.Now()
			groups, err := s.Books.Groups(ctx, nil, g)
			if err != nil {
				return err
			}
			if facetcount.Supports(g) && s.mayKeep(g.Selection) {
				s.store.counts.Took(g.Selection.Key(), time.Since(begun))
			}
			for _, i := range places { // identical groupings share a statement
				all[i] = groups[0]
			}
			return nil
		})
	}
	return all, task.RunAll(ctx, maxConcurrent, statements)
}

func (r *reader[T]) Groups(
	ctx context.Context, parents []model.ID, g *model.Grouping,
) (groups map[model.ID][]*model.BookGroup, err error) {
	if slices.Contains(g.By, model.ByPerson) {
		return r.groupPersons(ctx, parents, g)
	}
	b, err := r.s.newSelect(ctx, r.Table, g.Selection)
	if err != nil {
		return nil, err
	}
	placeholder := ""
	if parents != nil {
		placeholder = b.Arg(r.s.store.dialect.Array(parents))
	}
	text := b.Groups(r.query(), g, b.candidates(false), placeholder)
	if len(g.By) == 0 || g.OnlyCount { // its columns are numbered and have no order
		text = "SELECT g.* FROM (" + text + ") g"
	}
	text = versioned(text)
	figures := query.Figures(g.Aggregates)
	err = r.s.read(ctx, readStmt{text, b.Args, !query.OnlyIDs(g.Selection)}, func() scanRow {
		groups = map[model.ID][]*model.BookGroup{}
		return func(rows *sql.Rows, at *model.Revision) error {
			var parent model.ID
			group := new(model.BookGroup)
			err := rows.Scan(
				append(revisionTargets(at), groupTargets(g, figures, parents != nil, &parent, group)...)...)
			groups[parent] = append(groups[parent], group)
			return err
		}
	})
	return groups, err
}

// groupPersons groups by authors in the database, and these by identity.
func (r *reader[T]) groupPersons(
	ctx context.Context, parents []model.ID, g *model.Grouping,
) (map[model.ID][]*model.BookGroup, error) {
	byAuthor := *g
	byAuthor.By, byAuthor.Limit = []model.GroupKey{model.ByAuthor}, math.MaxInt32
	groups, err := r.Groups(ctx, parents, &byAuthor)
	for parent, authors := range groups {
		groups[parent] = facetcount.GroupPersons(authors, g)
	}
	return groups, err
}

// groupTargets returns the destinations of Scan for the columns of query.Groups.
func groupTargets(
	g *model.Grouping, figures []query.Figure, ofParents bool, parent *model.ID, group *model.BookGroup,
) (targets []any) {
	if g.OnlyCount {
		return []any{&group.Count}
	}
	if ofParents {
		targets = append(targets, parent)
	}
	for _, key := range g.By {
		switch key {
		case model.ByGenre:
			targets = append(targets, &group.GenreID)
		case model.ByCategory:
			targets = append(targets, &group.CategoryID)
		case model.ByAuthor:
			targets = append(targets, &group.Author)
		case model.ByPublisher:
			targets = append(targets, &group.Publisher)
		case model.ByLanguage:
			targets = append(targets, &group.Language)
		case model.ByYear:
			targets = append(targets, &group.Year)
		case model.ByPriceRange:
			targets = append(targets, &group.PriceRange)
		}
	}
	for _, f := range figures {
		targets = append(targets, f.Pointer(&group.Aggregate))
	}
	return targets
}

// SQLite sorts all rows to group them, unless an index has that order. One pass that counts values
// in Go serves all groupings of the same rows and is faster. PostgreSQL counts values where they are kept.

// countsFacets reports whether a grouping is counted in Go, and whether its counts are kept.
func (s *Snapshot) countsFacets(g *model.Grouping) (counts, kept bool) {
	kept = facetcount.Supports(g) && s.mayKeep(g.Selection) &&
		s.store.counts.Keeps(g.Selection.Key(), facetcount.Columns(g))
	return kept || !s.store.dialect.HasHashGroups && facetcount.Supports(g), kept
}

// maxConcurrent is the maximum number of concurrent statements of one request. Each holds a connection, and SQLite has
// at least four.
const maxConcurrent = 3

// minKept is the number of books from which counts are kept.
const minKept = 10_000

// KeepsCounts reports whether counts that take long are kept.
func (s *Snapshot) KeepsCounts() bool {
	return !s.Writing() && (s.store.options.keepEagerly || s.store.Sizes().Books >= minKept)
}

// mayKeep reports whether counts of a selection may be kept. A search has no rows of the past, and a write of a book
// must not select other books or drop them.
func (s *Snapshot) mayKeep(sel model.Selection) bool {
	return sel.Search == "" && !asksOthers(sel.Where) && s.KeepsCounts()
}

// asksOthers reports whether a condition on a book depends on other books.
func asksOthers(c *model.Condition) bool {
	return c != nil && (c.Op == model.Related && c.Field == "books" || slices.ContainsFunc(c.Of, asksOthers))
}

// countFacets sets all[i] for each i in places. Their groupings have the same selection.
func (s *Snapshot) countFacets(
	ctx context.Context, groupings []*model.Grouping, places []int, all [][]*model.BookGroup,
) error {
	var columns []string
	for _, i := range places {
		columns = append(columns, facetcount.Columns(groupings[i])...)
	}
	slices.Sort(columns)
	columns = slices.Compact(columns)
	var genres map[int64]facetcount.Names
	if slices.Contains(columns, facetcount.Genre) {
		var err error
		if genres, err = s.readNames(ctx); err != nil {
			return err
		}
	}
	return s.count(ctx, groupings[places[0]].Selection, columns, func(counts *facetcount.Counts) {
		for _, i := range places {
			all[i] = counts.Groups(groupings[i], genres)
		}
	})
}

// count calls fn with the counts of the matching books by the values of columns.
func (s *Snapshot) count(
	ctx context.Context, sel model.Selection, columns []string, fn func(*facetcount.Counts),
) error {
	r := &countReader{reader[model.Book]{s, &books}, sel}
	if s.mayKeep(sel) {
		if sel.All() && s.tx == nil {
			if err := s.store.loadCounts(ctx, columns); err != nil {
				return err
			}
		}
		return s.store.counts.Count(ctx, sel.Key(), r, columns, fn)
	}
	counts, err := r.Values(ctx, columns)
	if err == nil {
		fn(counts)
	}
	return err
}

// loadCounts keeps counts of all books in the background, because reading them may take longer than a request may.
func (s *Store) loadCounts(ctx context.Context, columns []string) error {
	for own := false; !own && !s.counts.Has("", columns); { // another load may have other columns
		var err error
		own, err = s.load(ctx, "counts", func(life context.Context) error {
			if _, err := s.log.MarkSQL(life, true); err != nil { // a new mark, which the transaction sees
				return err
			}
			return s.ReadTransaction(life, model.NoReplica, func(ctx context.Context, snapshot *Snapshot) error {
				return s.counts.Count(ctx, "", &countReader{reader[model.Book]{snapshot, &books}, model.Selection{}},
					columns, func(*facetcount.Counts) {})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// countReader implements facetcount.Reader.
type countReader struct {
	reader[model.Book]
	sel model.Selection
}

// Values implements facetcount.Reader. PostgreSQL groups by each column, with a hash table. SQLite does so for large
// catalogues, except for authors: it uses a search tree, which is slow for many values. A filter is evaluated once.
func (r *countReader) Values(ctx context.Context, columns []string) (*facetcount.Counts, error) {
	counts, hashes := facetcount.New(nil), r.s.store.dialect.HasHashGroups
	switch {
	case len(columns) == 0:
		n, err := r.countRows(ctx, r.sel)
		if err != nil {
			return nil, err
		}
		counts.AddRows(n, nil)
		return counts, nil
	case !hashes && !(r.sel.All() && r.s.KeepsCounts()):
		counts, _, err := r.values(ctx, columns, false)
		return counts, err
	}
	parts, seen := make([]*facetcount.Counts, len(columns)), make([]model.Revision, len(columns))
	statements := make([]func() error, len(columns))
	for i, name := range columns {
		statements[i] = func() (err error) {
			parts[i], seen[i], err = r.values(ctx, []string{name}, hashes ||
				name != facetcount.Author && name != facetcount.Person)
			return err
		}
	}
	if err := task.RunAll(ctx, maxConcurrent, statements); err != nil {
		return nil, err
	}
	for i, part := range parts {
		if seen[i] != seen[0] {
			return nil, r.s.Changed() // figures of several revisions do not fit together
		}
		counts.Join(part)
	}
	return counts, nil
}

// values counts the matching books by the values of columns, at the revision seen. The database groups them if
// grouped is true.
func (r *countReader) values(
	ctx context.Context, columns []string, grouped bool,
) (counts *facetcount.Counts, seen model.Revision, err error) {
	b, err := r.s.newSelect(ctx, r.Table, r.sel)
	if err != nil {
		return nil, seen, err
	}
	from, found := r.query(), b.candidates(false)
	if !grouped && b.ChoosesPath(r.Table, r.sel, model.Order{}) {
		if from, found, err = r.access(ctx, b, r.sel.Where, model.Order{}, query.Unlimited, columns); err != nil {
			return nil, seen, err
		}
	}
	// The first row has the revision; the others have the columns.
	n := "1"
	if grouped {
		n = "count(*)"
	}
	text := "SELECT n.catalogue, n.reference, 0" + strings.Repeat(", NULL", len(columns)) + " FROM (" + revisionSQL +
		") n UNION ALL " +
		b.Values(from, append([]string{"NULL", "NULL", n}, r.expressions(columns)...), r.sel.Where, found)
	if grouped {
		text += " GROUP BY 4"
	}
	err = r.s.read(ctx, readStmt{text, b.Args, !query.OnlyIDs(r.sel)}, func() scanRow {
		counts = facetcount.New(columns)
		return scanVersioned(len(columns), &seen, func(n int, values []any) {
			if grouped {
				counts.AddRows(n, values[0])
			} else {
				counts.Add(values)
			}
		})
	})
	return counts, seen, err
}

// expressions returns the SQL of columns.
func (r *countReader) expressions(columns []string) []string {
	all := make([]string, len(columns))
	for i, name := range columns {
		all[i] = facetcount.SQL(r.s.store.dialect, name)
	}
	return all
}

// scanVersioned scans a row with the revision and the number 0, which sets seen, and calls add with the number and the
// columns of each other row. values are valid during the call.
func scanVersioned(columns int, seen *model.Revision, add func(n int, values []any)) scanRow {
	values := make([]any, 3+columns) // any takes a value without a conversion
	pointers := make([]any, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	return func(rows *sql.Rows, at *model.Revision) error {
		if err := rows.Scan(pointers...); err != nil {
			return err
		}
		if n := values[2].(int64); n != 0 {
			add(int(n), values[3:])
		} else {
			*at = model.Revision{Catalogue: values[0].(int64), Reference: values[1].(int64)}
			*seen = *at
		}
		return nil
	}
}

// NewestMark implements facetcount.Reader.
func (r *countReader) NewestMark(ctx context.Context) (mark changes.Mark, err error) {
	text, err := r.s.store.log.MarkSQL(ctx, r.s.tx == nil)
	if err != nil {
		return mark, err
	}
	text = versioned("SELECT m.* FROM (" + text + ") m")
	err = r.s.readRow(ctx, readStmt{text: text}, &mark.Tick, &mark.Next, &mark.Open)
	return mark, err
}

// Since implements facetcount.Reader.
func (r *countReader) Since(
	ctx context.Context, mark changes.Mark, columns []string,
) (delta *facetcount.Delta, now model.Revision, err error) {
	b := query.New(r.s.store.dialect)
	text := r.s.store.log.SinceSQL(b, mark, r.sel.Where, revisionSQL, r.expressions(columns))
	known := false
	err = r.s.read(ctx, readStmt{text, b.Args, true}, func() scanRow {
		delta, known = &facetcount.Delta{Mark: mark, Columns: columns}, false
		return scanVersioned(len(columns), &now, func(n int, values []any) {
			if n >= changes.Known {
				known, delta.Changes = true, n-changes.Known
			} else {
				delta.Add(n, values)
			}
		})
	})
	if err != nil || !known {
		return nil, now, err
	}
	return delta, now, nil
}

// Known implements facetcount.Reader.
func (r *countReader) Known() (model.Revision, bool) { return r.s.Known() }

// readNames returns the names of all genres and of their categories, by genre.
func (s *Snapshot) readNames(ctx context.Context) (names map[int64]facetcount.Names, err error) {
	text := versioned(
		`SELECT g.id, g.name, g.category_id, c.name FROM genres g JOIN categories c ON c.id = g.category_id`)
	err = s.read(ctx, readStmt{text: text}, func() scanRow {
		names = map[int64]facetcount.Names{}
		return func(rows *sql.Rows, at *model.Revision) error {
			var id int64
			var n facetcount.Names
			err := rows.Scan(append(revisionTargets(at), &id, &n.Genre, &n.CategoryID, &n.Category)...)
			names[id] = n
			return err
		}
	})
	return names, err
}
