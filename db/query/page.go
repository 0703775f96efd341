package query

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// Source is a set of rows r to read: a table, or the children of a parent.
type Source struct {
	Table  *Table
	From   string // FROM clause
	Parent string // column of the parent's id; empty for a whole table
}

// Unlimited is the limit of a page with all rows.
const Unlimited = -1

// Candidates is the result of a search in a FROM clause: a SELECT in parentheses, or the name of a
// common table expression. Its columns are id and, for an order by relevance, rank. It is empty
// without a search.
type Candidates string

// RowCount returns the SELECT of the number of matching rows.
func (b *Builder) RowCount(src Source, where *model.Condition, found Candidates) string {
	if found != "" && where == nil {
		return "SELECT count(*) FROM " + string(found) + " s"
	}
	return "SELECT count(*)" + b.rows(src, "", where, found)
}

// RowCounts returns the SELECT of the number of matching rows of each parent. It omits parents
// without any. parents is the placeholder of an Array.
func (b *Builder) RowCounts(src Source, where *model.Condition, found Candidates, parents string) string {
	return "SELECT " + src.Parent + " AS parent, count(*) AS n" +
		b.rows(src, "", where, found, b.Dialect.In(src.Parent, parents)) +
		" GROUP BY " + src.Parent
}

// IDs returns the SELECT of the ids of matching rows, limit of them at most, and locks these rows.
func (b *Builder) IDs(src Source, where *model.Condition, found Candidates, limit int) string {
	return "SELECT r.id" + b.rows(src, "", where, found) + " ORDER BY r.id LIMIT " + strconv.Itoa(limit) +
		b.Dialect.ForUpdate
}

// Page returns the SELECT of a page's columns and sort keys. parent is the expression of the
// parent's id, or empty.
func (b *Builder) Page(
	src Source, columns []*model.FieldInfo, p *model.Page, k Keyset, found Candidates, parent string,
) string {
	ranked := ByRank(p) && parent == ""
	switch {
	case ranked && p.Where == nil:
		// The search alone determines the page, so only its rows are read (deferred join).
		return b.byID(src, columns, p, k, b.ranked(p, k, found, Bounds(p)))
	case p.Offset > 0 && parent == "" && found == "" && p.Limit != Unlimited:
		// With an offset, an index may find the page without reading the skipped rows.
		return b.byID(src, columns, p, k, "SELECT r.id"+b.limited(src, p, k, found, parent))
	case b.Dialect.DeferredJoin && k.covered() && p.Where != nil && parent == "" && found == "" && p.Limit != Unlimited:
		// An index may cover the filter, so that only the page's rows are read.
		return b.byID(src, columns, p, k, "SELECT r.id"+b.limited(src, p, k, found, parent))
	}
	return "SELECT " + Columns(b.Dialect, columns, "r") + b.limited(src, p, k, found, parent)
}

// Places returns the SELECT of the id and sort keys of every n-th row in the order of a list,
// limit of them at most.
func (b *Builder) Places(src Source, p *model.Page, k Keyset, every, limit int) string {
	numbered := "SELECT r.id" + k.selected() + ", row_number() OVER (ORDER BY " + k.orderBy(false) + ") AS place" +
		b.rows(src, k.joins(), p.Where, "")
	of := k.of("k")
	return "SELECT k.id" + of.selected() + " FROM (" + numbered + ") k WHERE place % " + strconv.Itoa(every) +
		" = 0 ORDER BY place LIMIT " + strconv.Itoa(limit)
}

// ByRank reports whether a page is ordered by relevance alone.
func ByRank(p *model.Page) bool {
	return p.Limit != Unlimited && len(p.Order.Keys) == 1 && p.Order.Keys[0].Field == model.Relevance
}

// Ranked reports whether a page's order includes relevance.
func Ranked(p *model.Page) bool {
	return slices.ContainsFunc(p.Order.Keys, func(k model.OrderKey) bool { return k.Field == model.Relevance })
}

// limited returns the rest of a page's SELECT after its columns: sort keys, FROM, WHERE, ORDER BY
// and LIMIT.
func (b *Builder) limited(src Source, p *model.Page, k Keyset, found Candidates, parent string) string {
	var where []string
	if parent != "" {
		where = append(where, src.Parent+" = "+parent)
	}
	for _, bound := range Bounds(p) {
		where = append(where, b.seek(&k, bound))
	}
	return k.selected() + b.rows(src, k.joins(), p.Where, found, where...) + " ORDER BY " + k.orderBy(p.Backward) +
		b.limit(p)
}

// ranked returns the SELECT of the ids and ranks of a search's page within bounds.
func (b *Builder) ranked(p *model.Page, k Keyset, found Candidates, bounds []Bound) string {
	k.columns = []string{"s.rank", "s.id"}
	var where []string
	for _, bound := range bounds {
		where = append(where, b.seek(&k, bound))
	}
	return "SELECT s.id" + k.selected() + " FROM " + string(found) + " s" + conjunction(where) +
		" ORDER BY " + k.orderBy(p.Backward) + b.limit(p)
}

// Top returns the SELECT of a page for chosen ids and ranks.
func (b *Builder) Top(src Source, columns []*model.FieldInfo, p *model.Page, k Keyset, chosen Candidates) string {
	return b.byID(src, columns, p, k, b.ranked(p, k, chosen, nil))
}

// byID returns the SELECT of the rows for the ids and sort keys of another SELECT.
func (b *Builder) byID(src Source, columns []*model.FieldInfo, p *model.Page, k Keyset, chosen string) string {
	k = k.of("k")
	return "SELECT " + Columns(b.Dialect, columns, "r") + k.selected() +
		" FROM (" + chosen + ") k JOIN " + src.Table.Name + " r ON r.id = k.id ORDER BY " + k.orderBy(p.Backward)
}

// PageOfEach returns the SELECT of a page for each parent. page selects it for the parent p.id. It
// needs HasLateral.
func (b *Builder) PageOfEach(parents, page string, k Keyset) string {
	text := "SELECT p.id, r.* FROM " + parents + " AS p (id) CROSS JOIN LATERAL (" + page + ") r"
	if len(k.keys) > 0 {
		k = k.of("r")
		text += " ORDER BY p.id, " + k.orderBy(false)
	}
	return text
}

// rows returns FROM and WHERE of the matching rows.
func (b *Builder) rows(src Source, joins string, filter *model.Condition, found Candidates, where ...string) string {
	if found != "" {
		joins += " JOIN " + string(found) + " s ON s.id = r.id"
	}
	if filter != nil {
		where = append(where, b.Filter(filter, src.Table, "r"))
	}
	return " FROM " + src.From + joins + conjunction(where)
}

func conjunction(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// limit returns LIMIT and OFFSET. The limit is a literal, because PostgreSQL cannot plan well for a
// parameter.
func (b *Builder) limit(p *model.Page) string {
	if p.Limit == Unlimited {
		return ""
	}
	text := " LIMIT " + strconv.Itoa(p.Limit)
	if p.Offset > 0 {
		text += " OFFSET " + b.Arg(p.Offset)
	}
	return text
}
