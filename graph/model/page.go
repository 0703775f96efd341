package model

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"library-catalogue/graph/model/collate"
)

// Page sizes of a connection.
const (
	DefaultPageSize = 20
	MaxPageSize     = 1_000
)

// Selection is which rows of a type a list has.
type Selection struct {
	Where  *Condition // nil: all
	Search string     // the words to look for; empty: all
}

// All reports whether the list has every row there is.
func (s Selection) All() bool { return s.Where == nil && s.Search == "" }

// Key returns a text that equal selections share, and no others.
func (s Selection) Key() string {
	if s.All() {
		return ""
	}
	return string(strconv.AppendQuote(s.Where.key(nil), s.Search))
}

// Page is a part of a list in its order. The four bounds are nil where there is
// none.
type Page struct {
	Selection      // of the list that this is a page of
	Order          // of the list
	Limit      int // how many rows at most
	Offset     int // how many rows to pass over first
	Projection Projection
	Backward   bool // count Limit and Offset from the end; the rows stay in order
	After      *Position
	From       *Position // as After, but the row at the position is in
	Before     *Position
	Until      *Position // as Before, but the row at the position is in
}

// Key returns a text that equal pages share, and no others, so that equal pages of
// many parents can be fetched together.
func (p *Page) Key() string {
	dst := append([]byte(p.Selection.Key()), ' ')
	dst = p.Order.key(dst)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.Limit), 10)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.Offset), 10)
	dst = strconv.AppendInt(append(dst, ' '), int64(p.Projection), 10)
	dst = strconv.AppendBool(append(dst, ' '), p.Backward)
	for _, bound := range []*Position{p.After, p.From, p.Before, p.Until} {
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

// PageArgs are the arguments of a connection as GraphQL has them.
type PageArgs struct {
	First, Last, Offset *int
	After, Before       *string
	Filter              Filter
	OrderBy             []*OrderBy
	Search              *string
}

// Page checks the arguments of a connection over a type's rows. The error is
// BadUserInput: a page past the bounds is refused, never cut.
func (a PageArgs) Page(typename string) (*Page, error) {
	if a.First != nil && a.Last != nil {
		return nil, badArgument("last", "Give first or last, not both.")
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
	for _, bound := range []struct {
		name     string
		cursor   *string
		position **Position
	}{{"after", a.After, &p.After}, {"before", a.Before, &p.Before}} {
		if bound.cursor == nil {
			continue
		}
		position, ok := order.decodeCursor(typename, *bound.cursor)
		if !ok {
			return nil, badArgument(bound.name, "The "+bound.name+" argument must be a cursor that this list gave.")
		}
		*bound.position = position
	}
	return p, nil
}

// Bounds of a search.
const (
	maxSearchLength = 200 // characters
	maxSearchWords  = 32
)

// ParseSelection checks the arguments that say which rows of a type to take. The
// error is BadUserInput and names the place.
func ParseSelection(typename string, filter Filter, search *string) (Selection, error) {
	where, err := parseFilter(typename, filter)
	if err != nil || search == nil {
		return Selection{Where: where}, err
	}
	text := strings.TrimSpace(*search)
	switch {
	case !utf8.ValidString(text), strings.ContainsRune(text, 0):
		return Selection{}, badArgument("search", "The search argument must be UTF-8 without the character NUL.")
	case utf8.RuneCountInString(text) > maxSearchLength:
		return Selection{}, badArgument("search", fmt.Sprintf("The search argument must not have more than %d characters.", maxSearchLength))
	case len(collate.Words(text)) > maxSearchWords:
		return Selection{}, badArgument("search", fmt.Sprintf("The search argument must not have more than %d words.", maxSearchWords))
	}
	return Selection{Where: where, Search: text}, nil
}

// sizeOf checks how many rows, or groups, to take, given by an argument.
func sizeOf(name string, size *int) (int, error) {
	switch {
	case size == nil:
		return DefaultPageSize, nil
	case *size < 0 || *size > MaxPageSize:
		return 0, badArgument(name, "The "+name+" argument must be between 0 and 1000.")
	}
	return *size, nil
}

// offsetOf checks how many rows, or groups, to pass over.
func offsetOf(offset *int) (int, error) {
	switch {
	case offset == nil:
		return 0, nil
	case *offset < 0:
		return 0, badArgument("offset", "The offset argument must be at least 0.")
	}
	return *offset, nil
}

func badArgument(name, message string) error {
	return FieldErrors{{Field: name, Message: message}}.Err()
}

// Node is a row with a global id.
type Node interface {
	RowID() ID
	NodeID() string
	// OrderKeys returns the keys of the ordering in which a list returned the row,
	// each as AppendKey writes it; none in order of id.
	OrderKeys() string
}

// Ordered is the part of a row that a list sets.
type Ordered struct {
	Keys string `db:"-"` // as Node's OrderKeys says
}

// OrderKeys implements Node.
func (o *Ordered) OrderKeys() string { return o.Keys }

// Connection is one page of a list (Relay's GraphQL Cursor Connections
// Specification). Nothing is read before it is asked for.
type Connection[T Node] struct {
	// Correct returns the text that is searched for in place of another; nil where it is not corrected.
	Correct func(context.Context, string) (*string, error)

	typename string
	page     *Page
	load     func(context.Context, *Page) ([]T, error)
	count    func(context.Context, Selection) (int, error)
	groups   Groups                  // nil but for books
	known    map[string][]*BookGroup // what Prefetch read, by the groupings' keys
	figures  Aggregates              // those of aggregate that Prefetch read
	figured  Aggregate

	projection Projection
	exact      bool // read no row beyond the page
	mu         sync.Mutex
	read       bool
	nodes      []T
	more       bool // whether a row follows the page, in the direction it was read
	err        error
}

// NewConnection makes a connection over rows of a type: load reads a page of
// the list in its order, count the length of the whole list. groups, which only
// books have, puts its rows in groups.
func NewConnection[T Node](typename string, page *Page,
	load func(context.Context, *Page) ([]T, error),
	count func(context.Context, Selection) (int, error),
	groups Groups,
) *Connection[T] {
	return &Connection[T]{typename: typename, page: page, load: load, count: count, groups: groups}
}

// Project limits, before any row is read, the fields on demand to those of a
// projection; the others then have no value. pageInfo is whether PageInfo will be
// asked for. Without Project all fields are read.
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
	c.read, c.err = true, errors.New("the page could not be read") // for the others, where load panics
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

// Cursor says where a row of the page stands.
func (c *Connection[T]) Cursor(row T) string { return c.page.encodeCursor(c.typename, row) }

// TotalCount counts the whole list.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) {
	if c.figures&RowCount != 0 {
		return c.figured.Count, nil
	}
	return c.count(ctx, c.page.Selection)
}

// Correction returns what was searched for in place of the list's search; nil where
// that was, or there is none.
func (c *Connection[T]) Correction(ctx context.Context) (*string, error) {
	if c.page.Search == "" {
		return nil, nil
	}
	return c.Correct(ctx, c.page.Search)
}

// PageInfo reads the page and says where it stands.
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

// hasNextPage and hasPreviousPage are called after Nodes. Where the page does
// not tell, they look for one row beyond it, at a place that is the same in the
// lists of all parents, so that these can be read together.

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

// Cursor says where the row stands.
func (e *Edge[T]) Cursor() string { return e.connection.Cursor(e.Node) }

// PageInfo says where a page stands in its list.
type PageInfo struct {
	StartCursor, EndCursor *string // null where the page is empty
	hasNext, hasPrevious   func(context.Context) (bool, error)
}

// HasNextPage reports whether anything follows the page; it may cost a statement.
func (p *PageInfo) HasNextPage(ctx context.Context) (bool, error) { return p.hasNext(ctx) }

// HasPreviousPage reports whether anything comes before the page; it may cost a
// statement.
func (p *PageInfo) HasPreviousPage(ctx context.Context) (bool, error) { return p.hasPrevious(ctx) }
