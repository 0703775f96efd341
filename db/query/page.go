package query

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// Source is rows r that can be paged through: a table, or what belongs to a parent.
type Source struct {
	Table  *Table
	From   string // what follows FROM
	Parent string // the column of the parent's id; empty for a whole table
}

// Unlimited is the limit of a page that is the whole list.
const Unlimited = -1

// Candidates are the rows that a search finds, as what follows FROM or JOIN: a SELECT
// in brackets, or the name of a common table expression. Its columns are id and, where
// it is ordered by, rank. It is empty where nothing is searched for.
type Candidates string

// RowCount returns the SELECT of the number of rows that match.
func (b *Builder) RowCount(l Source, where *model.Condition, found Candidates) string {
	if found != "" && where == nil {
		return "SELECT count(*) FROM " + string(found) + " s"
	}
	return "SELECT count(*)" + b.rows(l, "", where, found)
}

// RowCounts returns the SELECT of parents and the numbers of their rows that match;
// a parent without any is left out. parents is the placeholder of an Array.
func (b *Builder) RowCounts(l Source, where *model.Condition, found Candidates, parents string) string {
	return "SELECT " + l.Parent + " AS parent, count(*) AS n" + b.rows(l, "", where, found, b.Dialect.In(l.Parent, parents)) +
		" GROUP BY " + l.Parent
}

// IDs returns the SELECT of the ids of at most limit rows that match, which it locks.
func (b *Builder) IDs(l Source, where *model.Condition, found Candidates, limit int) string {
	return "SELECT r.id" + b.rows(l, "", where, found) + " ORDER BY r.id LIMIT " + strconv.Itoa(limit) + b.Dialect.ForUpdate
}

// Page returns the SELECT of the columns of a page's rows and of their keys. parent is
// the parent's id, a placeholder or a column, or empty.
func (b *Builder) Page(l Source, columns []*model.FieldInfo, p *model.Page, k Keyset, found Candidates, parent string) string {
	ranked := ByRank(p) && parent == ""
	switch {
	case ranked && p.Where == nil:
		// The search alone says which rows the page has, so that no other is read.
		return b.byID(l, columns, p, k, b.ranked(p, k, found, Bounds(p)))
	case p.Offset > 0 && parent == "" && found == "" && p.Limit != Unlimited:
		// Rows that are passed over are not read where an index has what they are chosen by.
		return b.byID(l, columns, p, k, "SELECT r.id"+b.limited(l, p, k, found, parent))
	case b.Dialect.DeferredJoin && k.covered() && p.Where != nil && parent == "" && found == "" && p.Limit != Unlimited:
		// An index may have all that the page is chosen by, so that no other row is read.
		return b.byID(l, columns, p, k, "SELECT r.id"+b.limited(l, p, k, found, parent))
	}
	return "SELECT " + Columns(b.Dialect, columns, "r") + b.limited(l, p, k, found, parent)
}

// Positions returns the SELECT of the id and the keys of each row of a list whose number
// in its order, from 1, is a multiple of every: at most limit of them, in order.
func (b *Builder) Positions(l Source, p *model.Page, k Keyset, every, limit int) string {
	numbered := "SELECT r.id" + k.selected() + ", row_number() OVER (ORDER BY " + k.orderBy(false) + ") AS place" + b.rows(l, k.joins(), p.Where, "")
	of := k.of("k")
	return "SELECT k.id" + of.selected() + " FROM (" + numbered + ") k WHERE place % " + strconv.Itoa(every) + " = 0 ORDER BY place LIMIT " + strconv.Itoa(limit)
}

// ByRank reports whether a page is in the order of the search's ranks alone.
func ByRank(p *model.Page) bool {
	return p.Limit != Unlimited && len(p.Order.Keys) == 1 && p.Order.Keys[0].Field == model.Relevance
}

// Ranked reports whether the order of a page needs the search's ranks.
func Ranked(p *model.Page) bool {
	return slices.ContainsFunc(p.Order.Keys, func(k model.OrderKey) bool { return k.Field == model.Relevance })
}

// limited writes all that follows the columns of a page: its keys, FROM, WHERE, ORDER
// BY and LIMIT.
func (b *Builder) limited(l Source, p *model.Page, k Keyset, found Candidates, parent string) string {
	var where []string
	if parent != "" {
		where = append(where, l.Parent+" = "+parent)
	}
	for _, bound := range Bounds(p) {
		where = append(where, b.seek(&k, bound))
	}
	return k.selected() + b.rows(l, k.joins(), p.Where, found, where...) + " ORDER BY " + k.orderBy(p.Backward) + b.limit(p)
}

// ranked writes the SELECT of the ids and ranks of a page of a search within bounds.
func (b *Builder) ranked(p *model.Page, k Keyset, found Candidates, bounds []Bound) string {
	k.columns = []string{"s.rank", "s.id"}
	var where []string
	for _, bound := range bounds {
		where = append(where, b.seek(&k, bound))
	}
	return "SELECT s.id" + k.selected() + " FROM " + string(found) + " s" + conjunction(where) +
		" ORDER BY " + k.orderBy(p.Backward) + b.limit(p)
}

// Top returns the SELECT of a page whose ids and ranks a search has chosen.
func (b *Builder) Top(l Source, columns []*model.FieldInfo, p *model.Page, k Keyset, chosen Candidates) string {
	return b.byID(l, columns, p, k, b.ranked(p, k, chosen, nil))
}

// byID writes the SELECT of the rows whose ids and keys another SELECT has chosen.
func (b *Builder) byID(l Source, columns []*model.FieldInfo, p *model.Page, k Keyset, chosen string) string {
	k = k.of("k")
	return "SELECT " + Columns(b.Dialect, columns, "r") + k.selected() +
		" FROM (" + chosen + ") k JOIN " + l.Table.Name + " r ON r.id = k.id ORDER BY " + k.orderBy(p.Backward)
}

// PageOfEach returns the SELECT of parents and of the page of each, which page writes
// for the parent p.id. It needs HasLateral.
func (b *Builder) PageOfEach(parents, page string, k Keyset) string {
	text := "SELECT p.id, r.* FROM " + parents + " AS p (id) CROSS JOIN LATERAL (" + page + ") r"
	if len(k.keys) > 0 {
		k = k.of("r")
		text += " ORDER BY p.id, " + k.orderBy(false)
	}
	return text
}

// rows writes FROM and WHERE of the rows that match.
func (b *Builder) rows(l Source, joins string, filter *model.Condition, found Candidates, where ...string) string {
	if found != "" {
		joins += " JOIN " + string(found) + " s ON s.id = r.id"
	}
	if filter != nil {
		where = append(where, b.Filter(filter, l.Table, "r"))
	}
	return " FROM " + l.From + joins + conjunction(where)
}

func conjunction(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// limit writes LIMIT and OFFSET. The limit stands in the text: PostgreSQL cannot plan
// for one that it does not know, and would plan a prepared statement again each time.
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
