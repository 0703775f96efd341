package search

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// top goes through the ranks in their order, and looks at no row of another once there
// are enough for the page.
func (d postgres) top(b *query.Builder, s *Search, p *model.Page) string {
	byRank, byID := p.Order.Keys[0].Descending != p.Backward, p.Order.IDDescending != p.Backward
	direction := ""
	if byID {
		direction = " DESC"
	}
	var ranks []int
	for rank := range firstLevel + len(s.levels()) - 1 {
		ranks = append(ranks, rank+1)
	}
	if byRank {
		slices.Reverse(ranks)
	}
	enough := strconv.Itoa(p.Offset + p.Limit)
	var with, rows, before []string
	for _, rank := range ranks {
		within, any := d.within(b, p, rank)
		if !any {
			continue
		}
		name := "rank" + strconv.Itoa(rank)
		text := `SELECT m.id FROM ` + s.table.Name + `_search m` + d.ofRank(b, s, p.Where, rank) + within + ` ORDER BY m.id` + direction + ` LIMIT ` + enough
		if len(before) > 0 { // asked outside, so that no worker is started for nothing
			text = `SELECT id FROM (` + text + `) t WHERE ` + strings.Join(before, " + ") + ` < ` + enough
		}
		with = append(with, name+` AS MATERIALIZED (`+text+`)`)
		rows = append(rows, `SELECT id, `+strconv.Itoa(rank)+` AS rank FROM `+name)
		before = append(before, `(SELECT count(*) FROM `+name+`)`)
	}
	if len(with) == 0 {
		return `SELECT id, 0 AS rank FROM ` + s.table.Name + ` WHERE 1 = 0`
	}
	return `WITH ` + strings.Join(with, ", ") + ` ` + strings.Join(rows, " UNION ALL ")
}

// within returns what a page's bounds ask of the ids of a rank; any is false where they
// leave none.
func (d postgres) within(b *query.Builder, p *model.Page, rank int) (condition string, any bool) {
	for _, bound := range query.Bounds(p) {
		switch at, _ := bound.Position.Keys[0].(int64); {
		case int64(rank) == at:
			condition += " AND m.id" + bound.Operator(p.Order.IDDescending, bound.Inclusive) + b.Arg(bound.Position.ID)
		case (int64(rank) > at) == (p.Order.Keys[0].Descending != bound.Before):
			return "", false
		}
	}
	return condition, true
}

// ofRank returns which rows m of the search table, of those that fulfil a filter, have
// a rank, in conditions that have indexes: a join, and WHERE.
func (d postgres) ofRank(b *query.Builder, s *Search, where *model.Condition, rank int) string {
	levels, columns := s.levels(), s.columns()
	at := func(i int) string { return `m.words @@ ` + b.Arg(d.tsquery(s, levels[i])) + `::tsquery` }
	last := len(levels) - 1
	join, filter := ` JOIN `+s.table.Name+` r ON r.id = m.id`, ""
	if where != nil {
		filter = ` AND ` + b.Filter(where, s.table, "r")
	}
	if rank >= firstLevel && filter == "" {
		join = ""
	}
	if rank == firstLevel+last {
		return join + ` WHERE ` + at(last) + ` AND NOT ` + at(last-1) + filter
	}
	if rank >= firstLevel {
		text := join + ` WHERE ` + at(rank-firstLevel) + filter
		for _, column := range columns[:len(columns)-1] {
			text += ` AND NOT starts_with(m.` + column + `, ` + b.Arg(s.beginning("")) + `)`
		}
		for i := range rank - firstLevel {
			text += ` AND NOT ` + at(i)
		}
		return text
	}
	begins := func(column, then string) string { return `(` + b.StartsWith("r."+column+"_fold", s.text+then) + `)` }
	is := b.Dialect.SortKey("r.name_fold") + ` = ` + b.Arg(s.beginning(""))
	condition := is
	switch rank {
	case 2:
		condition = `(` + begins("name", ":") + ` OR ` + begins("name", " (") + `) AND NOT ` + is
	case 3:
		var beginning []string
		for _, column := range columns[:len(columns)-1] {
			beginning = append(beginning, begins(column, ""))
		}
		condition = `(` + strings.Join(beginning, " OR ") + `) AND NOT ` + is + ` AND NOT ` + begins("name", ":") + ` AND NOT ` + begins("name", " (")
	}
	return join + ` WHERE ` + at(last-1) + filter + ` AND ` + condition
}
