package db

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync/atomic"

	"library-catalogue/db/facetcount"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// maxConcurrent is the maximum number of concurrent statements of one request. Each holds a
// connection, and SQLite has at least four.
const maxConcurrent = 3

// GroupBooks returns the groups of all books for each grouping.
func (s *Snapshot) GroupBooks(ctx context.Context, groupings []*model.Grouping) ([][]*model.BookGroup, error) {
	all := make([][]*model.BookGroup, len(groupings))
	var statements []func() error
	together := map[string][]int{} // indexes of groupings that one statement serves
	for i, g := range groupings {
		key := "alone " + g.Key()
		if s.countsFacets(g) {
			key = g.Selection.Key()
		}
		together[key] = append(together[key], i)
	}
	for _, places := range together {
		g := groupings[places[0]]
		if s.countsFacets(g) {
			statements = append(statements, func() error { return s.countFacets(ctx, groupings, places, all) })
			continue
		}
		statements = append(statements, func() error {
			groups, err := s.Books.Groups(ctx, nil, g)
			if err != nil {
				return err
			}
			for _, i := range places { // identical groupings share a statement
				all[i] = groups[0]
			}
			return nil
		})
	}
	return all, runAll(ctx, statements)
}

// runAll runs functions, maxConcurrent at once, and returns the first error. After it no more functions start.
func runAll(ctx context.Context, functions []func() error) (err error) {
	var next atomic.Int64
	var workers []<-chan error
	for range min(maxConcurrent, len(functions)) {
		workers = append(workers, task.Go(ctx, func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(functions) {
					return nil
				}
				if err := functions[i](); err != nil {
					return err
				}
			}
		}))
	}
	for _, done := range workers {
		err = cmp.Or(err, <-done)
	}
	return err
}

func (r *reader[T]) Groups(ctx context.Context, parents []model.ID, g *model.Grouping) (groups map[model.ID][]*model.BookGroup, err error) {
	b, err := r.s.newSelect(ctx, r.Table, g.Selection)
	if err != nil {
		return nil, err
	}
	placeholder := ""
	if parents != nil {
		placeholder = b.Arg(r.s.store.dialect.Array(parents))
	}
	text := b.Groups(r.query(), g, b.candidates(false), placeholder)
	if len(g.By) == 0 { // its columns are numbered and have no order
		text = "SELECT g.* FROM (" + text + ") g"
	}
	text = versioned(text)
	figures := query.Figures(g.Aggregates)
	err = r.s.read(ctx, readStmt{text, b.Args, !query.OnlyIDs(g.Selection)}, func() scanRow {
		groups = map[model.ID][]*model.BookGroup{}
		return func(rows *sql.Rows, at *model.Revision) error {
			var parent model.ID
			group := new(model.BookGroup)
			err := rows.Scan(append(revisionTargets(at), groupTargets(g, figures, parents != nil, &parent, group)...)...)
			groups[parent] = append(groups[parent], group)
			return err
		}
	})
	return groups, err
}

// groupTargets returns the destinations of Scan for the columns of query.Groups.
func groupTargets(g *model.Grouping, figures []query.Figure, ofParents bool, parent *model.ID, group *model.BookGroup) (targets []any) {
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
// in Go serves all groupings of the same rows and is faster.

// countsFacets reports whether a grouping is counted in Go.
func (s *Snapshot) countsFacets(g *model.Grouping) bool {
	return !s.store.dialect.HasHashGroups && facetcount.Supports(g)
}

// countFacets sets all[i] for each i in places. Their groupings have the same selection.
func (s *Snapshot) countFacets(ctx context.Context, groupings []*model.Grouping, places []int, all [][]*model.BookGroup) error {
	var columns []string
	for _, i := range places {
		columns = append(columns, facetcount.Columns(groupings[i])...)
	}
	slices.Sort(columns)
	counts, err := s.readCounts(ctx, groupings[places[0]].Selection, slices.Compact(columns))
	if err == nil && slices.Contains(columns, facetcount.Genre) {
		counts.Names, err = s.readNames(ctx)
	}
	if err != nil {
		return err
	}
	for _, i := range places {
		all[i] = counts.Groups(groupings[i])
	}
	return nil
}

// readCounts counts the matching books by the values of columns.
func (s *Snapshot) readCounts(ctx context.Context, sel model.Selection, columns []string) (counts *facetcount.Counts, err error) {
	r := &reader[model.Book]{s, &books}
	b, err := s.newSelect(ctx, r.Table, sel)
	if err != nil {
		return nil, err
	}
	from, found := r.query(), b.candidates(false)
	if b.ChoosesPath(r.Table, sel, model.Order{}) {
		if from, found, err = r.access(ctx, b, sel.Where, model.Order{}, query.Unlimited); err != nil {
			return nil, err
		}
	}
	// The first row has the revision; the others have the columns.
	text := "SELECT n.catalogue, n.reference" + strings.Repeat(", NULL", len(columns)) + " FROM (" + revisionSQL + ") n UNION ALL " +
		b.Values(from, append([]string{"NULL", "NULL"}, columns...), sel.Where, found)
	values := make([]any, 2+len(columns))
	pointers := make([]any, len(values))
	for i := range values {
		pointers[i] = &values[i]
	}
	err = s.read(ctx, readStmt{text, b.Args, !query.OnlyIDs(sel)}, func() scanRow {
		counts = facetcount.New(columns)
		return func(rows *sql.Rows, at *model.Revision) error {
			if err := rows.Scan(pointers...); err != nil {
				return err
			}
			if catalogue, ok := values[0].(int64); ok {
				at.Catalogue, at.Reference = catalogue, values[1].(int64)
			} else {
				counts.Add(values[2:])
			}
			return nil
		}
	})
	return counts, err
}

// readNames returns the names of all genres and of their categories, by genre.
func (s *Snapshot) readNames(ctx context.Context) (names map[int64]facetcount.Names, err error) {
	text := versioned(`SELECT g.id, g.name, g.category_id, c.name FROM genres g JOIN categories c ON c.id = g.category_id`)
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
