package db

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// figure is a figure over the rows r of a group.
type figure struct {
	bit        model.Aggregates
	path       string // in an aggregate
	column     string
	expression string
	into       func(*model.Aggregate) any
}

// An average is rounded half up by integers: in both databases these are divided
// without a rest.
var figures = []figure{
	{model.RowCount, "count", "n", "count(*)", func(a *model.Aggregate) any { return &a.Count }},
	{model.PriceMin, "price.min", "price_min", "min(r.price_cents)", func(a *model.Aggregate) any { return &a.Price.Min }},
	{model.PriceMax, "price.max", "price_max", "max(r.price_cents)", func(a *model.Aggregate) any { return &a.Price.Max }},
	{model.PriceAvg, "price.avg", "price_avg", "(" + sum("r.price_cents") + " + count(*) / 2) / nullif(count(*), 0)", func(a *model.Aggregate) any { return &a.Price.Avg }},
	{model.PriceSum, "price.sum", "price_sum", sum("r.price_cents"), func(a *model.Aggregate) any { return &a.Price.Sum }},
	{model.PagesMin, "pages.min", "pages_min", "min(r.pages)", func(a *model.Aggregate) any { return &a.Pages.Min }},
	{model.PagesMax, "pages.max", "pages_max", "max(r.pages)", func(a *model.Aggregate) any { return &a.Pages.Max }},
	{model.PagesAvg, "pages.avg", "pages_avg", "(100 * " + sum("r.pages") + " + count(*) / 2) / nullif(count(*), 0)", func(a *model.Aggregate) any { return &a.Pages.Avg }},
	{model.PagesSum, "pages.sum", "pages_sum", sum("r.pages"), func(a *model.Aggregate) any { return &a.Pages.Sum }},
	{model.PublishedAtMin, "publishedAt.min", "published_at_min", "min(r.published_at)", func(a *model.Aggregate) any { return &a.PublishedAt.Min }},
	{model.PublishedAtMax, "publishedAt.max", "published_at_max", "max(r.published_at)", func(a *model.Aggregate) any { return &a.PublishedAt.Max }},
}

func sum(of string) string { return "coalesce(CAST(sum(" + of + ") AS bigint), 0)" }

// figureColumns are the figures as fields of a group.
func figureColumns() map[string]column {
	fields := make(map[string]column, len(figures))
	for _, f := range figures {
		fields[f.path] = column{name: f.column}
	}
	return fields
}

// dimension is a key that rows r are grouped by, as groups a have it.
type dimension struct {
	column     string
	expression string
	join       string // what the expression needs beside the rows
	beside     string // a column of the group that its order needs
	names      string // the join that its order needs beside the groups
	order      []string
	into       func(*model.BookGroup) any
}

func (w *statement) dimension(key model.GroupKey, bounds []model.Cents) dimension {
	switch key {
	case model.ByGenre:
		return dimension{
			column: "genre_id", expression: "r.genre_id", names: " JOIN genres an ON an.id = a.genre_id",
			order: []string{w.dialect.SortKey("an.name_fold"), "a.genre_id"}, into: func(g *model.BookGroup) any { return &g.GenreID },
		}
	case model.ByCategory:
		return dimension{
			column: "category_id", expression: "rg.category_id", join: " JOIN genres rg ON rg.id = r.genre_id", names: " JOIN categories ac ON ac.id = a.category_id",
			order: []string{w.dialect.SortKey("ac.name_fold"), "a.category_id"}, into: func(g *model.BookGroup) any { return &g.CategoryID },
		}
	case model.ByAuthor:
		return dimension{
			column: "author", expression: "r.author", beside: "min(r.author_fold) AS author_fold",
			order: []string{w.dialect.SortKey("a.author_fold"), "a.author" + w.dialect.ByteOrder}, into: func(g *model.BookGroup) any { return &g.Author },
		}
	case model.ByYear:
		return dimension{
			column: "year", expression: w.dialect.Year("r.published_at"),
			order: []string{"a.year"}, into: func(g *model.BookGroup) any { return &g.Year },
		}
	default: // ByPriceRange
		return dimension{
			column: "price_range", expression: w.between(bounds, 0, len(bounds)),
			order: []string{"a.price_range"}, into: func(g *model.BookGroup) any { return &g.PriceRange },
		}
	}
}

// between writes how many bounds are not above the price, which are no fewer
// than from and no more than to: a binary search.
func (w *statement) between(bounds []model.Cents, from, to int) string {
	if from == to {
		return strconv.Itoa(from)
	}
	middle := (from + to) / 2
	return "CASE WHEN r.price_cents < " + w.arg(int64(bounds[middle])) +
		" THEN " + w.between(bounds, from, middle) + " ELSE " + w.between(bounds, middle+1, to) + " END"
}

// groupSQL writes the SELECT of groups: of all rows, or of those of each of many
// parents, whose ids parents stands for.
func (l list[T]) groupSQL(w *statement, g *model.Grouping, dimensions []dimension, parents string) string {
	var inner, outer, beside, order, where []string // columns and conditions
	var joins, names string
	if parents != "" {
		inner, outer = append(inner, l.parent+" AS parent"), append(outer, "a.parent")
		where = append(where, w.dialect.In(l.parent, parents))
	}
	var keys [][]string
	for _, d := range dimensions {
		inner, outer = append(inner, d.expression+" AS "+d.column), append(outer, "a."+d.column)
		joins, names, keys = joins+d.join, names+d.names, append(keys, d.order)
		if d.beside != "" {
			beside = append(beside, d.beside)
		}
	}
	grouped := len(inner)
	for _, f := range figures {
		if g.Aggregates&f.bit != 0 {
			inner, outer = append(inner, f.expression+" AS "+f.column), append(outer, "a."+f.column)
		}
	}
	text := `SELECT ` + strings.Join(append(inner, beside...), ", ") + l.rows(w, joins, where...)
	if grouped > 0 {
		text += ` GROUP BY ` + ordinals(grouped)
	}
	if len(g.By) == 0 {
		return text
	}
	for _, by := range g.Order {
		expressions := []string{"a." + catalogue["groups"].fields[by.Field].name}
		if i := slices.Index(g.By, model.GroupKey(by.Field)); i >= 0 {
			expressions = keys[i]
		}
		for _, expression := range expressions {
			if by.Descending {
				expression += " DESC"
			}
			order = append(order, expression)
		}
	}
	order = append(order, slices.Concat(keys...)...)
	from := ` FROM (` + text + `) a` + names
	if g.Having != nil {
		from += ` WHERE ` + w.condition(g.Having, "groups", "a")
	}
	by := strings.Join(order, ", ")
	if parents == "" {
		return `SELECT ` + strings.Join(outer, ", ") + from + ` ORDER BY ` + by + ` LIMIT ` + strconv.Itoa(g.Limit) + ` OFFSET ` + strconv.Itoa(g.Offset)
	}
	// SQLite has no LATERAL, but groups are few.
	bare := strings.ReplaceAll(strings.Join(outer, ", "), "a.", "")
	return `SELECT ` + bare + ` FROM (SELECT ` + strings.Join(outer, ", ") + `, row_number() OVER (PARTITION BY a.parent ORDER BY ` + by + `) AS place` +
		from + `) t WHERE place <= ` + strconv.Itoa(g.Limit) + ` ORDER BY parent, place`
}

// ordinals gives the numbers from 1 to n.
func ordinals(n int) string {
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(numbers, ", ")
}

// groups reads the groups of a whole table, which stand at 0, or with parents
// those of each in one statement; a parent without rows is left out.
func groups[T any](ctx context.Context, s *Store, l list[T], parents []model.ID, g *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
	w, err := s.statement(ctx, l.table.name, g.Match)
	if err != nil {
		return nil, err
	}
	placeholder := ""
	if parents != nil {
		placeholder = w.arg(s.dialect.Array(parents))
	}
	var dimensions []dimension
	for _, key := range g.By {
		dimensions = append(dimensions, w.dimension(key, g.Bounds))
	}
	text := l.groupSQL(w, g, dimensions, placeholder)
	var out map[model.ID][]*model.BookGroup
	err = s.run(ctx, false, func(h handle) error {
		out = map[model.ID][]*model.BookGroup{}
		rows, err := planned(h, g.Match).QueryContext(ctx, text, w.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var parent model.ID
			var into []any
			if parents != nil {
				into = append(into, &parent)
			}
			group := new(model.BookGroup)
			for _, d := range dimensions {
				into = append(into, d.into(group))
			}
			for _, f := range figures {
				if g.Aggregates&f.bit != 0 {
					into = append(into, f.into(&group.Aggregate))
				}
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			out[parent] = append(out[parent], group)
		}
		return rows.Err()
	})
	return out, err
}
