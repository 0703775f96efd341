package model

import (
	"context"
	"fmt"
	"slices"
)

// BookFacets tells how many books of a list have each value of a field. Nothing
// is read before it is asked for. The errors are BadUserInput where an argument
// is past its bounds.
type BookFacets struct {
	match  Match
	groups func(context.Context, *Grouping) ([]*BookGroup, error)
}

// GenreFacet says how many books have a genre.
type GenreFacet struct {
	GenreID ID
	Count   int
}

// CategoryFacet says how many books are in a category.
type CategoryFacet struct {
	CategoryID ID
	Count      int
}

// AuthorFacet says how many books are by an author.
type AuthorFacet struct {
	Author string
	Count  int
}

// YearFacet says how many books were published in a year.
type YearFacet struct{ Year, Count int }

// PriceFacet says how many books have a price from From, inclusive, to To,
// exclusive; nil is no bound.
type PriceFacet struct {
	From, To *Cents
	Count    int
}

// Facets gives the facets of the whole list.
func (c *Connection[T]) Facets() *BookFacets { return &BookFacets{c.page.Match, c.groups} }

// Genres counts the books of each genre.
func (f *BookFacets) Genres(ctx context.Context, first *int) ([]*GenreFacet, error) {
	return facet(ctx, f, ByGenre, first, func(g *BookGroup) *GenreFacet { return &GenreFacet{g.GenreID, g.Aggregate.Count} })
}

// Categories counts the books in each category.
func (f *BookFacets) Categories(ctx context.Context, first *int) ([]*CategoryFacet, error) {
	return facet(ctx, f, ByCategory, first, func(g *BookGroup) *CategoryFacet { return &CategoryFacet{g.CategoryID, g.Aggregate.Count} })
}

// Authors counts the books by each author.
func (f *BookFacets) Authors(ctx context.Context, first *int) ([]*AuthorFacet, error) {
	return facet(ctx, f, ByAuthor, first, func(g *BookGroup) *AuthorFacet { return &AuthorFacet{*g.Author, g.Aggregate.Count} })
}

// Years counts the books of each year.
func (f *BookFacets) Years(ctx context.Context, first *int) ([]*YearFacet, error) {
	return facet(ctx, f, ByYear, first, func(g *BookGroup) *YearFacet { return &YearFacet{*g.Year, g.Aggregate.Count} })
}

// facet reads the groups by a key, those with most books first.
func facet[V any](ctx context.Context, f *BookFacets, by GroupKey, first *int, value func(*BookGroup) V) ([]V, error) {
	limit, err := sizeOf(first)
	if err != nil {
		return nil, err
	}
	groups, err := f.groups(ctx, &Grouping{
		Match: f.match.without(by), By: []GroupKey{by}, Aggregates: RowCount, Order: []GroupOrder{{"count", true}}, Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	values := make([]V, len(groups))
	for i, g := range groups {
		values[i] = value(g)
	}
	return values, nil
}

// maxBounds is how many bounds a facet of ranges may have.
const maxBounds = 100

// Prices counts the books between each two bounds, below the first and above the
// last.
func (f *BookFacets) Prices(ctx context.Context, bounds []Cents) ([]*PriceFacet, error) {
	if len(bounds) == 0 || len(bounds) > maxBounds {
		return nil, badArgument("bounds", fmt.Sprintf("The bounds argument must have 1 to %d amounts.", maxBounds))
	}
	ranges := make([]*PriceFacet, len(bounds)+1)
	for i := range ranges {
		ranges[i] = new(PriceFacet)
	}
	for i := range bounds {
		if i > 0 && bounds[i-1] >= bounds[i] {
			return nil, badArgument(fmt.Sprintf("bounds.%d", i), "Each amount of the bounds argument must be above the one before.")
		}
		ranges[i].To, ranges[i+1].From = &bounds[i], &bounds[i]
	}
	groups, err := f.groups(ctx, &Grouping{
		Match: f.match.without(ByPriceRange), By: []GroupKey{ByPriceRange}, Bounds: bounds, Aggregates: RowCount, Limit: len(ranges),
	})
	for _, g := range groups {
		ranges[g.PriceRange].Count = g.Aggregate.Count
	}
	return ranges, err
}

// without leaves the conditions on the field of a facet out, as far as they
// stand at the top level of the filter.
func (m Match) without(key GroupKey) Match {
	if m.Where == nil {
		return m
	}
	all := &Condition{Op: And}
	for _, c := range m.Where.Of {
		switch {
		case c.Op == Related && (key == ByGenre || key == ByCategory):
			of := slices.DeleteFunc(slices.Clone(c.Of[0].Of), func(part *Condition) bool {
				return (part.Field == "category" || part.Field == "categoryId") == (key == ByCategory)
			})
			if len(of) > 0 {
				all.Of = append(all.Of, &Condition{Op: Related, Field: c.Field, Of: []*Condition{{Op: And, Of: of}}})
			}
		case ownField[key] == "" || c.Field != ownField[key]:
			all.Of = append(all.Of, c)
		}
	}
	m.Where = all
	if len(all.Of) == 0 {
		m.Where = nil
	}
	return m
}

// ownField is the field of the filter that a facet leaves out.
var ownField = map[GroupKey]string{ByGenre: "genreId", ByAuthor: "author", ByYear: "publishedAt", ByPriceRange: "price"}
