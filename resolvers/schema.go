package resolvers

import (
	"context"
	"errors"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

func (r *queryResolver) Node(ctx context.Context, nodeID string) (model.Node, error) {
	return single(r.Nodes(ctx, []string{nodeID}))
}

func (r *queryResolver) Nodes(ctx context.Context, nodeIds []string) ([]model.Node, error) {
	if len(nodeIds) > model.MaxPageSize {
		return nil, model.BadArgument("nodeIds", "The nodeIds argument must not have more than %d ids.",
			model.MaxPageSize)
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

// place stores the rows with these ids at their places in nodes.
func place[T any, P interface {
	*T
	model.Node
}](ctx context.Context, nodes []model.Node, places []int, ids []model.ID,
	load func(context.Context, []model.ID) ([]P, error)) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := load(ctx, ids)
	for i, row := range rows {
		if row != nil { // an interface that holds a nil pointer would not be null
			nodes[places[i]] = row
		}
	}
	return err
}

// Mutation implements graph.ResolverRoot.
func (r *Resolver) Mutation() graph.MutationResolver { return &mutationResolver{r} }

// Query implements graph.ResolverRoot.
func (r *Resolver) Query() graph.QueryResolver { return &queryResolver{r} }

type (
	mutationResolver struct{ *Resolver }
	queryResolver    struct{ *Resolver }
)
