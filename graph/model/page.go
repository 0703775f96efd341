package model

import (
	"context"
	"errors"
	"strconv"
	"sync"
)

// Page is a part of a list. Its bounds are nil if there are none.
type Page struct {
	Selection      // rows of the list
	Order          // order of the list
	Limit      int // maximum number of rows
	Offset     int // number of rows to skip
	Projection Projection
	Backward   bool // count Limit and Offset from the end; the rows stay in order
	After      *Place
	From       *Place // like After, but inclusive
	Before     *Place
	Until      *Place // like Before, but inclusive
}

// Key returns a text that identifies the page, so that equal pages of several parents share a
// statement.
func (p *Page) Key() string {
	dst := append([]byte(p.Selection.Key()), ' ')
	dst = p.Order.key(dst)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.Limit), 10)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.Offset), 10)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.Projection), 10)
	dst = strconv.AppendBool(append(dst, ' '), p.Backward)
	for _, bound := range []*Place{p.After, p.From, p.Before, p.Until} {
		dst = append(dst, ' ')
		if bound != nil {
			for _, key := range bound.Keys {
				dst = AppendKey(dst, key)
			}
			dst = strconv.AppendInt(dst, int64(bound.ID), 10)
		}
	}
	return string(dst)
}

// PageArgs are the arguments of a connection in GraphQL.
type PageArgs struct {
	First, Last, Offset *int
	After, Before       *string
	Filter              Filter
	OrderBy             []*OrderBy
	Search              *string
}

// Page checks the arguments of a connection over a type. The error is BadUserInput. Sizes above the
// maximum are refused, not reduced.
func (a PageArgs) Page(typename string) (*Page, error) {
	if a.First != nil && a.Last != nil {
		return nil, BadArgument("last", "Give first or last, not both.")
	}
	selection, err := ParseSelection(typename, a.Filter, a.Search)
	if err != nil {
		return nil, err
	}
	order, err := parseOrder(typename, a.OrderBy, selection.Search != "")
	if err != nil {
		return nil, err
	}
	p := &Page{Selection: selection, Order: order, Backward: a.Last != nil}
	name, size := "first", a.First
	if a.Last != nil {
		name, size = "last", a.Last
	}
	if p.Limit, err = sizeOf(name, size); err != nil {
		return nil, err
	}
	if p.Offset, err = offsetOf(a.Offset); err != nil {
		return nil, err
	}
	if p.After, err = order.bound(typename, "after", a.After); err != nil {
		return nil, err
	}
	p.Before, err = order.bound(typename, "before", a.Before)
	return p, err
}

// bound returns the place of a cursor in an argument, nil if there is none.
func (o *Order) bound(typename, argument string, cursor *string) (*Place, error) {
	if cursor == nil {
		return nil, nil
	}
	place, ok := o.decodeCursor(typename, *cursor)
	if !ok {
		return nil, BadArgument(argument, "The %s argument must be a cursor that this list gave.", argument)
	}
	return place, nil
}

// Connection is a page of a list (Relay's GraphQL Cursor Connections Specification). It reads on
// demand.
type Connection[T Node] struct {
	// Correct returns the corrected search, or nil.
	Correct func(context.Context, string) (*string, error)

	typename string
	page     *Page
	load     func(context.Context, *Page) ([]T, error)
	count    func(context.Context, Selection) (int, error)
	groups   Groups                  // nil except for books
	known    map[string][]*BookGroup // results of ReadAggregates by the groupings' keys
	figures  Aggregates              // figures that ReadAggregates read
	figured  Aggregate

	projection Projection
	exact      bool // do not read a row beyond the page
	mu         sync.Mutex
	read       bool
	nodes      []T
	more       bool // a row follows the page in read direction
	err        error
}

// NewConnection returns a connection over rows of a type. load reads a page, count counts the list,
// and groups, for books only, groups its rows.
func NewConnection[T Node](typename string, page *Page,
	load func(context.Context, *Page) ([]T, error),
	count func(context.Context, Selection) (int, error),
	groups Groups,
) *Connection[T] {
	return &Connection[T]{typename: typename, page: page, load: load, count: count, groups: groups}
}

// Project limits the on-demand fields to a projection before rows are read. pageInfo reports
// whether PageInfo is selected. By default all fields are read.
func (c *Connection[T]) Project(projection Projection, pageInfo bool) {
	c.projection, c.exact = projection, !pageInfo
}

// Nodes reads the rows of the page.
func (c *Connection[T]) Nodes(ctx context.Context) ([]T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read {
		return c.nodes, c.err
	}
	c.read, c.err = true, errors.New("the page could not be read") // for other callers if load panics
	page := *c.page
	page.Projection = c.projection
	if !c.exact {
		page.Limit++
	}
	nodes, err := c.load(ctx, &page)
	if c.more = len(nodes) > c.page.Limit; c.more {
		if c.page.Backward {
			nodes = nodes[1:]
		} else {
			nodes = nodes[:c.page.Limit]
		}
	}
	c.nodes, c.err = nodes, err
	return c.nodes, c.err
}

// Edges reads the rows of the page with their cursors.
func (c *Connection[T]) Edges(ctx context.Context) ([]*Edge[T], error) {
	nodes, err := c.Nodes(ctx)
	edges := make([]*Edge[T], len(nodes))
	for i, node := range nodes {
		edges[i] = &Edge[T]{connection: c, Node: node}
	}
	return edges, err
}

// Cursor returns the cursor of a row.
func (c *Connection[T]) Cursor(row T) string { return c.page.encodeCursor(c.typename, row) }

// TotalCount counts the whole list.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) {
	if c.figures&RowCount != 0 {
		return c.figured.Count, nil
	}
	return c.count(ctx, c.page.Selection)
}

// Correction returns the corrected search, or nil if it was not corrected.
func (c *Connection[T]) Correction(ctx context.Context) (*string, error) {
	if c.page.Search == "" {
		return nil, nil
	}
	return c.Correct(ctx, c.page.Search)
}

// PageInfo reads the page and returns where it is in its list.
func (c *Connection[T]) PageInfo(ctx context.Context) (*PageInfo, error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	info := &PageInfo{hasNext: c.hasNextPage, hasPrevious: c.hasPreviousPage}
	if len(nodes) > 0 {
		first, last := c.Cursor(nodes[0]), c.Cursor(nodes[len(nodes)-1])
		info.StartCursor, info.EndCursor = &first, &last
	}
	return info, nil
}

// hasNextPage and hasPreviousPage run after Nodes. If the page does not tell, they look for a row
// beyond it, at a place common to all parents, so that these share a statement.

func (c *Connection[T]) hasNextPage(ctx context.Context) (bool, error) {
	p := c.page
	passed := p.Backward && p.Offset > 0 // some of the list's end, or all there is
	switch {
	case !p.Backward && c.more, passed && (c.more || len(c.nodes) > 0):
		return true, nil
	case passed:
		return c.any(ctx, Page{After: p.After})
	case p.Before == nil:
		return false, nil
	}
	return c.any(ctx, Page{After: p.After, From: p.Before})
}

func (c *Connection[T]) hasPreviousPage(ctx context.Context) (bool, error) {
	p := c.page
	passed := !p.Backward && p.Offset > 0
	switch {
	case p.Backward && c.more, passed && (c.more || len(c.nodes) > 0):
		return true, nil
	case passed && (p.Before == nil || p.After == nil || p.compare(p.Before, p.After) > 0):
		return c.any(ctx, Page{Before: p.Before, Backward: true})
	case p.After == nil:
		return false, nil
	}
	return c.any(ctx, Page{Until: p.After, Backward: true})
}

// any reports whether the list has a row within the bounds of p.
func (c *Connection[T]) any(ctx context.Context, p Page) (bool, error) {
	p.Selection, p.Order, p.Limit = c.page.Selection, c.page.Order, 1
	p.Projection = c.projection
	rows, err := c.load(ctx, &p)
	return len(rows) > 0, err
}

// Edge is a row in a list.
type Edge[T Node] struct {
	connection *Connection[T]
	Node       T
}

// Cursor returns the cursor of the row.
func (e *Edge[T]) Cursor() string { return e.connection.Cursor(e.Node) }

// PageInfo says where a page is in its list.
type PageInfo struct {
	StartCursor, EndCursor *string // nil for an empty page
	hasNext, hasPrevious   func(context.Context) (bool, error)
}

// HasNextPage reports whether rows follow the page. It may run a statement.
func (p *PageInfo) HasNextPage(ctx context.Context) (bool, error) { return p.hasNext(ctx) }

// HasPreviousPage reports whether rows precede the page. It may run a statement.
func (p *PageInfo) HasPreviousPage(ctx context.Context) (bool, error) { return p.hasPrevious(ctx) }

// The lists of each type.
type (
	BookConnection     = Connection[*Book]
	GenreConnection    = Connection[*Genre]
	CategoryConnection = Connection[*Category]

	BookEdge     = Edge[*Book]
	GenreEdge    = Edge[*Genre]
	CategoryEdge = Edge[*Category]
)
