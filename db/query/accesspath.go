package query

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// SQLite does not know how many rows a condition leaves, nor that a page needs few of them:
// it looks up all rows of a range and puts them in order, even where the order's own index
// has the page after a few rows. So the access path of a list of books is chosen here: in
// their order, or by the condition that the fewest fulfil.
//
// Without it, and without or with ANALYZE (and its histograms) in its place, a page of
// 100,000 books takes, in ms of CPU: by date, narrowed by price and pages, 158 or 0.15 where
// it takes 0.28; by name, of a category that has most, 61 or 55 where it takes 0.32; by date,
// of two large genres, 2.4 or 2.1 where it takes 0.32. A page that SQLite finds well by itself
// takes 0.1 more.

// ChoosesPath reports whether the access path of a list is chosen by AccessPath.
func (b *Builder) ChoosesPath(t *Table, sel model.Selection, o model.Order) bool {
	return !b.Dialect.EstimatesRows && t == Books && sel.Search == "" && t.leading(o) != ""
}

// AccessPath returns the rows of a list as they are to be found for a page in an order:
// those that fulfil lookup, or if that is nil, all by the order's index.
func (b *Builder) AccessPath(l Source, o model.Order, lookup *model.Condition) (Source, Candidates) {
	leading := l.Table.leading(o)
	switch {
	case lookup != nil:
		l.From += " NOT INDEXED"
		return l, Candidates("(SELECT c.id FROM " + l.Table.Name + " c WHERE " + b.Filter(lookup, l.Table, "c") + ")")
	case leading == "id":
		l.From += " NOT INDEXED"
	default:
		l.From += " INDEXED BY " + l.Table.index(l.Table.fields[leading])
	}
	return l, ""
}

// leading returns the field of the rows that an order begins with; empty where it begins
// with something else.
func (t *Table) leading(o model.Order) string {
	if len(o.Keys) == 0 {
		return "id"
	}
	return t.orders[o.Keys[0].Field].field
}

// Lookups returns the parts of a filter that an index serves, other than that of an order.
func (t *Table) Lookups(where *model.Condition, o model.Order) []*model.Condition {
	return slices.DeleteFunc(Conjuncts(where), func(c *model.Condition) bool { return c.Field == t.leading(o) || !t.indexed(c) })
}

// Conjuncts returns the conditions of a filter all of which must hold.
func Conjuncts(where *model.Condition) (parts []*model.Condition) {
	switch {
	case where == nil:
		return nil
	case where.Op != model.And || where.Field != "":
		return []*model.Condition{where}
	}
	for _, part := range where.Of {
		parts = append(parts, Conjuncts(part)...)
	}
	return parts
}

// indexed reports whether an index leads to the rows that fulfil a condition.
func (t *Table) indexed(c *model.Condition) bool {
	switch c.Op {
	case model.And:
		return len(c.Of) > 0 && !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !t.indexed(part) })
	case model.Related:
		return !t.relations[c.Field].Many()
	case model.Eq, model.In, model.Gt, model.Gte, model.Lt, model.Lte, model.StartsWith, model.StartsWithFolded:
		f := t.fields[c.Field]
		return f.Kind == model.KindID || f.Is(model.Orderable)
	}
	return false
}

// Fewest returns the SELECT of the index of the condition that the fewest of the table's
// rows fulfil, and of no row where so many fulfil each that it is better to read rows in
// order until a page is full. Of n rows of which m fulfil a condition, that reads n / m for
// each row of the page: as many as a look-up of m where m² is n times the page's rows.
// Where all rows are to be found, to look one up costs as much as to read four. n need not
// be exact.
func (b *Builder) Fewest(t *Table, conditions []*model.Condition, page int, n int64) string {
	most := n / 4
	if page != Unlimited {
		most = int64(math.Sqrt(float64(page) * float64(n)))
	}
	limit, text := b.Arg(most), "WITH counted (place, n) AS MATERIALIZED ("
	for i, c := range conditions {
		if i > 0 {
			text += " UNION ALL "
		}
		text += "SELECT " + strconv.Itoa(i) + ", (SELECT count(*) FROM (SELECT 1 FROM " + t.Name + " r WHERE " + b.Filter(c, t, "r") + " LIMIT " + limit + "))"
	}
	return text + ") SELECT place FROM counted WHERE n < " + limit + " ORDER BY n LIMIT 1"
}

// grouping is the index of books by genre, which has all columns by which books are
// grouped, and of which there are figures.
const grouping = "books_genre_id"

// AccessPathOfAll is as AccessPath where all rows are to be found, in any order.
func (b *Builder) AccessPathOfAll(l Source, where, lookup *model.Condition) (Source, Candidates) {
	if lookup == nil && covered(where) {
		l.From += " INDEXED BY " + grouping
		return l, ""
	}
	return b.AccessPath(l, model.Order{}, lookup)
}

// Values returns the SELECT of columns of all rows of a list that match, in no order.
func (b *Builder) Values(l Source, columns []string, where *model.Condition, found Candidates) string {
	return "SELECT " + strings.Join(columns, ", ") + b.rows(l, "", where, found)
}

// covered reports whether that index has all that a filter is about.
func covered(where *model.Condition) bool {
	if where == nil {
		return true
	}
	switch where.Op {
	case model.And, model.Or, model.Not:
		return !slices.ContainsFunc(where.Of, func(part *model.Condition) bool { return !covered(part) })
	}
	return slices.Contains([]string{"genreId", "genre", "price", "publishedAt", "pages"}, where.Field)
}
