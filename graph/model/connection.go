package model

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"sync"
)

// Page sizes of a connection.
const (
	defaultPageSize = 20
	MaxPageSize     = 1_000
)

// Page is a part of a list that is in order of id. It is comparable, so that
// equal pages of many parents can be fetched together.
type Page struct {
	Range         // of the list that this is a page of
	Limit    int  // how many rows at most
	Offset   int  // how many rows to pass over first
	After    ID   // only ids above it; 0: no bound
	Before   ID   // only ids below it; 0: no bound
	Backward bool // count Limit and Offset from the end; the rows stay in order of id
}

// PageArgs are the arguments of a connection as GraphQL gives them.
type PageArgs struct {
	First, Last, Offset *int
	After, Before       *string
	Filter              *Filter
}

// Page checks the arguments of a connection over a type's rows. The error is
// BadUserInput: a page past the bounds is refused, never cut.
func (a PageArgs) Page(typename string) (Page, error) {
	if a.First != nil && a.Last != nil {
		return Page{}, badArgument("last", "Give first or last, not both.")
	}
	ids, err := a.Filter.ids()
	if err != nil {
		return Page{}, err
	}
	p := Page{Range: ids, Limit: defaultPageSize, Backward: a.Last != nil}
	for _, size := range []struct {
		name  string
		value *int
	}{{"first", a.First}, {"last", a.Last}} {
		if size.value == nil {
			continue
		}
		if *size.value < 0 || *size.value > MaxPageSize {
			return Page{}, badArgument(size.name, "The "+size.name+" argument must be between 0 and 1000.")
		}
		p.Limit = *size.value
	}
	if a.Offset != nil {
		if p.Offset = *a.Offset; p.Offset < 0 {
			return Page{}, badArgument("offset", "The offset argument must be at least 0.")
		}
	}
	for _, bound := range []struct {
		name   string
		cursor *string
		id     *ID
	}{{"after", a.After, &p.After}, {"before", a.Before, &p.Before}} {
		if bound.cursor == nil {
			continue
		}
		id, ok := decodeCursor(typename, *bound.cursor)
		if !ok {
			return Page{}, badArgument(bound.name, "The "+bound.name+" argument must be a cursor that this list gave.")
		}
		*bound.id = id
	}
	return p, nil
}

func badArgument(name, message string) error {
	return FieldErrors{{Field: name, Message: message}}.Err()
}

// A cursor is base64url of four bytes that say which ordering of which type it
// belongs to, and the row's number as a varint.

func encodeCursor(typename string, id ID) string {
	return base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(orderingHash(typename), uint64(id)))
}

func decodeCursor(typename, cursor string) (ID, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < 5 {
		return 0, false
	}
	id, _ := binary.Uvarint(raw[4:])
	// There is one spelling of a cursor, and it is ours.
	return ID(id), ID(id) > 0 && encodeCursor(typename, ID(id)) == cursor
}

func orderingHash(typename string) []byte {
	h := fnv.New32a()
	h.Write([]byte(typename + " by id"))
	return h.Sum(nil)
}

// Node is a row with a global id.
type Node interface {
	IsNode()
	RowID() ID
	NodeID() string
}

// Connection is one page of a list (Relay's GraphQL Cursor Connections
// Specification). Nothing is read before it is asked for.
type Connection[T Node] struct {
	typename string
	page     Page
	load     func(context.Context, Page) ([]T, error)
	count    func(context.Context, Range) (int, error)

	once  sync.Once
	nodes []T
	more  bool // whether a row follows the page, in the direction it was read
	err   error
}

// NewConnection makes a connection over rows of a type: load reads a page of
// the list in order of id, count the length of the whole list.
func NewConnection[T Node](typename string, args PageArgs,
	load func(context.Context, Page) ([]T, error),
	count func(context.Context, Range) (int, error),
) (*Connection[T], error) {
	page, err := args.Page(typename)
	if err != nil {
		return nil, err
	}
	return &Connection[T]{typename: typename, page: page, load: load, count: count}, nil
}

// Nodes reads the rows of the page.
func (c *Connection[T]) Nodes(ctx context.Context) ([]T, error) {
	c.once.Do(func() {
		c.err = errors.New("the page could not be read") // for the others, where load panics
		ahead := c.page
		ahead.Limit++
		nodes, err := c.load(ctx, ahead)
		if c.more = len(nodes) == ahead.Limit; c.more {
			if c.page.Backward {
				nodes = nodes[1:]
			} else {
				nodes = nodes[:c.page.Limit]
			}
		}
		c.nodes, c.err = nodes, err
	})
	return c.nodes, c.err
}

// Edges reads the rows of the page with their cursors.
func (c *Connection[T]) Edges(ctx context.Context) ([]*Edge[T], error) {
	nodes, err := c.Nodes(ctx)
	edges := make([]*Edge[T], len(nodes))
	for i, node := range nodes {
		edges[i] = &Edge[T]{typename: c.typename, Node: node}
	}
	return edges, err
}

// Cursor says where a row of the page stands.
func (c *Connection[T]) Cursor(row T) string { return encodeCursor(c.typename, row.RowID()) }

// TotalCount counts the whole list.
func (c *Connection[T]) TotalCount(ctx context.Context) (int, error) {
	return c.count(ctx, c.page.Range)
}

// PageInfo reads the page and says where it stands.
func (c *Connection[T]) PageInfo(ctx context.Context) (*PageInfo, error) {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	info := &PageInfo{hasNext: c.hasNextPage, hasPrevious: c.hasPreviousPage}
	if len(nodes) > 0 {
		first, last := encodeCursor(c.typename, nodes[0].RowID()), encodeCursor(c.typename, nodes[len(nodes)-1].RowID())
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
	case p.Before == 0:
		return false, nil
	}
	return c.any(ctx, Page{After: max(p.After, p.Before-1)})
}

func (c *Connection[T]) hasPreviousPage(ctx context.Context) (bool, error) {
	p := c.page
	passed := !p.Backward && p.Offset > 0
	switch {
	case p.Backward && c.more, passed && (c.more || len(c.nodes) > 0):
		return true, nil
	case passed && (p.Before == 0 || p.Before > p.After):
		return c.any(ctx, Page{Before: p.Before, Backward: true})
	case p.After == 0:
		return false, nil
	case p.After == math.MaxInt64:
		return c.any(ctx, Page{Backward: true})
	}
	return c.any(ctx, Page{Before: p.After + 1, Backward: true})
}

// any tells whether the list has a row within the bounds of p.
func (c *Connection[T]) any(ctx context.Context, p Page) (bool, error) {
	p.Range, p.Limit = c.page.Range, 1
	rows, err := c.load(ctx, p)
	return len(rows) > 0, err
}

// Edge is a row in a list.
type Edge[T Node] struct {
	typename string
	Node     T
}

// Cursor says where the row stands.
func (e *Edge[T]) Cursor() string { return encodeCursor(e.typename, e.Node.RowID()) }

// PageInfo says where a page stands in its list.
type PageInfo struct {
	StartCursor, EndCursor *string // null where the page is empty
	hasNext, hasPrevious   func(context.Context) (bool, error)
}

// HasNextPage tells whether anything follows the page; it may cost a statement.
func (p *PageInfo) HasNextPage(ctx context.Context) (bool, error) { return p.hasNext(ctx) }

// HasPreviousPage tells whether anything comes before the page; it may cost a
// statement.
func (p *PageInfo) HasPreviousPage(ctx context.Context) (bool, error) { return p.hasPrevious(ctx) }
