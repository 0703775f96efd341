package plan

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/errgroup"

	"library-catalogue/graph/model"
)

// run is one execution of a plan.
type run struct {
	ctx       context.Context
	source    Source
	variables map[string]any
	byID      map[string][]*ast.Field // as in plan
	explained bool                    // whether somebody wants to know whose statements are whose
}

// at gives the run for what is below a field, whose context names the field
// where that is to be explained.
func (r *run) at(name string) *run {
	if !r.explained {
		return r
	}
	below := *r
	below.ctx = graphql.WithFieldContext(r.ctx, &graphql.FieldContext{Field: graphql.CollectedField{Field: &ast.Field{Alias: name}}})
	return &below
}

// selection is what is selected of rows of one type.
type selection[P any] struct {
	fields   []field[P]
	together bool // load the edges at the same time
}

// field is one response key: a leaf of the row, or an edge to other rows.
type field[P any] struct {
	key  []byte // quoted, with the comma before it and the colon behind it
	name string
	leaf leaf[P]
	edge edge[P]
}

// edge leads from rows to others. load reads them for all rows at once.
type edge[P any] interface {
	load(r *run, rows []P) (values, error)
}

// values are what an edge led to, one for each row that it was loaded for.
type values interface {
	write(dst []byte, i int) []byte
}

// objects are rows with what their edges led to.
type objects[P any] struct {
	selection *selection[P]
	rows      []P
	edges     []values // by field; nil for a leaf
}

// load reads everything that is selected below the rows, level by level.
func (s *selection[P]) load(r *run, rows []P) (*objects[P], error) {
	o := &objects[P]{selection: s, rows: rows}
	if len(rows) == 0 {
		return o, nil
	}
	load := func(i int) (err error) {
		o.edges[i], err = s.fields[i].edge.load(r.at(s.fields[i].name), rows)
		return err
	}
	var group *errgroup.Group
	if s.together {
		group = new(errgroup.Group)
	}
	for i, f := range s.fields {
		if f.edge == nil {
			continue
		}
		if o.edges == nil {
			o.edges = make([]values, len(s.fields))
		}
		if group != nil {
			group.Go(func() error { return guarded(r.ctx, func() error { return load(i) }) })
		} else if err := load(i); err != nil {
			return nil, err
		}
	}
	if group != nil {
		if err := group.Wait(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// write appends the row at i as an object.
func (o *objects[P]) write(dst []byte, i int) []byte {
	dst = append(dst, '{')
	for k := range o.selection.fields {
		f := &o.selection.fields[k]
		dst = append(dst, f.key...)
		if f.leaf != nil {
			dst = f.leaf(dst, o.rows[i])
		} else {
			dst = o.edges[k].write(dst, i)
		}
	}
	return append(dst, '}')
}

// toOne leads from each row to one other, or to none.
type toOne[P any, C comparable] struct {
	find      func(r *run, rows []P) ([]C, error)
	selection *selection[C]
}

func (e *toOne[P, C]) load(r *run, rows []P) (values, error) {
	found, err := e.find(r, rows)
	if err != nil {
		return nil, err
	}
	// Many rows lead to the same one, which is loaded and written once.
	var none C
	index := make([]int32, len(found))
	var distinct []C
	at := make(map[C]int32)
	for i, row := range found {
		if row == none {
			index[i] = -1
			continue
		}
		k, seen := at[row]
		if !seen {
			k = int32(len(distinct))
			at[row] = k
			distinct = append(distinct, row)
		}
		index[i] = k
	}
	o, err := e.selection.load(r, distinct)
	if err != nil {
		return nil, err
	}
	return &one[C]{objects: o, index: index, written: make([]span, len(distinct))}, nil
}

// one is what a toOne led to.
type one[C any] struct {
	objects *objects[C]
	index   []int32 // of each parent's row among the objects; -1: none
	written []span  // where an object stands in the answer already
}

type span struct{ from, to int }

func (o *one[C]) write(dst []byte, i int) []byte {
	k := o.index[i]
	if k < 0 {
		return append(dst, "null"...)
	}
	if w := o.written[k]; w.to > 0 {
		return append(dst, dst[w.from:w.to]...)
	}
	from := len(dst)
	dst = o.objects.write(dst, int(k))
	o.written[k] = span{from, len(dst)}
	return dst
}

// toPart leads from each row to a part of it.
type toPart[P, C any] struct {
	of        func(P) C
	selection *selection[C]
}

func (e *toPart[P, C]) load(r *run, rows []P) (values, error) {
	parts := make([]C, len(rows))
	for i, row := range rows {
		parts[i] = e.of(row)
	}
	return e.selection.load(r, parts)
}

// toList leads from each row to a list of others.
type toList[P, C any] struct {
	of        func(r *run, rows []P) ([][]C, error)
	selection *selection[C]
}

func (e *toList[P, C]) load(r *run, rows []P) (values, error) {
	found, err := e.of(r, rows)
	if err != nil {
		return nil, err
	}
	all, starts := slices.Concat(found...), make([]int, 1, len(found)+1)
	for _, list := range found {
		starts = append(starts, starts[len(starts)-1]+len(list))
	}
	objects, err := e.selection.load(r, all)
	return &lists[C]{objects, starts}, err
}

// lists are what a toList led to.
type lists[C any] struct {
	objects *objects[C]
	starts  []int // where each list begins, and the end
}

func (l *lists[C]) write(dst []byte, i int) []byte {
	dst = append(dst, '[')
	for n := l.starts[i]; n < l.starts[i+1]; n++ {
		if n > l.starts[i] {
			dst = append(dst, ',')
		}
		dst = l.objects.write(dst, n)
	}
	return append(dst, ']')
}

// toMany leads from each row to a connection.
type toMany[P any, C model.Node] struct {
	of     func(r *run, rows []P, args model.PageArgs) ([]*model.Connection[C], error)
	field  *ast.Field
	fields []connectionField[C]
}

// connectionField is one response key of a connection. One of the others is set.
type connectionField[C model.Node] struct {
	key      []byte
	name     string
	typename []byte
	total    bool
	nodes    *selection[C]
	edges    []edgeField[C]
	pageInfo []pageInfoField

	aggregate *selection[*model.Aggregate]
	wanted    model.Aggregates // of aggregate
	facets    *selection[*model.BookFacets]
}

// edgeField is one response key of a connection's edge.
type edgeField[C model.Node] struct {
	key      []byte
	name     string
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
	connections, err := e.of(r, rows, args)
	if err != nil {
		return nil, err
	}
	m := &many[C]{fields: e.fields, connections: connections, loaded: make([]connectionValues[C], len(e.fields))}
	for i, f := range e.fields {
		if m.loaded[i], err = m.loadField(r.at(f.name), f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// many is what a toMany led to.
type many[C model.Node] struct {
	fields      []connectionField[C]
	connections []*model.Connection[C]

	nodes  []C     // of all connections, one after the other; nil until they are read
	starts []int32 // where each connection's nodes begin, and the end

	loaded []connectionValues[C] // by field
}

// connectionValues are what a connectionField needs to be written.
type connectionValues[C model.Node] struct {
	nodes  *objects[C]
	edges  []*objects[C] // by edgeField; nil but for node
	totals []int
	infos  [][]byte // written already
	parts  values   // of aggregate and facets
}

func (m *many[C]) loadField(r *run, f connectionField[C]) (v connectionValues[C], err error) {
	switch {
	case f.total:
		v.totals = make([]int, len(m.connections))
		for i, c := range m.connections {
			if v.totals[i], err = c.TotalCount(r.ctx); err != nil {
				return v, err
			}
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
			if v.edges[i], err = e.node.load(r.at(e.name), m.nodes); err != nil {
				return v, err
			}
		}
	case f.pageInfo != nil:
		v.infos = make([][]byte, len(m.connections))
		for i, c := range m.connections {
			if v.infos[i], err = writePageInfo(r, f.pageInfo, c.PageInfo); err != nil {
				return v, err
			}
		}
	case f.aggregate != nil:
		var aggregates []*model.Aggregate
		aggregates, err = each(m.connections, func(c *model.Connection[C]) (*model.Aggregate, error) { return c.AggregateOf(r.ctx, f.wanted) })
		if err == nil {
			v.parts, err = f.aggregate.load(r, aggregates)
		}
	case f.facets != nil:
		facets := make([]*model.BookFacets, len(m.connections))
		for i, c := range m.connections {
			facets[i] = c.Facets()
		}
		v.parts, err = f.facets.load(r, facets)
	}
	return v, err
}

// read reads the nodes of all connections.
func (m *many[C]) read(r *run) error {
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

func (m *many[C]) write(dst []byte, i int) []byte {
	dst = append(dst, '{')
	for k := range m.fields {
		f, v := &m.fields[k], &m.loaded[k]
		dst = append(dst, f.key...)
		switch {
		case f.typename != nil:
			dst = append(dst, f.typename...)
		case f.total:
			dst = appendInt(dst, int64(v.totals[i]))
		case f.nodes != nil:
			dst = m.writeList(dst, i, v.nodes.write)
		case f.edges != nil:
			dst = m.writeList(dst, i, func(dst []byte, n int) []byte { return m.writeEdge(dst, f, v, i, n) })
		case v.parts != nil:
			dst = v.parts.write(dst, i)
		default:
			dst = append(dst, v.infos[i]...)
		}
	}
	return append(dst, '}')
}

// writeList appends what element appends for each node of the connection at i.
func (m *many[C]) writeList(dst []byte, i int, element func(dst []byte, n int) []byte) []byte {
	dst = append(dst, '[')
	for n := m.starts[i]; n < m.starts[i+1]; n++ {
		if n > m.starts[i] {
			dst = append(dst, ',')
		}
		dst = element(dst, int(n))
	}
	return append(dst, ']')
}

func (m *many[C]) writeEdge(dst []byte, f *connectionField[C], v *connectionValues[C], i, n int) []byte {
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
