package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Figures, facets and groups of books. What of an aggregate is selected is known
// when the query is compiled; nothing else of it is computed.

var (
	decimalLeaves = map[string]leaf[*model.DecimalAggregate]{
		"min": func(dst []byte, a *model.DecimalAggregate) []byte { return appendOrNull(dst, a.Min) },
		"max": func(dst []byte, a *model.DecimalAggregate) []byte { return appendOrNull(dst, a.Max) },
		"avg": func(dst []byte, a *model.DecimalAggregate) []byte { return appendOrNull(dst, a.Avg) },
		"sum": func(dst []byte, a *model.DecimalAggregate) []byte { return a.Sum.AppendJSON(dst) },
	}
	intLeaves = map[string]leaf[*model.IntAggregate]{
		"min": func(dst []byte, a *model.IntAggregate) []byte { return appendIntOrNull(dst, a.Min) },
		"max": func(dst []byte, a *model.IntAggregate) []byte { return appendIntOrNull(dst, a.Max) },
		"avg": func(dst []byte, a *model.IntAggregate) []byte { return appendOrNull(dst, a.Avg) },
		"sum": func(dst []byte, a *model.IntAggregate) []byte { return a.Sum.AppendJSON(dst) },
	}
	dateLeaves = map[string]leaf[*model.DateAggregate]{
		"min": func(dst []byte, a *model.DateAggregate) []byte { return appendOrNull(dst, a.Min) },
		"max": func(dst []byte, a *model.DateAggregate) []byte { return appendOrNull(dst, a.Max) },
	}
	aggregateLeaves = map[string]leaf[*model.Aggregate]{
		"count": func(dst []byte, a *model.Aggregate) []byte { return appendInt(dst, int64(a.Count)) },
	}
	groupLeaves = map[string]leaf[*model.BookGroup]{
		"author": func(dst []byte, g *model.BookGroup) []byte { return model.AppendNullable(dst, g.Author) },
		"year":   func(dst []byte, g *model.BookGroup) []byte { return appendIntOrNull(dst, g.Year) },
	}
)

func appendOrNull[V any, P interface {
	*V
	AppendJSON([]byte) []byte
}](dst []byte, v P) []byte {
	if v == nil {
		return append(dst, "null"...)
	}
	return v.AppendJSON(dst)
}

func appendIntOrNull(dst []byte, n *int) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	return appendInt(dst, int64(*n))
}

// aggregate compiles what is selected of the figures over rows of a type.
func (c *compiler) aggregate(set ast.SelectionSet, typename string) *selection[*model.Aggregate] {
	typename += "Aggregate"
	return compileSelection(c, c.collect(set, typename), typename, aggregateLeaves, func(f graphql.CollectedField) relation[*model.Aggregate] {
		switch f.Name {
		case "price":
			return valueRelation(c, f, "DecimalAggregate", decimalLeaves, func(a *model.Aggregate) *model.DecimalAggregate { return &a.Price })
		case "pages":
			return valueRelation(c, f, "IntAggregate", intLeaves, func(a *model.Aggregate) *model.IntAggregate { return &a.Pages })
		case "publishedAt":
			return valueRelation(c, f, "DateAggregate", dateLeaves, func(a *model.Aggregate) *model.DateAggregate { return &a.PublishedAt })
		}
		return nil
	})
}

func valueRelation[P, C any](c *compiler, f graphql.CollectedField, typename string, leaves map[string]leaf[C], of func(P) C) relation[P] {
	return &toValue[P, C]{of, compileSelection(c, c.collect(f.Selections, typename), typename, leaves, noRelations[C])}
}

func noRelations[P any](graphql.CollectedField) relation[P] { return nil }

// facetKeys are the keys that the facets group by.
var facetKeys = map[string]model.GroupKey{
	"genres": model.ByGenre, "categories": model.ByCategory, "authors": model.ByAuthor, "years": model.ByYear, "prices": model.ByPriceRange,
}

// askedFacet returns what is asked of a facet.
type askedFacet func(variables map[string]any) (model.Facet, error)

// facets compiles what is selected of the facets of books, and what is asked of each.
func (c *compiler) facets(set ast.SelectionSet) (s *selection[*model.BookFacets], asked []askedFacet) {
	s = compileSelection(c, c.collect(set, "BookFacets"), "BookFacets", nil, func(f graphql.CollectedField) relation[*model.BookFacets] {
		ask := func(variables map[string]any) (facet model.Facet, err error) {
			args := f.Field.ArgumentMap(variables)
			facet.By = facetKeys[f.Name]
			if first := args["first"]; first != nil {
				facet.First, err = pointer(graphql.UnmarshalInt(first))
			}
			if bounds := args["bounds"]; bounds != nil && err == nil {
				facet.Bounds, err = centsOf(bounds)
			}
			return facet, err
		}
		asked = append(asked, ask)
		switch f.Name {
		case "genres":
			return facet(ask, (*model.BookFacets).Genres, compileSelection(c, c.collect(f.Selections, "GenreFacet"), "GenreFacet",
				map[string]leaf[*model.GenreFacet]{"count": func(dst []byte, v *model.GenreFacet) []byte { return appendInt(dst, int64(v.Count)) }},
				func(f graphql.CollectedField) relation[*model.GenreFacet] {
					return genreRelation(c, f, func(v *model.GenreFacet) model.ID { return v.GenreID })
				}))
		case "categories":
			return facet(ask, (*model.BookFacets).Categories, compileSelection(c, c.collect(f.Selections, "CategoryFacet"), "CategoryFacet",
				map[string]leaf[*model.CategoryFacet]{"count": func(dst []byte, v *model.CategoryFacet) []byte { return appendInt(dst, int64(v.Count)) }},
				func(f graphql.CollectedField) relation[*model.CategoryFacet] {
					return categoryRelation(c, f, func(v *model.CategoryFacet) model.ID { return v.CategoryID })
				}))
		case "authors":
			return facet(ask, (*model.BookFacets).Authors, compileSelection(c, c.collect(f.Selections, "AuthorFacet"), "AuthorFacet",
				map[string]leaf[*model.AuthorFacet]{
					"author": func(dst []byte, v *model.AuthorFacet) []byte { return model.AppendString(dst, v.Author) },
					"count":  func(dst []byte, v *model.AuthorFacet) []byte { return appendInt(dst, int64(v.Count)) },
				}, noRelations))
		case "years":
			return facet(ask, (*model.BookFacets).Years, compileSelection(c, c.collect(f.Selections, "YearFacet"), "YearFacet",
				map[string]leaf[*model.YearFacet]{
					"year":  func(dst []byte, v *model.YearFacet) []byte { return appendInt(dst, int64(v.Year)) },
					"count": func(dst []byte, v *model.YearFacet) []byte { return appendInt(dst, int64(v.Count)) },
				}, noRelations))
		case "prices":
			return &toList[*model.BookFacets, *model.PriceFacet]{
				find: func(r *run, facets []*model.BookFacets) ([][]*model.PriceFacet, error) {
					asked, err := ask(r.variables)
					if err != nil {
						return nil, err
					}
					return mapRows(facets, func(of *model.BookFacets) ([]*model.PriceFacet, error) { return of.Prices(r.ctx, asked.Bounds) })
				},
				selection: compileSelection(c, c.collect(f.Selections, "PriceFacet"), "PriceFacet",
					map[string]leaf[*model.PriceFacet]{
						"from":  func(dst []byte, v *model.PriceFacet) []byte { return appendOrNull(dst, v.From) },
						"to":    func(dst []byte, v *model.PriceFacet) []byte { return appendOrNull(dst, v.To) },
						"count": func(dst []byte, v *model.PriceFacet) []byte { return appendInt(dst, int64(v.Count)) },
					}, noRelations),
			}
		}
		return nil
	})
	return s, asked
}

// facet is the relation to the values of one facet.
func facet[V any](ask askedFacet, read func(*model.BookFacets, context.Context, *int) ([]V, error), s *selection[V]) relation[*model.BookFacets] {
	return &toList[*model.BookFacets, V]{
		find: func(r *run, facets []*model.BookFacets) ([][]V, error) {
			asked, err := ask(r.variables)
			if err != nil {
				return nil, err
			}
			return mapRows(facets, func(of *model.BookFacets) ([]V, error) { return read(of, r.ctx, asked.First) })
		},
		selection: s,
	}
}

// groups compiles groups of books.
func (c *compiler) groups(f graphql.CollectedField) relation[root] {
	wanted := model.SelectedOfGroups(c.operation, f.Selections)
	c.checks = append(c.checks, func(variables map[string]any) error {
		args, err := groupArgs(f.Field, variables)
		if err == nil {
			_, err = args.Grouping(wanted)
		}
		return err
	})
	return &toList[root, *model.BookGroup]{
		find: func(r *run, _ []root) ([][]*model.BookGroup, error) {
			args, err := groupArgs(f.Field, r.variables)
			if err != nil {
				return nil, err
			}
			return singleton(r.source.GroupBooks(r.ctx, args, wanted))
		},
		selection: compileSelection(c, c.collect(f.Selections, "BookGroup"), "BookGroup", groupLeaves, func(f graphql.CollectedField) relation[*model.BookGroup] {
			switch f.Name {
			case "genre":
				return genreRelation(c, f, func(g *model.BookGroup) model.ID { return g.GenreID })
			case "category":
				return categoryRelation(c, f, func(g *model.BookGroup) model.ID { return g.CategoryID })
			case "aggregate":
				return &toValue[*model.BookGroup, *model.Aggregate]{func(g *model.BookGroup) *model.Aggregate { return &g.Aggregate }, c.aggregate(f.Selections, "Book")}
			}
			return nil
		}),
	}
}

func genreRelation[P any](c *compiler, f graphql.CollectedField, id func(P) model.ID) relation[P] {
	if f.Name != "genre" {
		return nil
	}
	return &toOne[P, *model.Genre]{byIDs(id, Source.LoadGenres), c.genre(f.Selections)}
}

func categoryRelation[P any](c *compiler, f graphql.CollectedField, id func(P) model.ID) relation[P] {
	if f.Name != "category" {
		return nil
	}
	return &toOne[P, *model.Category]{byIDs(id, Source.LoadCategories), c.category(f.Selections)}
}

// byIDs finds the rows that others name by id; 0 names none.
func byIDs[P, T any](id func(P) model.ID, load func(Source, context.Context, []model.ID) ([]*T, error)) func(*run, []P) ([]*T, error) {
	return func(r *run, rows []P) ([]*T, error) {
		var ids []model.ID
		for _, row := range rows {
			if n := id(row); n != 0 {
				ids = append(ids, n)
			}
		}
		if ids == nil {
			return make([]*T, len(rows)), nil
		}
		loaded, err := load(r.source, r.ctx, ids)
		if err != nil {
			return nil, err
		}
		found, next := make([]*T, len(rows)), 0
		for i, row := range rows {
			if id(row) == 0 {
				continue
			}
			if found[i], next = loaded[next], next+1; found[i] == nil {
				return nil, model.ErrSnapshotChanged
			}
		}
		return found, nil
	}
}

func mapRows[P, C any](rows []P, of func(P) (C, error)) (all []C, err error) {
	all = make([]C, len(rows))
	for i, row := range rows {
		if all[i], err = of(row); err != nil {
			return nil, err
		}
	}
	return all, nil
}
