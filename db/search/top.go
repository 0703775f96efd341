package search

import (
	"slices"
	"strconv"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// Top returns the SELECT of the ids and ranks of a page by rank alone, for a search with many
// matches. It reads the ranks in order and stops after enough rows. It is empty if all rows must be
// ranked.
func (s *Search) Top(b *query.Builder, p *model.Page) string {
	if !s.Many || !query.ByRank(p) {
		return ""
	}
	join, direction := "", ""
	var filter []string
	if p.Where != nil {
		operator, ok := s.engine.join(s, p.Where)
		if !ok {
			return ""
		}
		join, filter = operator+s.table.Name+` r ON r.id = m.id`, []string{b.Filter(p.Where, s.table, "r")}
	}
	if p.Order.IDDescending != p.Backward {
		direction = " DESC"
	}
	enough := strconv.Itoa(p.Offset + p.Limit)
	ranks := s.engine.ranks(b, s)
	var numbers []int
	for i := range ranks {
		numbers = append(numbers, i+1)
	}
	if p.Order.Keys[0].Descending != p.Backward {
		slices.Reverse(numbers)
	}
	var with, rows, before []string
	for _, n := range numbers {
		within, any := within(b, p, n)
		if !any {
			continue
		}
		from, conditions := s.engine.ofRank(b, s, ranks, n)
		where := ""
		if all := slices.Concat(conditions, filter, within); len(all) > 0 {
			where = ` WHERE ` + strings.Join(all, ` AND `)
		}
		name := "rank" + strconv.Itoa(n)
		text := `SELECT m.id FROM ` + from + join + where + ` ORDER BY m.id` + direction
		if len(before) == 0 {
			text += ` LIMIT ` + enough
		} else {
			text = s.engine.upTo(text, enough, before)
		}
		with = append(with, name+` AS MATERIALIZED (`+text+`)`)
		rows = append(rows, `SELECT id, `+strconv.Itoa(n)+` AS rank FROM `+name)
		before = append(before, `(SELECT count(*) FROM `+name+`)`)
	}
	if len(with) == 0 {
		return `SELECT id, 0 AS rank FROM ` + s.table.Name + ` WHERE 1 = 0`
	}
	return `WITH ` + strings.Join(with, ", ") + ` ` + strings.Join(rows, " UNION ALL ")
}

// within returns the conditions of a page's bounds on the ids of a rank. any is false if the bounds
// exclude the rank.
func within(b *query.Builder, p *model.Page, rank int) (conditions []string, any bool) {
	for _, bound := range query.Bounds(p) {
		switch at, _ := bound.Place.Keys[0].(int64); {
		case int64(rank) == at:
			conditions = append(conditions,
				"m.id"+bound.Operator(p.Order.IDDescending, bound.Inclusive)+b.Arg(bound.Place.ID))
		case (int64(rank) > at) == (p.Order.Keys[0].Descending != bound.Before):
			return nil, false
		}
	}
	return conditions, true
}
