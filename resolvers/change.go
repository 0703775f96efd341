package resolvers

import (
	"context"
	"fmt"
	"slices"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

func (r *queryResolver) Changes(ctx context.Context, types []model.CatalogueType, ids []string, filter map[string]any, after *string, first int) (*model.ChangePage, error) {
	args, err := changeArgs(types, ids, filter, after)
	if err != nil {
		return nil, err
	}
	if first < 1 || first > model.MaxPageSize {
		return nil, badArgument("first", "must be between 1 and %d", model.MaxPageSize)
	}
	args.First = first
	return r.store.Changes(ctx, args)
}

func (r *subscriptionResolver) Changes(ctx context.Context, types []model.CatalogueType, ids []string, filter map[string]any, after *string) (<-chan *model.Change, error) {
	return nil, errNotBuilt
}

func (r *changeResolver) Actor(ctx context.Context, obj *model.Change) (*string, error) {
	if _, err := model.Caller(ctx); err != nil || obj.Actor == "" {
		return nil, nil
	}
	return &obj.Actor, nil
}

// filteredTypes are the types that the fields of a ChangeFilter select.
var filteredTypes = map[string]model.CatalogueType{
	"book": model.TypeBook, "genre": model.TypeGenre, "category": model.TypeCategory,
}

// changeArgs returns the arguments of a feed. A filter selects its type.
func changeArgs(types []model.CatalogueType, ids []string, filter map[string]any, after *string) (model.ChangeArgs, error) {
	args := model.ChangeArgs{Types: types, After: after}
	if filter != nil {
		for name, of := range filter {
			args.Filter, _ = of.(map[string]any)
			args.Types = []model.CatalogueType{filteredTypes[name]}
		}
		if len(filter) != 1 || args.Filter == nil {
			return args, badArgument("filter", "must have exactly one of book, genre and category, not null")
		}
		if types != nil && !slices.Equal(types, args.Types) {
			return args, badArgument("types", "must be absent or name the type of the filter")
		}
	}
	if ids == nil {
		return args, nil
	}
	if len(args.Types) != 1 {
		return args, badArgument("ids", "needs exactly one type: set types")
	}
	if len(ids) > model.MaxOperands {
		return args, badArgument("ids", "must not have more than %d ids", model.MaxOperands)
	}
	args.IDs = make([]model.ID, len(ids))
	for i, id := range ids {
		args.IDs[i] = model.ParseID(id)
	}
	return args, nil
}

// badArgument returns the error of an argument.
func badArgument(name, message string, values ...any) error {
	return model.FieldErrors{{Field: name, Message: "The " + name + " argument " + fmt.Sprintf(message, values...) + "."}}.Err()
}

// Change implements graph.ResolverRoot.
func (r *Resolver) Change() graph.ChangeResolver { return &changeResolver{r} }

// Subscription implements graph.ResolverRoot.
func (r *Resolver) Subscription() graph.SubscriptionResolver { return &subscriptionResolver{r} }

type (
	changeResolver       struct{ *Resolver }
	subscriptionResolver struct{ *Resolver }
)

var errNotBuilt = model.Errorf(model.Unavailable, "This operation is not available yet.")
