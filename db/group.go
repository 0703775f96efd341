package db

import (
	"context"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// groups reads the groups of a whole table, which are those of 0, or with parents
// those of each; a parent without rows is left out.
func (l list[T]) groups(ctx context.Context, s *Store, parents []model.ID, g *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
	b, err := s.newSelect(ctx, l.Table, g.Selection)
	if err != nil {
		return nil, err
	}
	placeholder := ""
	if parents != nil {
		placeholder = b.Arg(s.dialect.Array(parents))
	}
	text := b.Groups(l.query(), g, b.candidates(false), placeholder)
	if len(g.By) == 0 { // it numbers its columns, and has no order
		text = "SELECT g.* FROM (" + text + ") g"
	}
	text = versioned(text)
	figures := query.Figures(g.Aggregates)
	var groups map[model.ID][]*model.BookGroup
	err = s.read(ctx, g.Selection, func(h handle, at *model.Revision) error {
		groups = map[model.ID][]*model.BookGroup{}
		rows, err := h.QueryContext(ctx, text, b.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var parent model.ID
			group := new(model.BookGroup)
			if err := rows.Scan(append(targets(at), groupTargets(g, figures, parents != nil, &parent, group)...)...); err != nil {
				return err
			}
			groups[parent] = append(groups[parent], group)
		}
		return rows.Err()
	})
	return groups, err
}

// groupTargets returns where the columns of query.Groups are scanned to.
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
