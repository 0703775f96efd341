package query

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// Figure is an aggregate over the rows r of a group.
type Figure struct {
	Bit        model.Aggregates
	path       string // path in the GraphQL type, such as price.min
	column     string
	expression string
	Pointer    func(*model.Aggregate) any
}

// figures are the aggregates of a group. Averages are rounded half up with integer division, which
// both engines truncate.
var figures = []Figure{
	{model.RowCount, "count", "n", "count(*)", func(a *model.Aggregate) any { return &a.Count }},
	{model.PriceMin, "price.min", "price_min", "min(r.price_cents)",
		func(a *model.Aggregate) any { return &a.Price.Min }},
	{model.PriceMax, "price.max", "price_max", "max(r.price_cents)",
		func(a *model.Aggregate) any { return &a.Price.Max }},
	{model.PriceAvg, "price.avg", "price_avg", "(" + sum("r.price_cents") + " + count(*) / 2) / nullif(count(*), 0)",
		func(a *model.Aggregate) any { return &a.Price.Avg }},
	{model.PriceSum, "price.sum", "price_sum", sum("r.price_cents"),
		func(a *model.Aggregate) any { return &a.Price.Sum }},
	{model.PagesMin, "pages.min", "pages_min", "min(r.pages)", func(a *model.Aggregate) any { return &a.Pages.Min }},
	{model.PagesMax, "pages.max", "pages_max", "max(r.pages)", func(a *model.Aggregate) any { return &a.Pages.Max }},
	{model.PagesAvg, "pages.avg", "pages_avg", "(100 * " + sum("r.pages") + " + count(*) / 2) / nullif(count(*), 0)",
		func(a *model.Aggregate) any { return &a.Pages.Avg }},
	{model.PagesSum, "pages.sum", "pages_sum", sum("r.pages"), func(a *model.Aggregate) any { return &a.Pages.Sum }},
	{model.PublishedAtMin, "publishedAt.min", "published_at_min", "min(r.published_at)",
		func(a *model.Aggregate) any { return &a.PublishedAt.Min }},
	{model.PublishedAtMax, "publishedAt.max", "published_at_max", "max(r.published_at)",
		func(a *model.Aggregate) any { return &a.PublishedAt.Max }},
}

func sum(column string) string { return "coalesce(CAST(sum(" + column + ") AS bigint), 0)" }

// groups is the table of the groups a. Its fields are the figures.
var groups = func() *Table {
	t := &Table{Name: "groups", fields: map[string]*model.FieldInfo{}}
	for _, f := range figures {
		t.fields[f.path] = &model.FieldInfo{Name: f.path, Column: f.column, Kind: model.KindBigInt}
	}
	return t
}()

// Figures returns the selected figures.
func Figures(wanted model.Aggregates) []Figure {
	return slices.DeleteFunc(slices.Clone(figures), func(f Figure) bool { return wanted&f.Bit == 0 })
}

// dimension is a grouping key of rows r. Groups have the alias a.
type dimension struct {
	column     string
	expression string
	where      string   // condition of the rows in a group; empty: all are
	join       string   // joins that the expression needs
	aggregate  string   // column of the group that the order needs
	names      string   // joins of the groups that the order needs
	order      []string // expressions
}

func (b *Builder) dimension(key model.GroupKey, bounds []model.Cents) dimension {
	switch key {
	case model.ByGenre:
		return dimension{
			column: "genre_id", expression: "r.genre_id", names: " JOIN genres an ON an.id = a.genre_id",
			order: []string{b.Dialect.SortKey("an.name_fold"), "a.genre_id"},
		}
	case model.ByCategory:
		return dimension{
			column: "category_id", expression: "rg.category_id", join: " JOIN genres rg ON rg.id = r.genre_id",
			names: " JOIN categories ac ON ac.id = a.category_id",
			order: []string{b.Dialect.SortKey("ac.name_fold"), "a.category_id"},
		}
	case model.ByAuthor:
		return b.textDimension("author")
	case model.ByPublisher:
		return optional(b.textDimension("publisher"))
	case model.ByLanguage:
		return optional(b.textDimension("language"))
	case model.ByYear:
		return dimension{column: "year", expression: b.Dialect.Year("r.published_at"), order: []string{"a.year"}}
	default: // ByPriceRange
		return dimension{column: "price_range", expression: b.priceRange(bounds, 0, len(bounds)),
			order: []string{"a.price_range"}}
	}
}

// textDimension returns the key of a text with a folded column.
func (b *Builder) textDimension(column string) dimension {
	folded := column + "_fold"
	return dimension{
		column: column, expression: "r." + column, aggregate: "min(r." + folded + ") AS " + folded,
		order: []string{b.Dialect.SortKey("a." + folded), "a." + column + b.Dialect.ByteOrder},
	}
}

// optional leaves out the rows without the key.
func optional(d dimension) dimension {
	d.where = d.expression + " IS NOT NULL"
	return d
}

// priceRange returns a binary search for the number of bounds up to the price, which is between low
// and high.
func (b *Builder) priceRange(bounds []model.Cents, low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	middle := (low + high) / 2
	return "CASE WHEN r.price_cents < " + b.Arg(int64(bounds[middle])) +
		" THEN " + b.priceRange(bounds, low, middle) + " ELSE " + b.priceRange(bounds, middle+1, high) + " END"
}

// Groups returns the SELECT of groups of all rows, or of each parent if parents, the placeholder of
// an Array, is not empty. Its columns are the parent, the keys and the figures, or the number of groups
// if g is OnlyCount.
func (b *Builder) Groups(src Source, g *model.Grouping, found Candidates, parents string) string {
	var dimensions []dimension
	for _, key := range g.By {
		dimensions = append(dimensions, b.dimension(key, g.Bounds))
	}
	grouped := b.grouped(src, g, dimensions, found, parents)
	if len(g.By) == 0 {
		return grouped
	}
	var columns []string
	if parents != "" {
		columns = append(columns, "parent")
	}
	names := ""
	for _, d := range dimensions {
		columns, names = append(columns, d.column), names+d.names
	}
	for _, f := range Figures(g.Aggregates) {
		columns = append(columns, f.column)
	}
	having := ""
	if g.Having != nil {
		having = " WHERE " + b.Filter(g.Having, groups, "a")
	}
	if g.OnlyCount {
		return "SELECT count(*) AS n FROM (" + grouped + ") a" + having
	}
	from := " FROM (" + grouped + ") a" + names + having
	outer, order := "a."+strings.Join(columns, ", a."), groupOrder(g, dimensions)
	if parents == "" {
		return "SELECT " + outer + from + " ORDER BY " + order + " LIMIT " + strconv.Itoa(g.Limit) + " OFFSET " +
			strconv.Itoa(g.Offset)
	}
	// A window function limits each parent, because SQLite lacks LATERAL. Groups are few.
	return "SELECT " + strings.Join(columns, ", ") + " FROM (SELECT " + outer +
		", row_number() OVER (PARTITION BY a.parent ORDER BY " + order + ") AS place" +
		from + ") t WHERE place <= " + strconv.Itoa(g.Limit) + " ORDER BY parent, place"
}

// grouped returns the SELECT of the groups without an order.
func (b *Builder) grouped(
	src Source, g *model.Grouping, dimensions []dimension, found Candidates, parents string,
) string {
	var columns, aggregates, where []string
	var joins string
	if parents != "" {
		columns, where = append(columns, src.Parent+" AS parent"), append(where, b.Dialect.In(src.Parent, parents))
	}
	for _, d := range dimensions {
		columns, joins = append(columns, d.expression+" AS "+d.column), joins+d.join
		if d.where != "" {
			where = append(where, d.where)
		}
		if d.aggregate != "" {
			aggregates = append(aggregates, d.aggregate)
		}
	}
	keys := len(columns)
	for _, f := range Figures(g.Aggregates) {
		columns = append(columns, f.expression+" AS "+f.column)
	}
	text := "SELECT " + strings.Join(append(columns, aggregates...), ", ") +
		b.rows(src, joins, g.Where, found, where...)
	if keys > 0 {
		text += " GROUP BY " + ordinals(keys)
	}
	return text
}

// groupOrder returns the ORDER BY list: the requested order and then all keys, so that it is total.
func groupOrder(g *model.Grouping, dimensions []dimension) string {
	var order []string
	for _, by := range g.Order {
		var expressions []string
		if i := slices.Index(g.By, model.GroupKey(by.Field)); i >= 0 {
			expressions = dimensions[i].order
		} else {
			expressions = []string{"a." + groups.fields[by.Field].Column}
		}
		for _, expression := range expressions {
			if by.Descending {
				expression += " DESC"
			}
			order = append(order, expression)
		}
	}
	for _, d := range dimensions {
		order = append(order, d.order...)
	}
	return strings.Join(order, ", ")
}

func ordinals(n int) string {
	numbers := make([]string, n)
	for i := range numbers {
		numbers[i] = strconv.Itoa(i + 1)
	}
	return strings.Join(numbers, ", ")
}
