package plan

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// run is one execution of a plan.
type run struct {
	ctx       context.Context
	variables map[string]any
	byID      map[string][]*ast.Field // as in plan
}

// selection is what is selected of rows of one type.
type selection[P any] struct {
	fields     []field[P]
	projection model.Projection // that the leaves are made of
}

// field is one response key: a leaf of the row, or a relation to other rows.
type field[P any] struct {
	key      []byte // quoted, with the comma before it and the colon behind it
	leaf     leaf[P]
	relation relation[P]
}

// relation leads from rows to others. load reads them for all rows at once.
type relation[P any] interface {
	load(r *run, rows []P) (values, error)
}

// values are what a relation led to, one for each row that it was loaded for.
type values interface {
	write(dst []byte, i int) []byte
}

// objects are rows with what their relations led to.
type objects[P any] struct {
	selection *selection[P]
	rows      []P
	relations []values // by field; nil for a leaf
}

// load reads everything that is selected below the rows, level by level.
func (s *selection[P]) load(r *run, rows []P) (*objects[P], error) {
	o := &objects[P]{selection: s, rows: rows}
	if len(rows) == 0 {
		return o, nil
	}
	for i, f := range s.fields {
		if f.relation == nil {
			continue
		}
		if o.relations == nil {
			o.relations = make([]values, len(s.fields))
		}
		var err error
		if o.relations[i], err = f.relation.load(r, rows); err != nil {
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
			dst = o.relations[k].write(dst, i)
		}
	}
	return append(dst, '}')
}
