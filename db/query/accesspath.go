package query

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// SQLite plans without row estimates, and does not know that a page needs few rows. It looks up a whole range and
// sorts it, even where the order's index finds the page after a few rows. So a list compares the most selective
// condition with the order's index before it reads.
//
// The comparison costs little where SQLite plans well, and ANALYZE does not replace it (docs/performance.md).

// ChoosesPath reports whether a list needs AccessPath.
func (b *Builder) ChoosesPath(t *Table, sel model.Selection, o model.Order) bool {
	return !b.Dialect.EstimatesRows && t == Books && sel.Search == "" && t.leading(o) != ""
}

// AccessPath makes a list read its pages by one path: by the condition lookup, or, if it is nil, by the order's index.
func (b *Builder) AccessPath(src Source, o model.Order, lookup *model.Condition) (Source, Candidates) {
	leading := src.Table.leading(o)
	switch {
	case lookup != nil:
		src.From += " NOT INDEXED"
		return src,
			Candidates("(SELECT c.id FROM " + src.Table.Name + " c WHERE " + b.Filter(lookup, src.Table, "c") + ")")
	case leading == "id":
		src.From += " NOT INDEXED"
	default:
		src.From += " INDEXED BY " + src.Table.index(src.Table.fields[leading])
	}
	return src, ""
}

// leading returns the field that an order sorts by first, or "" if the table does not have that field.
func (t *Table) leading(o model.Order) string {
	if len(o.Keys) == 0 {
		return "id"
	}
	return t.orders[o.Keys[0].Field].field
}

// Lookups returns the conditions of a filter that an index finds. It omits those on the field that the order sorts by
// first, because the order's index finds them too.
func (t *Table) Lookups(where *model.Condition, o model.Order) []*model.Condition {
	leading := t.leading(o)
	return slices.DeleteFunc(Conjuncts(where), func(c *model.Condition) bool {
		return c.Field == leading && (isRange(c) || !t.isNatural(leading)) || !t.indexed(c)
	})
}

// isNatural reports whether a field sorts by another column than its folded text.
func (t *Table) isNatural(field string) bool {
	return t.fields[field] != nil && t.fields[field].Natural
}

// isRange reports whether a condition has only bounds in the order of its field.
func isRange(c *model.Condition) bool {
	if c.Op == model.And {
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !isRange(part) })
	}
	return slices.Contains([]model.Op{model.Gt, model.Gte, model.Lt, model.Lte}, c.Op)
}

// Conjuncts returns the conditions that a filter joins by AND.
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

// indexed reports whether an index finds the rows that fulfil a condition.
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

// Fewest returns a SELECT that finds the most selective condition and returns its index in conditions. It returns no
// row if reading in order is cheaper.
//
// If m of n rows match, reading in order reads n / m rows for each row of the page, and a lookup reads m. They are
// equal if m² is n times the page's rows. If all rows are needed, one lookup costs as much as reading four rows, or 32
// entries of the index grouping, if that has all columns (covers). n may be an estimate.
func (b *Builder) Fewest(t *Table, conditions []*model.Condition, page int, covers bool, n int64) string {
	most := n / 4
	switch {
	case page != Unlimited:
		most = int64(math.Sqrt(float64(page) * float64(n)))
	case covers:
		most = n / 32
	}
	limit, text := b.Arg(most), "WITH counted (place, n) AS MATERIALIZED ("
	for i, c := range conditions {
		if i > 0 {
			text += " UNION ALL "
		}
		text += "SELECT " + strconv.Itoa(i) + ", (SELECT count(*) FROM (SELECT 1 FROM " + t.Name + " r WHERE " +
			b.Filter(c, t, "r") + " LIMIT " + limit + "))"
	}
	return text + ") SELECT place FROM counted WHERE n < " + limit + " ORDER BY n LIMIT 1"
}

// grouping is the index of books that has most columns of groups and figures, after the genre. uncovered are the
// others.
const grouping = "books_genre_id"

var uncovered = []string{"publisher", "language"}

// Covers reports whether the index grouping has columns of books and those of a filter.
func Covers(columns []string, where *model.Condition) bool {
	return covered(where) && !slices.ContainsFunc(columns, func(name string) bool {
		return slices.Contains(uncovered, name)
	})
}

// AccessPathOfAll is like AccessPath, for reading all rows in any order. covers is the result of Covers.
func (b *Builder) AccessPathOfAll(src Source, covers bool, lookup *model.Condition) (Source, Candidates) {
	if covers && (lookup == nil || lookup.Field == "genreId") {
		src.From += " INDEXED BY " + grouping
		return src, ""
	}
	return b.AccessPath(src, model.Order{}, lookup)
}

// Values returns a SELECT that reads columns of all matching rows, in any order.
func (b *Builder) Values(src Source, columns []string, where *model.Condition, found Candidates) string {
	return "SELECT " + strings.Join(columns, ", ") + b.rows(src, "", where, found)
}

// covered reports whether the index grouping has every column of a filter.
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
