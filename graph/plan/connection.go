package plan

import (
	"context"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// toMany leads from each row to a connection.
type toMany[P any, C model.Node] struct {
	find      Find[P, C]
	field     *ast.Field
	selection *selection[*model.Connection[C]]

	// Selected parts of the connections. Other parts are not read.
	projection model.Projection // columns of the nodes
	pageInfo   bool
	figures    model.Aggregates
	facets     []*ast.Field
}

func (e *toMany[P, C]) load(r *run, rows []P) (values, error) {
	args, err := pageArgs(e.field, r.variables)
	if err != nil {
		return nil, err
	}
	facets, err := mapRows(e.facets, func(f *ast.Field) (model.Facet, error) { return facetOf(f, r.variables) })
	if err != nil {
		facets = nil // the fields of facets report the error
	}
	connections, err := e.find(r.ctx, rows, args)
	if err != nil {
		return nil, err
	}
	for _, c := range connections {
		c.Project(e.projection, e.pageInfo)
		r.noteLost(c.ReadAggregates(r.ctx, e.figures, facets)) // after other errors each field reads again
	}
	return e.selection.load(r, connections), nil
}

func compileConnection[P any, C model.Node](c *compiler, f graphql.CollectedField, target *Type[C],
	find Find[P, C],
) relation[P] {
	type connection = *model.Connection[C]
	type edge = *model.Edge[C]
	e := &toMany[P, C]{find: find, field: f.Field, projection: model.NoneOnDemand}
	node := func(c *compiler, f graphql.CollectedField) *selection[C] {
		s := target.compile(c, f.Selections)
		e.projection |= s.projection
		return s
	}
	edges := NewType[edge](target.name + "Edge")
	edges.leaves["cursor"] = func(dst []byte, e edge) []byte { return model.AppendString(dst, e.Cursor()) }
	edges.relations["node"] = func(c *compiler, f graphql.CollectedField) relation[edge] {
		return newValue(func(e edge, _ context.Context) (C, error) { return e.Node, nil }, node(c, f))
	}
	t := NewType[connection](target.name + "Connection")
	t.relations = map[string]compileRelation[connection]{
		"nodes": func(c *compiler, f graphql.CollectedField) relation[connection] {
			return newList(connection.Nodes, node(c, f))
		},
		"edges": func(c *compiler, f graphql.CollectedField) relation[connection] {
			return newList(connection.Edges, edges.compile(c, f.Selections))
		},
		"pageInfo": func(c *compiler, f graphql.CollectedField) relation[connection] {
			e.pageInfo = true
			return newValue(connection.PageInfo, pageInfo.compile(c, f.Selections))
		},
		"totalCount": func(*compiler, graphql.CollectedField) relation[connection] {
			e.figures |= model.RowCount
			return toText[connection](func(of connection, ctx context.Context) ([]byte, error) {
				n, err := of.TotalCount(ctx)
				return strconv.AppendInt(nil, int64(n), 10), err
			})
		},
		"correction": func(*compiler, graphql.CollectedField) relation[connection] {
			return toText[connection](func(of connection, ctx context.Context) ([]byte, error) {
				correction, err := of.Correction(ctx)
				return model.AppendNullable(nil, correction), err
			})
		},
		"aggregate": func(c *compiler, f graphql.CollectedField) relation[connection] {
			wanted := model.SelectedAggregates(c.operation, f.Selections)
			e.figures |= wanted
			return newValue(func(of connection, ctx context.Context) (*model.Aggregate, error) {
				return of.AggregateOf(ctx, wanted)
			}, target.Aggregate.compile(c, f.Selections))
		},
		"facets": func(c *compiler, f graphql.CollectedField) relation[connection] {
			for _, facet := range c.collect(f.Selections, "BookFacets") {
				if facet.Name != "__typename" {
					e.facets = append(e.facets, facet.Field)
				}
			}
			return newValue(func(of connection, _ context.Context) (*model.BookFacets, error) {
				return of.Facets(), nil
			}, target.Facets.compile(c, f.Selections))
		},
	}
	e.selection = t.compile(c, f.Selections)
	return e
}

var pageInfo = func() *Type[*model.PageInfo] {
	t := StructType[model.PageInfo]("PageInfo")
	for name, has := range map[string]func(*model.PageInfo, context.Context) (bool, error){
		"hasNextPage": (*model.PageInfo).HasNextPage, "hasPreviousPage": (*model.PageInfo).HasPreviousPage,
	} {
		t.relations[name] = func(*compiler, graphql.CollectedField) relation[*model.PageInfo] {
			return toText[*model.PageInfo](func(info *model.PageInfo, ctx context.Context) ([]byte, error) {
				is, err := has(info, ctx)
				return strconv.AppendBool(nil, is), err
			})
		}
	}
	return t
}()
