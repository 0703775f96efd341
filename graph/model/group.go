package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// GroupKey is a grouping key.
type GroupKey string

// The grouping keys of books.
const (
	ByGenre      GroupKey = "GENRE"
	ByCategory   GroupKey = "CATEGORY"
	ByAuthor     GroupKey = "AUTHOR"
	ByYear       GroupKey = "YEAR"
	ByPerson     GroupKey = "PERSON"      // only for facets, like those below: ByAuthor by identity (author.Identity)
	ByPublisher  GroupKey = "PUBLISHER"   // books without one are in no group
	ByLanguage   GroupKey = "LANGUAGE"    // as ByPublisher
	ByPriceRange GroupKey = "PRICE_RANGE" // ranges between Bounds
)

var groupKeys = []GroupKey{ByGenre, ByCategory, ByAuthor, ByYear}

// Grouping puts the books of a list in groups. Without keys there is one group, which may be empty.
type Grouping struct {
	Selection
	By         []GroupKey
	Bounds     []Cents    // for ByPriceRange, ascending
	Aggregates Aggregates // selected figures, and the figures in Having and Order
	Having     *Condition // on figures, by their paths; nil matches all groups
	Order      []GroupOrder
	Limit      int
	Offset     int
	OnlyCount  bool // return one group, whose Count is the number of groups; Aggregates are those in Having
}

// GroupOrder is a sort field of groups: the path of a figure in an aggregate, or a GroupKey. Genres
// and categories sort by name.
type GroupOrder struct {
	Field      string
	Descending bool
}

// Key returns a text that identifies the grouping.
func (g *Grouping) Key() string {
	return fmt.Sprintf("%s %v %v %d %s %v %d %d %t", g.Selection.Key(), g.By, g.Bounds, g.Aggregates, g.Having.key(nil),
		g.Order, g.Limit, g.Offset, g.OnlyCount)
}

// BookGroup is a group of books, or a value of a facet. Keys that are not in the grouping are zero or nil.
type BookGroup struct {
	GenreID, CategoryID ID
	Author              *string
	Forms               []string // for ByPerson: the texts of the author, most books first
	Publisher, Language *string
	Year                *int
	PriceRange          int // number of Bounds up to the prices
	Aggregate
}

// Groups returns the groups of each grouping.
type Groups func(context.Context, []*Grouping) ([][]*BookGroup, error)

// GroupArgs are the arguments of bookGroups in GraphQL.
type GroupArgs struct {
	By            []string
	Filter        Filter
	Search        *string
	Having        Filter
	OrderBy       []*OrderBy
	First, Offset int
}

// BookGroupPage is a page of groups of books. It reads on demand.
type BookGroupPage struct {
	limit, offset int
	read, count   func() ([]*BookGroup, error) // the page and one more group; the count of all groups
}

// OffsetPageInfo says where a page of groups is in its list.
type OffsetPageInfo struct{ HasNextPage, HasPreviousPage bool }

// Page checks the arguments of the current field and returns the page, which groups reads. The error
// is BadUserInput.
func (a GroupArgs) Page(ctx context.Context, groups Groups) (*BookGroupPage, error) {
	g, err := a.grouping()
	if err != nil {
		return nil, err
	}
	read := func(g Grouping) func() ([]*BookGroup, error) {
		return sync.OnceValues(func() ([]*BookGroup, error) {
			all, err := groups(ctx, []*Grouping{&g})
			if err != nil {
				return nil, err
			}
			return all[0], nil
		})
	}
	total, page := *g, *g
	total.OnlyCount, total.Limit, total.Offset = true, 1, 0
	if err = page.parseOrder(a.OrderBy); err != nil {
		return nil, err
	}
	page.Aggregates |= selectedHere(ctx, selectedOfGroups)
	page.Limit++ // to know whether groups follow
	return &BookGroupPage{g.Limit, g.Offset, read(page), read(total)}, nil
}

// Nodes reads the groups of the page.
func (p *BookGroupPage) Nodes() ([]*BookGroup, error) {
	groups, err := p.read()
	return groups[:min(len(groups), p.limit)], err
}

// PageInfo reads the page, and the number of all groups if the page is empty after an offset.
func (p *BookGroupPage) PageInfo() (*OffsetPageInfo, error) {
	groups, err := p.read()
	precedes := p.offset > 0
	if err == nil && precedes && len(groups) == 0 {
		var all int
		all, err = p.TotalCount()
		precedes = all > 0
	}
	return &OffsetPageInfo{HasNextPage: len(groups) > p.limit, HasPreviousPage: precedes}, err
}

// TotalCount counts all groups.
func (p *BookGroupPage) TotalCount() (int, error) {
	groups, err := p.count()
	return onlyAggregate(groups).Count, err
}

// grouping returns the checked arguments without the order, with the figures in having.
func (a GroupArgs) grouping() (*Grouping, error) {
	g := &Grouping{Aggregates: RowCount}
	for i, by := range a.By {
		path := "by." + strconv.Itoa(i)
		switch key := GroupKey(by); {
		case !slices.Contains(groupKeys, key):
			return nil, BadArgument(path, "There is no key %s to group by.", by)
		case slices.Contains(g.By, key):
			return nil, BadArgument(path, "The key %s is given twice.", by)
		default:
			g.By = append(g.By, key)
		}
	}
	if len(g.By) == 0 {
		return nil, BadArgument("by", "The by argument must name at least one key.")
	}
	var err error
	if g.Selection, err = ParseSelection("Book", a.Filter, a.Search); err != nil {
		return nil, err
	}
	if err = g.parseHaving(a.Having); err != nil {
		return nil, err
	}
	if g.Limit, err = sizeOf("first", &a.First); err != nil {
		return nil, err
	}
	g.Offset, err = offsetOf(&a.Offset)
	return g, err
}

// parseHaving returns the condition of a having argument: {count: {…}, price: {min: {…}}}.
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
			all.Of = append(all.Of,
				p.operators(&FieldInfo{Name: path, Kind: figures[i].kind}, operators[path], "having."+path))
		}
	}
	if p.conditions > maxConditions {
		return BadArgument("having", "The having argument must not have more than %d conditions.", maxConditions)
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
			return BadArgument(path, "The field %s is given twice.", by.Field)
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
			return BadArgument(path, "To order by %s, group by it.", by.Field)
		case name == "":
			return BadArgument(path, "There is no field %s to order by.", by.Field)
		}
		g.Order = append(g.Order, GroupOrder{name, strings.EqualFold(by.Direction, "DESC")})
	}
	return nil
}

// Aggregates is a set of figures.
type Aggregates uint16

// The figures of books.
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

// figure describes one of Aggregates.
type figure struct {
	bit   Aggregates
	path  string // in an aggregate and in the having argument
	order string // in orderBy of groups
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

// Aggregate holds figures over rows. Figures that were not requested are zero or nil. Genres and
// categories have only Count.
type Aggregate struct {
	Count       int
	Price       DecimalAggregate
	Pages       IntAggregate
	PublishedAt DateAggregate
}

// DecimalAggregate holds figures over amounts. Without rows all but Sum are nil.
type DecimalAggregate struct {
	Min, Max *Cents
	Avg      *Cents // rounded half up
	Sum      Cents
}

// IntAggregate holds figures over integers. Without rows all but Sum are nil.
type IntAggregate struct {
	Min, Max *int
	Avg      *Cents // in hundredths, rounded half up
	Sum      BigInt
}

// DateAggregate holds figures over dates. Without rows they are nil.
type DateAggregate struct{ Min, Max *Date }

// aggregateTypes are the types of the schema with figures.
var aggregateTypes = []string{
	"BookAggregate", "GenreAggregate", "CategoryAggregate", "DecimalAggregate", "IntAggregate", "DateAggregate",
}

// SelectedAggregates returns the selected figures of an aggregate.
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

// selectedOfGroups returns the selected figures of a page of groups.
func selectedOfGroups(operation *graphql.OperationContext, selected ast.SelectionSet) (a Aggregates) {
	for _, field := range graphql.CollectFields(operation, selected, []string{"BookGroupPage", "BookGroup"}) {
		switch field.Name {
		case "nodes":
			a |= selectedOfGroups(operation, field.Selections)
		case "aggregate":
			a |= SelectedAggregates(operation, field.Selections)
		}
	}
	return a
}

// selectedHere applies selected to the field that is being resolved. Outside a resolver it returns
// all figures.
func selectedHere(
	ctx context.Context, selected func(*graphql.OperationContext, ast.SelectionSet) Aggregates,
) Aggregates {
	field := graphql.GetFieldContext(ctx)
	if field == nil || !graphql.HasOperationContext(ctx) {
		return allAggregates
	}
	return selected(graphql.GetOperationContext(ctx), field.Field.Selections)
}
