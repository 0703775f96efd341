package plan

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

type run struct {
	*Plan
	ctx       context.Context
	variables map[string]any
	lost      error // error of a failed database; all further reads fail with it

	path      ast.Path // path of the current field
	errors    int      // number of errors
	maxErrors int      // maximum number of presented errors
}

// selection holds the selected fields of rows of one type.
type selection[P any] struct {
	fields     []field[P]
	projection model.Projection // columns that the leaves need
}

// field is a selected field: a leaf of the row, or a relation to other rows.
type field[P any] struct {
	*ast.Field
	key      []byte          // quoted response key with comma and colon
	name     ast.PathElement // response key in paths of errors
	leaf     leaf[P]
	relation relation[P]
}

// relation leads from rows to other rows or to values.
type relation[P any] interface {
	// load reads the values of all rows at once.
	load(r *run, rows []P) (values, error)
}

// values are the results of a relation, one for each row.
type values interface {
	// write appends the value of row i. It returns nil for a null that an error caused.
	write(r *run, dst []byte, i int) []byte
}

// failure is the result of a relation that could not be read.
type failure struct {
	err error
	at  *ast.Position // nil for a panic, as in the reference executor
}

func (f failure) write(r *run, _ []byte, _ int) []byte {
	if r.errors++; r.errors > r.maxErrors {
		return nil
	}
	err := gqlerror.WrapPath(slices.Clone(r.path), f.err)
	if f.at != nil {
		err.Locations = []gqlerror.Location{{Line: f.at.Line, Column: f.at.Column}}
	}
	graphql.AddError(r.ctx, err)
	return nil
}

// objects are rows with the results of their relations.
type objects[P any] struct {
	selection *selection[P]
	rows      []P
	relations []values // by field; nil for a leaf
}

// load reads the relations of the rows, level by level.
func (s *selection[P]) load(r *run, rows []P) *objects[P] {
	o := &objects[P]{selection: s, rows: rows}
	if len(rows) == 0 {
		return o
	}
	for i := range s.fields {
		f := &s.fields[i]
		if f.relation == nil {
			continue
		}
		if o.relations == nil {
			o.relations = make([]values, len(s.fields))
		}
		o.relations[i] = f.load(r, rows)
	}
	return o
}

// load reads the relation. An error or a panic fails the field of every row.
func (f *field[P]) load(r *run, rows []P) (v values) {
	defer func() {
		if panicked := recover(); panicked != nil {
			v = failure{err: graphql.GetOperationContext(r.ctx).RecoverFunc(r.ctx, panicked)}
		}
	}()
	err := r.lost
	if err == nil {
		v, err = f.relation.load(r, rows)
		r.noteLost(err)
	}
	if err != nil {
		return failure{err, f.Position}
	}
	return v
}

// noteLost records the error of a failed database.
func (r *run) noteLost(err error) {
	if model.IsCode(err, model.Unavailable) || model.IsCode(err, model.Internal) {
		r.lost = err
	}
}

func (o *objects[P]) write(r *run, dst []byte, i int) []byte {
	failed := false
	dst = append(dst, '{')
	for k := range o.selection.fields {
		f := &o.selection.fields[k]
		dst = append(dst, f.key...)
		if f.leaf != nil {
			dst = f.leaf(dst, o.rows[i])
			continue
		}
		r.path = append(r.path, f.name)
		written := o.relations[k].write(r, dst, i)
		r.path = r.path[:len(r.path)-1]
		switch {
		case written != nil:
			dst = written
		case f.Definition.Type.NonNull:
			failed = true // the others are written, so that their errors are reported
		default:
			dst = append(dst, "null"...)
		}
	}
	if failed {
		return nil
	}
	return append(dst, '}')
}
