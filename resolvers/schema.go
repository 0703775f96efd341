package resolvers

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *queryResolver) Node(ctx context.Context, nodeID string) (model.Node, error) {
	typename, id, ok := model.ParseNodeID(nodeID)
	if !ok {
		return nil, nil
	}
	loaders := loader.From(ctx)
	switch typename {
	case "Book":
		return node(loaders.Books.Load(ctx, id))
	case "Genre":
		return node(loaders.Genres.Load(ctx, id))
	case "Category":
		return node(loaders.Categories.Load(ctx, id))
	}
	return nil, nil
}

func (r *queryResolver) Nodes(ctx context.Context, nodeIds []string) ([]model.Node, error) {
	if len(nodeIds) > model.MaxPageSize {
		return nil, model.FieldErrors{{
			Field:   "nodeIds",
			Message: fmt.Sprintf("The nodeIds argument must not have more than %d ids.", model.MaxPageSize),
		}}.Err()
	}
	nodes := make([]model.Node, len(nodeIds))
	var wanted errgroup.Group // side by side, so that the look-ups are batched
	for i, nodeID := range nodeIds {
		wanted.Go(func() (err error) {
			nodes[i], err = r.Node(ctx, nodeID)
			return err
		})
	}
	return nodes, wanted.Wait()
}

// node gives a row as a Node: without a row none, and not a Node that holds a
// nil pointer.
func node[T any, P interface {
	*T
	model.Node
}](row P, err error) (model.Node, error) {
	if err != nil || row == nil {
		return nil, err
	}
	return row, nil
}

// children makes the connection of a parent's rows.
func children[P model.Node](typename string, parent model.ID, of *loader.Children[P], args model.PageArgs) (*model.Connection[P], error) {
	return model.NewConnection(typename, args,
		func(ctx context.Context, p model.Page) ([]P, error) { return of.Page(ctx, parent, p) },
		func(ctx context.Context, r model.Range) (int, error) { return of.Count(ctx, parent, r) })
}

// Mutation gives the resolvers of everything that can be changed.
func (r *Resolver) Mutation() graph.MutationResolver { return &mutationResolver{r} }

// Query gives the resolvers of everything that can be read.
func (r *Resolver) Query() graph.QueryResolver { return &queryResolver{r} }

type (
	mutationResolver struct{ *Resolver }
	queryResolver    struct{ *Resolver }
)
