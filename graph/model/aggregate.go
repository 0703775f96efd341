package model

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Aggregates is a set of figures over rows.
type Aggregates uint16

// The figures over books.
const (
	RowCount Aggregates = 1 << iota
	PriceMin
	PriceMax
	PriceAvg
	PriceSum
	PagesMin
	PagesMax
	PagesAvg
	PagesSum
	PublishedAtMin
	PublishedAtMax
	noMoreAggregates
)

const allAggregates = noMoreAggregates - 1

// figure is one of Aggregates by its names.
type figure struct {
	bit   Aggregates
	path  string // in an aggregate, and in the having argument
	order string // in an ordering of groups
	kind  Kind
}

var figures = []figure{
	{RowCount, "count", "COUNT", KindInt},
	{PriceMin, "price.min", "PRICE_MIN", KindCents},
	{PriceMax, "price.max", "PRICE_MAX", KindCents},
	{PriceAvg, "price.avg", "PRICE_AVG", KindCents},
	{PriceSum, "price.sum", "PRICE_SUM", KindCents},
	{PagesMin, "pages.min", "PAGES_MIN", KindInt},
	{PagesMax, "pages.max", "PAGES_MAX", KindInt},
	{PagesAvg, "pages.avg", "PAGES_AVG", KindCents},
	{PagesSum, "pages.sum", "PAGES_SUM", KindBigInt},
	{PublishedAtMin, "publishedAt.min", "PUBLISHED_AT_MIN", KindDate},
	{PublishedAtMax, "publishedAt.max", "PUBLISHED_AT_MAX", KindDate},
}

// Aggregate holds figures over rows; those that were not asked for are zero, or
// nil. Genres and categories have Count alone.
type Aggregate struct {
	Count       int
	Price       DecimalAggregate
	Pages       IntAggregate
	PublishedAt DateAggregate
}

// DecimalAggregate holds figures over amounts: nil over none, but for Sum.
type DecimalAggregate struct {
	Min, Max *Cents
	Avg      *Cents // rounded half up
	Sum      Cents
}

// IntAggregate holds figures over integers: nil over none, but for Sum.
type IntAggregate struct {
	Min, Max *int
	Avg      *Cents // in hundredths, rounded half up
	Sum      BigInt
}

// DateAggregate holds figures over days: nil over none.
type DateAggregate struct{ Min, Max *Date }

// aggregateTypes are the types of the schema that a selection of figures may name.
var aggregateTypes = []string{
	"BookAggregate", "GenreAggregate", "CategoryAggregate", "DecimalAggregate", "IntAggregate", "DateAggregate",
}

// SelectedAggregates gives the figures that are selected of an aggregate.
func SelectedAggregates(operation *graphql.OperationContext, selected ast.SelectionSet) (a Aggregates) {
	for _, field := range graphql.CollectFields(operation, selected, aggregateTypes) {
		paths := []string{field.Name}
		for _, part := range graphql.CollectFields(operation, field.Selections, aggregateTypes) {
			paths = append(paths, field.Name+"."+part.Name)
		}
		for _, path := range paths {
			for _, f := range figures {
				if f.path == path {
					a |= f.bit
				}
			}
		}
	}
	return a
}

// SelectedOfGroups gives the figures that are selected of groups of books.
func SelectedOfGroups(operation *graphql.OperationContext, selected ast.SelectionSet) (a Aggregates) {
	for _, field := range graphql.CollectFields(operation, selected, []string{"BookGroup"}) {
		if field.Name == "aggregate" {
			a |= SelectedAggregates(operation, field.Selections)
		}
	}
	return a
}

// selectedHere asks one of these about the field that is being resolved. Where
// no field is, all figures are asked for.
func selectedHere(ctx context.Context, selected func(*graphql.OperationContext, ast.SelectionSet) Aggregates) Aggregates {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) {
		return allAggregates
	}
	return selected(graphql.GetOperationContext(ctx), field.Field.Selections)
}

// Aggregate computes figures over the whole list: those that the field being
// resolved selects.
func (c *Connection[T]) Aggregate(ctx context.Context) (*Aggregate, error) {
	return c.AggregateOf(ctx, selectedHere(ctx, SelectedAggregates))
}

// AggregateOf computes these figures over the whole list.
func (c *Connection[T]) AggregateOf(ctx context.Context, wanted Aggregates) (*Aggregate, error) {
	if c.groups == nil {
		wanted &= RowCount
	}
	switch wanted {
	case 0:
		return new(Aggregate), nil
	case RowCount: // it may be known already
		n, err := c.TotalCount(ctx)
		return &Aggregate{Count: n}, err
	}
	groups, err := c.groups(ctx, &Grouping{Match: c.page.Match, Aggregates: wanted, Limit: 1})
	if err != nil || len(groups) == 0 { // a parent without any
		return new(Aggregate), err
	}
	return &groups[0].Aggregate, nil
}
