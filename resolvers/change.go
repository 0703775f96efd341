package resolvers

import (
	"context"
	"slices"
	"strings"

	"library-catalogue/db"
	"library-catalogue/db/changes"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *queryResolver) Changes(
	ctx context.Context, types []model.CatalogueType, ids []string, filter map[string]any, after *string, first int,
) (*model.ChangePage, error) {
	args, err := changeArgs(types, ids, filter, after)
	if err != nil {
		return nil, err
	}
	args.First = first
	page, err := r.store.Changes(ctx, args)
	if err != nil {
		return nil, err
	}
	r.PrimeChanges(ctx, page.Nodes)
	return page, nil
}

func (r *queryResolver) RecentChanges(
	ctx context.Context, types []model.CatalogueType, operations []model.ChangeOperation, actor *string,
	since *model.Timestamp, after *string, first int,
) (*model.ChangePage, error) {
	if actor != nil { // the rows found would tell it
		if _, err := model.CallerOf(ctx); err != nil {
			return nil, err
		}
	}
	page, err := r.store.RecentChanges(ctx,
		model.RecentArgs{Types: types, Operations: operations, Actor: actor, Since: since, After: after, First: first})
	if err != nil {
		return nil, err
	}
	r.PrimeChanges(ctx, page.Nodes)
	return page, nil
}

func (r *subscriptionResolver) Changes(
	ctx context.Context, types []model.CatalogueType, ids []string, filter map[string]any, after *string,
) (<-chan *model.Change, error) {
	args, err := changeArgs(types, ids, filter, after)
	if err != nil {
		return nil, err
	}
	return graph.SubscribeOf(ctx)(args), nil
}

// Changes returns a page of changes, oldest first.
func (r *Resolver) Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error) {
	return r.store.Changes(ctx, args)
}

// Follow calls fn with each page of new changes until ctx ends or fn fails, like db.Store.Follow. The
// pages are shared and must not be changed.
func (r *Resolver) Follow(
	ctx context.Context, args model.ChangeArgs, admit changes.Admit, fn func(context.Context, *model.ChangePage) error,
) error {
	return r.store.Follow(ctx, args, admit, fn)
}

// Position returns the newest position that the reads of ctx see. Call it before them.
func (r *Resolver) Position(ctx context.Context) (string, error) {
	return loader.From(ctx).Snapshot.Position(ctx)
}

// PrimeChanges announces changes of a response: loading a parent of one row fetches the parents of all.
func (r *Resolver) PrimeChanges(ctx context.Context, changes []*model.Change) {
	var books []*model.Book
	var genres []*model.Genre
	for _, c := range changes {
		if c.Book != nil {
			books = append(books, c.Book)
		}
		if c.Genre != nil {
			genres = append(genres, c.Genre)
		}
	}
	loaders := loader.From(ctx)
	loaders.PrimeBooks(books)
	loaders.PrimeGenres(genres)
}

func (r *changeResolver) Actor(ctx context.Context, obj *model.Change) (*string, error) {
	return obj.ActorFor(ctx), nil
}

func (r *changeResolver) ActorName(ctx context.Context, obj *model.Change) (*string, error) {
	if r.Accounts == nil {
		return nil, nil
	}
	name, err := r.Accounts.ActorName(ctx, obj.Actor)
	if err != nil || name == "" {
		return nil, err
	}
	return &name, nil
}

// filteredTypes are the types that the fields of a ChangeFilter select.
var filteredTypes = map[string]model.CatalogueType{
	"book": model.TypeBook, "genre": model.TypeGenre, "category": model.TypeCategory,
}

// changeArgs returns the arguments of a feed. A filter selects its type.
func changeArgs(
	types []model.CatalogueType, ids []string, filter map[string]any, after *string,
) (model.ChangeArgs, error) {
	args := model.ChangeArgs{Types: types, After: after}
	if ids != nil {
		args.IDs = make([]model.ID, len(ids))
		for i, id := range ids {
			args.IDs[i] = model.ParseID(id)
		}
	}
	if len(ids) > model.MaxOperands {
		return args, model.BadArgument("ids", "The ids argument must not have more than 10,000 ids.")
	}
	if filter == nil {
		return args, nil
	}
	for name, of := range filter {
		args.Filter, _ = of.(map[string]any)
		args.Types = []model.CatalogueType{filteredTypes[name]}
	}
	if len(filter) != 1 || args.Filter == nil {
		return args, model.BadArgument("filter",
			"The filter argument must have exactly one of book, genre and category, and it must not be null.")
	}
	if types != nil && !slices.Equal(types, args.Types) {
		return args, model.BadArgument("types",
			"The types argument must be absent, or name the type of the filter only.")
	}
	return args, nil
}

// loadParent returns the row that another row refers to. If the other is a row of the past, in a
// Change, the error is NotFound for a parent that was deleted later.
func loadParent[T any](
	ctx context.Context, noun string, id model.ID, load func(context.Context, model.ID) (*T, error),
) (*T, error) {
	return requireRow(ctx, id, func(ctx context.Context, id model.ID) (*T, error) {
		parent, err := load(ctx, id)
		if parent == nil && err == nil && graph.InChange(ctx) {
			err = model.Errorf(model.NotFound, "The %s %s was deleted after this change. Select %sId instead.", noun,
				id, noun)
		}
		return parent, err
	})
}

// Change implements graph.ResolverRoot.
func (r *Resolver) Change() graph.ChangeResolver { return &changeResolver{r} }

// Subscription implements graph.ResolverRoot.
func (r *Resolver) Subscription() graph.SubscriptionResolver { return &subscriptionResolver{} }

type (
	changeResolver       struct{ *Resolver }
	subscriptionResolver struct{}
)

func (r *queryResolver) History(
	ctx context.Context, typ model.CatalogueType, id string, first int, after *string,
) (*model.ChangePage, error) {
	return history(ctx, typ, model.ParseID(id), first, after)
}

func (r *bookResolver) History(
	ctx context.Context, obj *model.Book, first int, after *string,
) (*model.ChangePage, error) {
	return history(ctx, model.TypeBook, obj.ID, first, after)
}

func (r *genreResolver) History(
	ctx context.Context, obj *model.Genre, first int, after *string,
) (*model.ChangePage, error) {
	return history(ctx, model.TypeGenre, obj.ID, first, after)
}

func (r *categoryResolver) History(
	ctx context.Context, obj *model.Category, first int, after *string,
) (*model.ChangePage, error) {
	return history(ctx, model.TypeCategory, obj.ID, first, after)
}

// history returns a page of the changes of a row, newest first.
func history(
	ctx context.Context, typ model.CatalogueType, id model.ID, first int, after *string,
) (*model.ChangePage, error) {
	if first < 1 || first > model.MaxPageSize {
		return nil, model.BadArgument("first", "The first argument must be between 1 and %d.", model.MaxPageSize)
	}
	if _, err := changes.Parse(after); err != nil { // else it would fail the histories that are read together
		return nil, err
	}
	return loader.From(ctx).History(ctx, id, &model.HistoryArgs{Type: typ, First: first, After: after})
}

// asOf returns a row as it was at a time, or nil if it did not exist.
func asOf[T any](ctx context.Context, rows db.Reader[T], id string, at model.Timestamp) (*T, error) {
	p, err := loader.From(ctx).Snapshot.PositionAt(ctx, at)
	if err != nil {
		return nil, err
	}
	key := db.Past{Position: p, ID: model.ParseID(id)}
	found, err := rows.AsOf(ctx, []db.Past{key})
	return found[key], err
}

func (r *mutationResolver) RestoreBook(
	ctx context.Context, input model.RestoreInput,
) (*model.Payload[model.Book], error) {
	return restore(ctx, r.store.Books, input, booksCreate, booksUpdate)
}

func (r *mutationResolver) RestoreGenre(
	ctx context.Context, input model.RestoreInput,
) (*model.Payload[model.Genre], error) {
	return restore(ctx, r.store.Genres, input, genresCreate, genresUpdate)
}

func (r *mutationResolver) RestoreCategory(
	ctx context.Context, input model.RestoreInput,
) (*model.Payload[model.Category], error) {
	return restore(ctx, r.store.Categories, input, categoriesCreate, categoriesUpdate)
}

// restore restores a row. A deleted row needs the scope create, another one update.
func restore[T any](
	ctx context.Context, writer db.Writer[T], input model.RestoreInput, create, update string,
) (*model.Payload[T], error) {
	if _, err := model.CallerOf(ctx); err != nil {
		return nil, err
	}
	row, err := writer.Revert(ctx, input, func(exists bool) error {
		if exists {
			return authorise(ctx, update)
		}
		return authorise(ctx, create)
	})
	if err != nil {
		return nil, err
	}
	return &model.Payload[T]{Row: row, ClientMutationID: input.ClientMutationID}, nil
}

func (r *queryResolver) ChangeSet(ctx context.Context, id string) (*model.ChangeSet, error) {
	parsed, err := changeSetID(id)
	if err != nil {
		return nil, err
	}
	return changeSet(ctx, parsed)
}

func changeSet(ctx context.Context, id model.ChangeSetID) (*model.ChangeSet, error) {
	set, err := loader.From(ctx).ChangeSet(ctx, id)
	if err == nil && set == nil {
		err = changes.ErrNoSet
	}
	return set, err
}

func changeSetID(text string) (model.ChangeSetID, error) {
	id, ok := model.ParseChangeSetID(text)
	if !ok {
		return id, model.BadArgument("id",
			"The id argument must be the id of a change set, as Change.changeSet gives it.")
	}
	return id, nil
}

func (r *changeResolver) ChangeSet(ctx context.Context, obj *model.Change) (*model.ChangeSet, error) {
	return changeSet(ctx, obj.Set)
}

// first returns the first change of a set.
func (r *changeSetResolver) first(ctx context.Context, set *model.ChangeSet) (*model.Change, error) {
	page, err := r.store.ChangesOfSet(ctx, set.ID, nil, 1)
	if err != nil {
		return nil, err
	}
	return page.Nodes[0], nil
}

func (r *changeSetResolver) At(ctx context.Context, obj *model.ChangeSet) (model.Timestamp, error) {
	c, err := r.first(ctx, obj)
	if err != nil {
		return 0, err
	}
	return c.At, nil
}

func (r *changeSetResolver) Actor(ctx context.Context, obj *model.ChangeSet) (*string, error) {
	c, err := r.first(ctx, obj)
	if err != nil {
		return nil, err
	}
	return c.ActorFor(ctx), nil
}

func (r *changeSetResolver) Changes(
	ctx context.Context, obj *model.ChangeSet, first int, after *string,
) (*model.ChangePage, error) {
	page, err := r.store.ChangesOfSet(ctx, obj.ID, after, first)
	if err != nil {
		return nil, err
	}
	r.PrimeChanges(ctx, page.Nodes)
	return page, nil
}

func (r *mutationResolver) UndoChangeSet(
	ctx context.Context, input model.UndoChangeSetInput,
) (*model.UndoChangeSetPayload, error) {
	if _, err := model.CallerOf(ctx); err != nil {
		return nil, err
	}
	id, err := changeSetID(input.ID)
	if err != nil {
		return nil, err
	}
	return r.store.Undo(ctx, id, input, func(rows []*model.UndoneRow) error {
		if input.DryRun { // a scope in the list of Idempotent is a write
			_, err := model.Authorise(ctx, undoScopes(rows)...)
			return err
		}
		return authorise(ctx, undoScopes(rows)...)
	})
}

// undoNouns are the types in scopes.
var undoNouns = map[model.CatalogueType]string{
	model.TypeBook: "books", model.TypeGenre: "genres", model.TypeCategory: "categories",
}

// undoScopes returns the scopes of the writes of an undo.
func undoScopes(rows []*model.UndoneRow) (scopes []string) {
	for _, row := range rows {
		scopes = append(scopes, undoNouns[row.Type]+":"+strings.ToLower(string(row.Operation)))
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// ChangeSet implements graph.ResolverRoot.
func (r *Resolver) ChangeSet() graph.ChangeSetResolver { return &changeSetResolver{r} }

type changeSetResolver struct{ *Resolver }
