package plan

import (
	"context"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// compileConnection compiles a relation to a connection of rows of a type.
func compileConnection[P any, C model.Node](c *compiler, f graphql.CollectedField, target *Type[C],
	find func(context.Context, []P, model.PageArgs) ([]*model.Connection[C], error),
) relation[P] {
	typename := target.name
	e := &toMany[P, C]{find: find, field: f.Field, projection: model.NoneOnDemand}
	c.checks = append(c.checks, func(variables map[string]any) error {
		args, err := pageArgs(f.Field, variables)
		if err == nil {
			_, err = args.Page(typename)
		}
		return err
	})
	for _, sub := range c.collect(f.Selections, typename+"Connection") {
		compiled := connectionField[C]{key: keyOf(sub.Alias, len(e.fields) == 0)}
		switch sub.Name {
		case "__typename":
			compiled.typename = []byte(`"` + typename + `Connection"`)
		case "totalCount":
			compiled.total = true
		case "correction":
			compiled.correct = true
		case "nodes":
			compiled.nodes = target.compile(c, sub.Selections)
			e.projection |= compiled.nodes.projection
		case "edges":
			compiled.edges = compileEdge(c, sub, target)
			for _, f := range compiled.edges {
				if f.node != nil {
					e.projection |= f.node.projection
				}
			}
		case "pageInfo":
			compiled.pageInfo = compilePageInfo(c, sub)
			e.pageInfo = true
		case "aggregate":
			compiled.wanted, compiled.aggregate = model.SelectedAggregates(c.operation, sub.Selections), target.Aggregate.compile(c, sub.Selections)
		case "facets":
			compiled.facets = target.Facets.compile(c, sub.Selections)
			for _, f := range compiled.facets.fields {
				if facet, ok := f.relation.(asker); ok {
					compiled.asked = append(compiled.asked, facet.asked)
				}
			}
		default:
			c.unknown = true
		}
		e.fields = append(e.fields, compiled)
	}
	return e
}

func compileEdge[C model.Node](c *compiler, f graphql.CollectedField, target *Type[C]) []edgeField[C] {
	fields := []edgeField[C]{}
	for _, sub := range c.collect(f.Selections, target.name+"Edge") {
		compiled := edgeField[C]{key: keyOf(sub.Alias, len(fields) == 0)}
		switch sub.Name {
		case "__typename":
			compiled.typename = []byte(`"` + target.name + `Edge"`)
		case "cursor":
			compiled.cursor = true
		case "node":
			compiled.node = target.compile(c, sub.Selections)
		default:
			c.unknown = true
		}
		fields = append(fields, compiled)
	}
	return fields
}

func compilePageInfo(c *compiler, f graphql.CollectedField) []pageInfoField {
	fields := []pageInfoField{}
	for _, sub := range c.collect(f.Selections, "PageInfo") {
		compiled := pageInfoField{key: keyOf(sub.Alias, len(fields) == 0)}
		switch sub.Name {
		case "__typename":
			compiled.read = func(_ *run, dst []byte, _ *model.PageInfo) ([]byte, error) {
				return append(dst, `"PageInfo"`...), nil
			}
		case "hasNextPage":
			compiled.read = func(r *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				has, err := info.HasNextPage(r.ctx)
				return strconv.AppendBool(dst, has), err
			}
		case "hasPreviousPage":
			compiled.read = func(r *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				has, err := info.HasPreviousPage(r.ctx)
				return strconv.AppendBool(dst, has), err
			}
		case "startCursor":
			compiled.read = func(_ *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				return model.AppendNullable(dst, info.StartCursor), nil
			}
		case "endCursor":
			compiled.read = func(_ *run, dst []byte, info *model.PageInfo) ([]byte, error) {
				return model.AppendNullable(dst, info.EndCursor), nil
			}
		default:
			c.unknown = true
		}
		fields = append(fields, compiled)
	}
	return fields
}
