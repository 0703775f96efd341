package model

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Facet holds the arguments of a facet.
type Facet struct {
	By     GroupKey
	First  int     // unused for ByPriceRange
	Bounds []Cents // for ByPriceRange
}

// BookFacets counts the books of a list by the values of a field. Each facet is read on demand. The
// errors are BadUserInput for arguments out of bounds.
type BookFacets struct {
	selection Selection
	group     func(context.Context, *Grouping) ([]*BookGroup, error)
}

// PriceFacet is the number of books with a price from From (inclusive) to To (exclusive). Nil means
// no bound.
type PriceFacet struct {
	From, To *Cents
	Count    int
}

// Facets returns the facets of the whole list.
func (c *Connection[T]) Facets() *BookFacets { return &BookFacets{c.page.Selection, c.group} }

// Genres counts the books of each genre.
func (f *BookFacets) Genres(ctx context.Context, first int) ([]*BookGroup, error) {
	return f.Read(ctx, Facet{By: ByGenre, First: first})
}

// Categories counts the books in each category.
func (f *BookFacets) Categories(ctx context.Context, first int) ([]*BookGroup, error) {
	return f.Read(ctx, Facet{By: ByCategory, First: first})
}

// Authors counts the books by each author, whatever the form of the name. Author is the first of Forms.
func (f *BookFacets) Authors(ctx context.Context, first int) ([]*BookGroup, error) {
	return f.Read(ctx, Facet{By: ByPerson, First: first})
}

// Publishers counts the books by each publisher.
func (f *BookFacets) Publishers(ctx context.Context, first int) ([]*BookGroup, error) {
	return f.Read(ctx, Facet{By: ByPublisher, First: first})
}

// Languages counts the books in each language.
func (f *BookFacets) Languages(ctx context.Context, first int) ([]*BookGroup, error) {
	return f.Read(ctx, Facet{By: ByLanguage, First: first})
}

// Years counts the books of each year.
func (f *BookFacets) Years(ctx context.Context, first int) ([]*BookGroup, error) {
	return f.Read(ctx, Facet{By: ByYear, First: first})
}

// Read returns the groups of a facet.
func (f *BookFacets) Read(ctx context.Context, want Facet) ([]*BookGroup, error) {
	g, err := f.selection.facet(want)
	if err != nil {
		return nil, err
	}
	return f.group(ctx, g)
}

// maxBounds is the maximum number of bounds of a facet by price range.
const maxBounds = 100

// Prices counts the books below the first bound, between adjacent bounds, and from the last bound.
func (f *BookFacets) Prices(ctx context.Context, bounds []Cents) ([]*PriceFacet, error) {
	ranges := make([]*PriceFacet, len(bounds)+1)
	for i := range ranges {
		ranges[i] = new(PriceFacet)
	}
	for i := range bounds {
		ranges[i].To, ranges[i+1].From = &bounds[i], &bounds[i]
	}
	groups, err := f.Read(ctx, Facet{By: ByPriceRange, Bounds: bounds})
	for _, g := range groups {
		ranges[g.PriceRange].Count = g.Count
	}
	return ranges, err
}

// Aggregate computes the selected figures over the whole list.
func (c *Connection[T]) Aggregate(ctx context.Context) (*Aggregate, error) {
	return c.AggregateOf(ctx, selectedHere(ctx, SelectedAggregates))
}

// AggregateOf computes the wanted figures over the whole list.
func (c *Connection[T]) AggregateOf(ctx context.Context, wanted Aggregates) (*Aggregate, error) {
	if c.groups == nil {
		wanted &= RowCount
	}
	switch {
	case wanted&^c.figures == 0:
		return new(c.figured), nil
	case wanted == RowCount: // may be in memory
		n, err := c.TotalCount(ctx)
		return &Aggregate{Count: n}, err
	}
	groups, err := c.group(ctx, c.page.aggregate(wanted))
	return new(onlyAggregate(groups)), err
}

// ReadAggregates reads figures and facets over the whole list in one statement, because separate reads
// cost more.
func (c *Connection[T]) ReadAggregates(ctx context.Context, figures Aggregates, facets []Facet) error {
	var groupings []*Grouping
	if c.groups == nil || figures == RowCount { // counts have their own statement
		figures = 0
	}
	if figures != 0 {
		groupings = append(groupings, c.page.aggregate(figures))
	}
	for _, f := range facets {
		g, err := c.page.facet(f)
		if err != nil {
			return err
		}
		groupings = append(groupings, g)
	}
	if len(groupings) == 0 {
		return nil
	}
	groups, err := c.groups(ctx, groupings)
	if err != nil {
		return err
	}
	if figures != 0 {
		c.figures, c.figured = figures, onlyAggregate(groups[0])
	}
	c.known = map[string][]*BookGroup{}
	for i, g := range groupings {
		c.known[g.Key()] = groups[i]
	}
	return nil
}

func (c *Connection[T]) group(ctx context.Context, g *Grouping) ([]*BookGroup, error) {
	if known, ok := c.known[g.Key()]; ok {
		return known, nil
	}
	groups, err := c.groups(ctx, []*Grouping{g})
	if err != nil {
		return nil, err
	}
	return groups[0], nil
}

// onlyAggregate returns the figures of the only group, or zero if there is none, as for a parent
// without rows.
func onlyAggregate(groups []*BookGroup) (a Aggregate) {
	if len(groups) > 0 {
		a = groups[0].Aggregate
	}
	return a
}

// aggregate returns the grouping of all rows into one group.
func (s Selection) aggregate(wanted Aggregates) *Grouping {
	return &Grouping{Selection: s, Aggregates: wanted, Limit: 1}
}

// facet returns the grouping of a facet: largest groups first, price ranges ascending. The error is
// BadUserInput.
func (s Selection) facet(f Facet) (g *Grouping, err error) {
	g = &Grouping{Selection: s.without(f.By), By: []GroupKey{f.By}, Aggregates: RowCount}
	if f.By != ByPriceRange {
		g.Order = []GroupOrder{{"count", true}}
		g.Limit, err = sizeOf("first", &f.First)
		return g, err
	}
	if len(f.Bounds) == 0 || len(f.Bounds) > maxBounds {
		return nil, BadArgument("bounds", "The bounds argument must have 1 to %d amounts.", maxBounds)
	}
	for i := range f.Bounds[1:] {
		if f.Bounds[i] >= f.Bounds[i+1] {
			return nil, BadArgument(fmt.Sprintf("bounds.%d", i+1),
				"Each amount of the bounds argument must be above the one before.")
		}
	}
	g.Bounds, g.Limit = f.Bounds, len(f.Bounds)+1
	return g, nil
}

// without returns s without the conditions on the facet's own field at the top level of the filter.
func (s Selection) without(key GroupKey) Selection {
	if s.Where == nil {
		return s
	}
	all := &Condition{Op: And}
	for _, c := range s.Where.Of {
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
	s.Where = all
	if len(all.Of) == 0 {
		s.Where = nil
	}
	return s
}

// ownField is the filter field that a facet ignores.
var ownField = map[GroupKey]string{
	ByGenre: "genreId", ByPerson: "author", ByYear: "publishedAt", ByPublisher: "publisher", ByLanguage: "language",
	ByPriceRange: "price",
}

// TroubleKind is a kind of troubles, by its value in GraphQL.
type TroubleKind string

// The kinds of pairs. The others have a filter.
const (
	SimilarAuthors    TroubleKind = "SIMILAR_AUTHORS"
	SimilarPublishers TroubleKind = "SIMILAR_PUBLISHERS"
	SimilarGenres     TroubleKind = "SIMILAR_GENRES"
	SameBook          TroubleKind = "SAME_BOOK"
	SameShelfMark     TroubleKind = "SAME_SHELF_MARK"
)

// TroubleKinds are all kinds, in the order of the enum.
var TroubleKinds = []TroubleKind{SimilarAuthors, SimilarPublishers, SimilarGenres, SameBook, SameShelfMark,
	"NO_ISBN", "NO_PUBLISHER", "NO_LANGUAGE", "FUTURE_DATE", "EARLY_DATE", "NO_PRICE", "ONE_PAGE"}

// MaxTroubles is the maximum number of pairs or books of a kind that are listed.
const MaxTroubles = 20

// Filter returns the filter of the books of a kind on a day, or nil for pairs.
func (k TroubleKind) Filter(today string) Filter {
	none := map[string]any{"isNull": true}
	return map[TroubleKind]Filter{
		"NO_ISBN":      {"isbn": none},
		"NO_PUBLISHER": {"publisher": none},
		"NO_LANGUAGE":  {"language": none},
		"FUTURE_DATE":  {"publishedAt": map[string]any{"gt": today}},
		"EARLY_DATE":   {"publishedAt": map[string]any{"lt": "1450-01-01"}},
		"NO_PRICE":     {"price": map[string]any{"eq": "0"}},
		"ONE_PAGE":     {"pages": map[string]any{"eq": 1}},
	}[k]
}

// Today returns the day in UTC.
func Today() string { return time.Now().UTC().Format(time.DateOnly) }

// Trouble has the troubles of a kind: their number, the first pairs, the last pairs that are marked as different, and
// the books of the pairs, or the first books.
type Trouble struct {
	Kind             TroubleKind
	Count            int
	Pairs, Different []TroublePair
	Books            []*Book
}

// TroublePair is a pair of names, or of ids of books. One precedes Other, by bytes.
type TroublePair struct{ One, Other string }

// MarkDifferentInput is the input of markDifferent.
type MarkDifferentInput struct {
	Kind             TroubleKind
	One, Other       string
	Different        bool
	ClientMutationID *string
}

// MarkDifferentPayload is the result of markDifferent.
type MarkDifferentPayload struct {
	Different        bool
	ClientMutationID *string
}

// Validate trims the names and returns the errors of the fields.
func (in *MarkDifferentInput) Validate() (f FieldErrors) {
	if in.Kind.Filter("") != nil {
		f.Add("kind", "The kind must be one of pairs, such as SIMILAR_AUTHORS.")
	}
	f.text("one", &in.One)
	f.text("other", &in.Other)
	return f
}
