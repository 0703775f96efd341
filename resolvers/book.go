package resolvers

import (
	"context"
	"slices"

	"library-catalogue/db"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/resolvers/loader"
)

func (r *bookResolver) Genre(ctx context.Context, obj *model.Book) (*model.Genre, error) {
	if obj.AsOf != nil {
		return requireRow(ctx, db.Past{Position: *obj.AsOf, ID: obj.GenreID}, loader.From(ctx).PastGenres.Load)
	}
	return loadParent(ctx, "genre", obj.GenreID, loader.From(ctx).Genres.Load)
}

func (r *mutationResolver) CreateBook(
	ctx context.Context, input model.CreateBookInput,
) (*model.CreateBookPayload, error) {
	if err := authorise(ctx, createBookScopes(&input)...); err != nil {
		return nil, err
	}
	var book *model.Book
	var err error
	if len(input.Validate()) == 0 && input.Genre == nil {
		book, err = r.store.CreateBook(ctx, &input, loader.From(ctx).Snapshot)
	} else {
		book, err = singleCreated(r.createBooks(ctx, []*model.CreateBookInput{&input}, true))
	}
	if err != nil {
		return nil, err
	}
	return &model.CreateBookPayload{Row: book, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpdateBook(
	ctx context.Context, input model.UpdateBookInput,
) (*model.UpdateBookPayload, error) {
	return updateRow(ctx, r.store.Books, input, booksUpdate, r.checkBookPatch)
}

// checkBookPatch validates new values, including the genre's existence.
func (r *mutationResolver) checkBookPatch(ctx context.Context, patch *model.BookPatch) error {
	problems := patch.Validate()
	if id := patch.GenreID.Value(); id != nil {
		if err := checkReference(ctx, &problems, "genre_id", *id, r.store.Genres); err != nil {
			return err
		}
	}
	return problems.Err()
}

func (r *mutationResolver) DeleteBook(
	ctx context.Context, input model.DeleteBookInput,
) (*model.DeleteBookPayload, error) {
	if err := authorise(ctx, booksDelete); err != nil {
		return nil, err
	}
	if err := r.store.Books.Delete(ctx, input.ID, input.ExpectedVersion, model.Cascade); err != nil {
		return nil, err
	}
	return model.NewDeletePayload("Book", input.ID, input.ClientMutationID), nil
}

func (r *queryResolver) Book(ctx context.Context, id string, at *model.Timestamp) (*model.Book, error) {
	if at != nil {
		return asOf(ctx, loader.From(ctx).Snapshot.Books, id, *at)
	}
	return single(r.LoadBooks(ctx, []model.ID{model.ParseID(id)}))
}

func (r *queryResolver) BooksByIsbn(ctx context.Context, number string) ([]*model.Book, error) {
	digits, ok := isbn.Parse(number)
	if !ok {
		var problems model.FieldErrors
		problems.Add("isbn", model.Entities["Book"].Field("isbn").Syntax.Problem())
		return nil, problems.Err()
	}
	return loader.From(ctx).BooksOfISBN(ctx, digits)
}

// searchISBN turns the search for an ISBN that books have into a condition, by which they are equally relevant.
func (r *queryResolver) searchISBN(ctx context.Context, digits string, args *model.PageArgs) error {
	found, err := r.BooksByIsbn(ctx, digits)
	if err != nil || len(found) == 0 {
		return err
	}
	args.Search = nil
	has := model.Filter{"isbn": map[string]any{"eq": digits}}
	if args.Filter != nil {
		has["and"] = []any{args.Filter}
	}
	args.Filter = has
	args.OrderBy = slices.DeleteFunc(slices.Clone(args.OrderBy), func(by *model.OrderBy) bool {
		return by.Field == model.Relevance
	})
	return nil
}

// LoadBooks returns the books with these ids, nil for a missing one.
func (r *Resolver) LoadBooks(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	return loader.From(ctx).Books.LoadMany(ctx, ids)
}

func (r *queryResolver) Books(
	ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any,
	orderBy []*model.OrderBy, search *string,
) (*model.BookConnection, error) {
	args := pageArgs(first, after, last, before, offset, filter, orderBy, search)
	if search != nil {
		if digits, ok := isbn.Parse(*search); ok {
			if err := r.searchISBN(ctx, digits, &args); err != nil {
				return nil, err
			}
		}
	}
	loaders := loader.From(ctx)
	return connection("Book", args, loaders.Books.Page, loaders.Books.Count, loaders.Books.Correct, loaders.Groups)
}

// Book implements graph.ResolverRoot.
func (r *Resolver) Book() graph.BookResolver { return &bookResolver{} }

type bookResolver struct{}
