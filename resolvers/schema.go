package resolvers

import (
	"context"
	"errors"
	"fmt"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *queryResolver) Node(ctx context.Context, nodeID string) (model.Node, error) {
	return alone(r.Nodes(ctx, []string{nodeID}))
}

func (r *queryResolver) Nodes(ctx context.Context, nodeIds []string) ([]model.Node, error) {
	if len(nodeIds) > model.MaxPageSize {
		return nil, model.FieldErrors{{
			Field:   "nodeIds",
			Message: fmt.Sprintf("The nodeIds argument must not have more than %d ids.", model.MaxPageSize),
		}}.Err()
	}
	ids, places := map[string][]model.ID{}, map[string][]int{}
	for i, nodeID := range nodeIds {
		if typename, id, ok := model.ParseNodeID(nodeID); ok {
			ids[typename] = append(ids[typename], id)
			places[typename] = append(places[typename], i)
		}
	}
	nodes := make([]model.Node, len(nodeIds))
	return nodes, errors.Join(
		place(ctx, nodes, places["Book"], ids["Book"], r.LoadBooks),
		place(ctx, nodes, places["Genre"], ids["Genre"], r.LoadGenres),
		place(ctx, nodes, places["Category"], ids["Category"], r.LoadCategories),
	)
}

// place puts the rows with these ids into nodes, each at its place.
func place[T any, P interface {
	*T
	model.Node
}](ctx context.Context, nodes []model.Node, places []int, ids []model.ID, load func(context.Context, []model.ID) ([]P, error)) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := load(ctx, ids)
	for i, row := range rows {
		if row != nil { // a Node that holds a nil pointer would not be null
			nodes[places[i]] = row
		}
	}
	return err
}

// alone gives the one answer to a question about one.
func alone[T any](answers []T, err error) (answer T, _ error) {
	if err == nil {
		answer = answers[0]
	}
	return answer, err
}

// connection makes the connection of a list.
func connection[P model.Node](typename string, args model.PageArgs,
	load func(context.Context, *model.Page) ([]P, error), count func(context.Context, model.Match) (int, error),
	groups func(context.Context, *model.Grouping) ([]*model.BookGroup, error),
) (*model.Connection[P], error) {
	page, err := args.Page(typename)
	if err != nil {
		return nil, err
	}
	return model.NewConnection(typename, page, load, count, groups), nil
}

// children makes the connection of a parent's rows.
func children[P model.Node](typename string, parent model.ID, of *loader.Children[P], args model.PageArgs) (*model.Connection[P], error) {
	return connection(typename, args,
		func(ctx context.Context, p *model.Page) ([]P, error) { return of.Page(ctx, parent, p) },
		func(ctx context.Context, m model.Match) (int, error) { return of.Count(ctx, parent, m) },
		of.GroupsOf(parent))
}

// total counts a list: all of it from memory, where that knows.
func total(list string, count func(context.Context, model.Match) (int, error)) func(context.Context, model.Match) (int, error) {
	return func(ctx context.Context, m model.Match) (int, error) {
		if !m.All() {
			return count(ctx, m)
		}
		return loader.Total(ctx, list, func(ctx context.Context) (int, error) { return count(ctx, m) })
	}
}

// Mutation gives the resolvers of everything that can be changed.
func (r *Resolver) Mutation() graph.MutationResolver { return &mutationResolver{r} }

// Query gives the resolvers of everything that can be read.
func (r *Resolver) Query() graph.QueryResolver { return &queryResolver{r} }

type (
	mutationResolver struct{ *Resolver }
	queryResolver    struct{ *Resolver }
)
