package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// GroupKey is a key that rows are grouped by.
type GroupKey string

// The keys of groups of books.
const (
	ByGenre      GroupKey = "GENRE"
	ByCategory   GroupKey = "CATEGORY"
	ByAuthor     GroupKey = "AUTHOR"
	ByYear       GroupKey = "YEAR"
	ByPriceRange GroupKey = "PRICE_RANGE" // between Bounds; only for facets
)

var groupKeys = []GroupKey{ByGenre, ByCategory, ByAuthor, ByYear}

// Grouping puts the books of a list in groups. Without keys they are one group,
// also where there is none.
type Grouping struct {
	Selection
	By         []GroupKey
	Bounds     []Cents    // of ByPriceRange, ascending
	Aggregates Aggregates // what is wanted of each group, and what Having and Order name
	Having     *Condition // on the figures, by their paths in an aggregate; nil: all groups
	Order      []GroupOrder
	Limit      int
	Offset     int
}

// GroupOrder is one key of an ordering of groups: a figure by its path in an
// aggregate, or a GroupKey. Genres and categories are in order of their names.
type GroupOrder struct {
	Field      string
	Descending bool
}

// Key returns a text that equal groupings share, and no others.
func (g *Grouping) Key() string {
	return fmt.Sprintf("%s %v %v %d %s %v %d %d", g.Selection.Key(), g.By, g.Bounds, g.Aggregates, g.Having.key(nil), g.Order, g.Limit, g.Offset)
}

// BookGroup is a group of books. A key that they are not grouped by is zero, or
// nil.
type BookGroup struct {
	GenreID, CategoryID ID
	Author              *string
	Year                *int
	PriceRange          int // the number of Bounds that are not above the prices
	Aggregate           Aggregate
}

// Groups returns the groups of books by each of some groupings, in their order.
type Groups func(context.Context, []*Grouping) ([][]*BookGroup, error)

// GroupArgs are the arguments of bookGroups as GraphQL has them.
type GroupArgs struct {
	By            []string
	Filter        Filter
	Search        *string
	Having        Filter
	OrderBy       []*OrderBy
	First, Offset *int
}

// SelectedGroups returns the figures that the field being resolved selects of
// groups.
func SelectedGroups(ctx context.Context) Aggregates { return selectedHere(ctx, selectedOfGroups) }

// Grouping checks the arguments, of groups of which some figures are wanted. The
// error is BadUserInput.
func (a GroupArgs) Grouping(wanted Aggregates) (*Grouping, error) {
	g := &Grouping{Aggregates: wanted}
	for i, by := range a.By {
		path := "by." + strconv.Itoa(i)
		switch key := GroupKey(by); {
		case !slices.Contains(groupKeys, key):
			return nil, badArgument(path, "There is no key "+by+" to group by.")
		case slices.Contains(g.By, key):
			return nil, badArgument(path, "The key "+by+" is given twice.")
		default:
			g.By = append(g.By, key)
		}
	}
	if len(g.By) == 0 {
		return nil, badArgument("by", "The by argument must name at least one key.")
	}
	var err error
	if g.Selection, err = ParseSelection("Book", a.Filter, a.Search); err != nil {
		return nil, err
	}
	if err = g.parseHaving(a.Having); err != nil {
		return nil, err
	}
	if err = g.parseOrder(a.OrderBy); err != nil {
		return nil, err
	}
	if g.Limit, err = sizeOf("first", a.First); err != nil {
		return nil, err
	}
	g.Offset, err = offsetOf(a.Offset)
	return g, err
}

// parseHaving makes a condition of a having argument. Figures of one field stand
// below it: {count: {…}, price: {min: {…}}}.
func (g *Grouping) parseHaving(having Filter) error {
	if len(having) == 0 {
		return nil
	}
	p := filterParser{}
	all := &Condition{Op: And}
	for _, field := range slices.Sorted(maps.Keys(having)) {
		operators := map[string]any{field: having[field]}
		if field != "count" {
			operators = map[string]any{}
			parts, _ := having[field].(map[string]any)
			if parts == nil {
				p.refuse("having."+field, "The %s condition must not be null.")
			}
			for part, value := range parts {
				operators[field+"."+part] = value
			}
		}
		for _, path := range slices.Sorted(maps.Keys(operators)) {
			i := slices.IndexFunc(figures, func(f figure) bool { return f.path == path })
			if i < 0 {
				p.refuse("having."+path, "There is no figure %s.")
				continue
			}
			g.Aggregates |= figures[i].bit
			all.Of = append(all.Of, p.operators(path, figures[i].kind, operators[path], "having."+path))
		}
	}
	if p.conditions > maxConditions {
		return badArgument("having", fmt.Sprintf("The having argument must not have more than %d conditions.", maxConditions))
	}
	g.Having = all
	return p.problems.Err()
}

func (g *Grouping) parseOrder(orderBy []*OrderBy) error {
	if len(orderBy) == 0 {
		orderBy = []*OrderBy{{Field: "COUNT", Direction: "DESC"}}
	}
	used := map[string]bool{}
	for i, by := range orderBy {
		path := "orderBy." + strconv.Itoa(i) + ".field"
		if used[by.Field] {
			return badArgument(path, "The field "+by.Field+" is given twice.")
		}
		used[by.Field] = true
		name := ""
		for _, f := range figures {
			if f.order == by.Field {
				name = f.path
				g.Aggregates |= f.bit
			}
		}
		switch key := GroupKey(by.Field); {
		case slices.Contains(g.By, key):
			name = by.Field
		case slices.Contains(groupKeys, key):
			return badArgument(path, "To order by "+by.Field+", group by it.")
		case name == "":
			return badArgument(path, "There is no field "+by.Field+" to order by.")
		}
		g.Order = append(g.Order, GroupOrder{name, strings.EqualFold(by.Direction, "DESC")})
	}
	return nil
}
