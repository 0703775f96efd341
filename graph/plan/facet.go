package plan

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// Facet adds a field of facets that leads to the values of one.
func Facet[V any](t *Type[*model.BookFacets], name string, by model.GroupKey, target *Type[V], read func(*model.BookFacets, context.Context, model.Facet) ([]V, error)) {
	t.relations[name] = func(c *compiler, f graphql.CollectedField) relation[*model.BookFacets] {
		return &facet[V]{by, f.Field, read, target.compile(c, f.Selections)}
	}
}

// First makes the read of a facet that is asked how many values to take.
func First[V any](read func(*model.BookFacets, context.Context, *int) ([]V, error)) func(*model.BookFacets, context.Context, model.Facet) ([]V, error) {
	return func(of *model.BookFacets, ctx context.Context, asked model.Facet) ([]V, error) {
		return read(of, ctx, asked.First)
	}
}

// facet leads from the facets of each list to the values of one.
type facet[V any] struct {
	by        model.GroupKey
	field     *ast.Field
	read      func(*model.BookFacets, context.Context, model.Facet) ([]V, error)
	selection *selection[V]
}

// asker is a facet.
type asker interface {
	asked(variables map[string]any) (model.Facet, error)
}

func (e *facet[V]) asked(variables map[string]any) (asked model.Facet, err error) {
	args := e.field.ArgumentMap(variables)
	asked.By = e.by
	if first := args["first"]; first != nil {
		asked.First, err = pointer(graphql.UnmarshalInt(first))
	}
	if bounds := args["bounds"]; bounds != nil && err == nil {
		asked.Bounds, err = mapRows(graphql.CoerceList(bounds), func(v any) (cents model.Cents, err error) {
			err = cents.UnmarshalGQL(v)
			return cents, err
		})
	}
	return asked, err
}

func (e *facet[V]) load(r *run, facets []*model.BookFacets) (values, error) {
	asked, err := e.asked(r.variables)
	if err != nil {
		return nil, err
	}
	all, starts := []V{}, make([]int, 1, len(facets)+1)
	for _, of := range facets {
		read, err := e.read(of, r.ctx, asked)
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
		starts = append(starts, len(all))
	}
	objects, err := e.selection.load(r, all)
	return &listValues[V]{objects, starts}, err
}

// listValues are what a facet led to.
type listValues[C any] struct {
	objects *objects[C]
	starts  []int // where each list begins, and the end
}

func (l *listValues[C]) write(dst []byte, i int) []byte {
	dst = append(dst, '[')
	for n := l.starts[i]; n < l.starts[i+1]; n++ {
		if n > l.starts[i] {
			dst = append(dst, ',')
		}
		dst = l.objects.write(dst, n)
	}
	return append(dst, ']')
}
