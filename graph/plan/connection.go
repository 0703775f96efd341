package plan

import (
	"context"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// toMany leads from each row to a connection.
type toMany[P any, C model.Node] struct {
	find       func(ctx context.Context, rows []P, args model.PageArgs) ([]*model.Connection[C], error)
	field      *ast.Field
	fields     []connectionField[C]
	projection model.Projection // of the nodes
	pageInfo   bool             // is asked for
}

// connectionField is one response key of a connection. One of the others is set.
type connectionField[C model.Node] struct {
	key      []byte
	typename []byte
	total    bool
	correct  bool // correction
	nodes    *selection[C]
	edges    []edgeField[C]
	pageInfo []pageInfoField

	aggregate *selection[*model.Aggregate]
	wanted    model.Aggregates // of aggregate
	facets    *selection[*model.BookFacets]
	asked     []func(map[string]any) (model.Facet, error) // of facets
}

// edgeField is one response key of a connection's edge.
type edgeField[C model.Node] struct {
	key      []byte
	typename []byte
	cursor   bool
	node     *selection[C]
}

// pageInfoField is one response key of a connection's page info.
type pageInfoField struct {
	key  []byte
	read func(r *run, dst []byte, info *model.PageInfo) ([]byte, error)
}

func (e *toMany[P, C]) load(r *run, rows []P) (values, error) {
	args, err := pageArgs(e.field, r.variables)
	if err != nil {
		return nil, err
	}
	connections, err := e.find(r.ctx, rows, args)
	if err != nil {
		return nil, err
	}
	for _, c := range connections {
		c.Project(e.projection, e.pageInfo)
	}
	m := &manyValues[C]{fields: e.fields, connections: connections, loaded: make([]connectionValues[C], len(e.fields))}
	for i, f := range e.fields {
		if m.loaded[i], err = m.loadField(r, f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// manyValues are what a toMany led to.
type manyValues[C model.Node] struct {
	fields      []connectionField[C]
	connections []*model.Connection[C]

	nodes  []C     // of all connections, one after the other; nil until they are read
	starts []int32 // where each connection's nodes begin, and the end

	prefetched bool                  // figures and facets
	loaded     []connectionValues[C] // by field
}

// connectionValues are what a connectionField needs to be written.
type connectionValues[C model.Node] struct {
	nodes  *objects[C]
	edges  []*objects[C] // by edgeField; nil but for node
	totals []int
	texts  [][]byte // of correction and pageInfo, written already
	parts  values   // of aggregate and facets
}

func (m *manyValues[C]) loadField(r *run, f connectionField[C]) (v connectionValues[C], err error) {
	switch {
	case f.total:
		if err = m.prefetch(r); err != nil {
			return v, err
		}
		v.totals = make([]int, len(m.connections))
		for i, c := range m.connections {
			if v.totals[i], err = c.TotalCount(r.ctx); err != nil {
				return v, err
			}
		}
	case f.correct:
		v.texts = make([][]byte, len(m.connections))
		for i, c := range m.connections {
			correction, err := c.Correction(r.ctx)
			if err != nil {
				return v, err
			}
			v.texts[i] = model.AppendNullable(nil, correction)
		}
	case f.nodes != nil:
		if err = m.read(r); err == nil {
			v.nodes, err = f.nodes.load(r, m.nodes)
		}
	case f.edges != nil:
		if err = m.read(r); err != nil {
			return v, err
		}
		v.edges = make([]*objects[C], len(f.edges))
		for i, e := range f.edges {
			if e.node == nil {
				continue
			}
			if v.edges[i], err = e.node.load(r, m.nodes); err != nil {
				return v, err
			}
		}
	case f.pageInfo != nil:
		v.texts = make([][]byte, len(m.connections))
		for i, c := range m.connections {
			if v.texts[i], err = writePageInfo(r, f.pageInfo, c.PageInfo); err != nil {
				return v, err
			}
		}
	case f.aggregate != nil:
		if err = m.prefetch(r); err != nil {
			return v, err
		}
		var aggregates []*model.Aggregate
		aggregates, err = mapRows(m.connections, func(c *model.Connection[C]) (*model.Aggregate, error) { return c.AggregateOf(r.ctx, f.wanted) })
		if err == nil {
			v.parts, err = f.aggregate.load(r, aggregates)
		}
	case f.facets != nil:
		if err = m.prefetch(r); err != nil {
			return v, err
		}
		facets := make([]*model.BookFacets, len(m.connections))
		for i, c := range m.connections {
			facets[i] = c.Facets()
		}
		v.parts, err = f.facets.load(r, facets)
	}
	return v, err
}

// prefetch reads the figures and facets of all connections.
func (m *manyValues[C]) prefetch(r *run) error {
	if m.prefetched {
		return nil
	}
	m.prefetched = true
	var figures model.Aggregates
	var facets []model.Facet
	for _, f := range m.fields {
		figures |= f.wanted
		if f.total {
			figures |= model.RowCount
		}
		for _, ask := range f.asked {
			asked, err := ask(r.variables)
			if err != nil {
				return err
			}
			facets = append(facets, asked)
		}
	}
	for _, c := range m.connections {
		if err := c.Prefetch(r.ctx, figures, facets); err != nil {
			return err
		}
	}
	return nil
}

// read reads the nodes of all connections.
func (m *manyValues[C]) read(r *run) error {
	if m.starts != nil {
		return nil
	}
	m.starts = make([]int32, 1, len(m.connections)+1)
	for _, c := range m.connections {
		nodes, err := c.Nodes(r.ctx)
		if err != nil {
			return err
		}
		if len(m.connections) == 1 {
			m.nodes = nodes
		} else {
			m.nodes = append(m.nodes, nodes...)
		}
		m.starts = append(m.starts, int32(len(m.nodes)))
	}
	return nil
}

func writePageInfo(r *run, fields []pageInfoField, read func(context.Context) (*model.PageInfo, error)) ([]byte, error) {
	info, err := read(r.ctx)
	if err != nil {
		return nil, err
	}
	dst := []byte{'{'}
	for _, f := range fields {
		if dst, err = f.read(r, append(dst, f.key...), info); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func (m *manyValues[C]) write(dst []byte, i int) []byte {
	dst = append(dst, '{')
	for k := range m.fields {
		f, v := &m.fields[k], &m.loaded[k]
		dst = append(dst, f.key...)
		switch {
		case f.typename != nil:
			dst = append(dst, f.typename...)
		case f.total:
			dst = strconv.AppendInt(dst, int64(v.totals[i]), 10)
		case f.nodes != nil:
			dst = m.writeList(dst, i, v.nodes.write)
		case f.edges != nil:
			dst = m.writeList(dst, i, func(dst []byte, n int) []byte { return m.writeEdge(dst, f, v, i, n) })
		case v.parts != nil:
			dst = v.parts.write(dst, i)
		default:
			dst = append(dst, v.texts[i]...)
		}
	}
	return append(dst, '}')
}

// writeList appends what element appends for each node of the connection at i.
func (m *manyValues[C]) writeList(dst []byte, i int, element func(dst []byte, n int) []byte) []byte {
	dst = append(dst, '[')
	for n := m.starts[i]; n < m.starts[i+1]; n++ {
		if n > m.starts[i] {
			dst = append(dst, ',')
		}
		dst = element(dst, int(n))
	}
	return append(dst, ']')
}

func (m *manyValues[C]) writeEdge(dst []byte, f *connectionField[C], v *connectionValues[C], i, n int) []byte {
	dst = append(dst, '{')
	for k := range f.edges {
		e := &f.edges[k]
		dst = append(dst, e.key...)
		switch {
		case e.typename != nil:
			dst = append(dst, e.typename...)
		case e.cursor:
			dst = model.AppendString(dst, m.connections[i].Cursor(m.nodes[n]))
		default:
			dst = v.edges[k].write(dst, n)
		}
	}
	return append(dst, '}')
}
