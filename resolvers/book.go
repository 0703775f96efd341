package resolvers

import (
	"context"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *bookResolver) Genre(ctx context.Context, obj *model.Book) (*model.Genre, error) {
	return parent(loader.From(ctx).Genres.Load(ctx, obj.GenreID))
}

func (r *mutationResolver) CreateBook(ctx context.Context, input model.CreateBookInput) (*model.CreateBookPayload, error) {
	if _, err := model.Authorise(ctx, bookScopes(&input)...); err != nil {
		return nil, err
	}
	var book *model.Book
	var taxonomy int64
	var err error
	plain := len(input.Validate()) == 0 && input.Genre == nil
	if plain {
		book, taxonomy, err = r.store.CreateBookAt(ctx, &input)
	} else {
		book, err = only(r.createBooks(ctx, []*model.CreateBookInput{&input}, true))
	}
	if err != nil {
		return nil, err
	}
	loaders := wrote(ctx)
	if plain {
		loaders.PrimeTaxonomy(ctx, taxonomy)
	}
	loaders.PrimeBooks([]*model.Book{book})
	return &model.CreateBookPayload{Book: book, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpdateBook(ctx context.Context, input model.UpdateBookInput) (*model.UpdateBookPayload, error) {
	if _, err := model.Authorise(ctx, "books:update"); err != nil {
		return nil, err
	}
	if err := r.checkBookPatch(ctx, input.Patch); err != nil {
		return nil, err
	}
	book, err := r.store.UpdateBook(ctx, input.ID, input.Patch, input.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	wrote(ctx).PrimeBooks([]*model.Book{book})
	return &model.UpdateBookPayload{Book: book, ClientMutationID: input.ClientMutationID}, nil
}

// checkBookPatch says what is wrong with new values, the row that they point at included.
func (r *mutationResolver) checkBookPatch(ctx context.Context, patch *model.BookPatch) error {
	problems := patch.Validate()
	if id := patch.GenreID.Value(); id != nil {
		if err := refer(ctx, &problems, "genre_id", *id, r.store.GenresByID); err != nil {
			return err
		}
	}
	return problems.Err()
}

func (r *mutationResolver) DeleteBook(ctx context.Context, input model.DeleteBookInput) (*model.DeleteBookPayload, error) {
	if _, err := model.Authorise(ctx, "books:delete"); err != nil {
		return nil, err
	}
	if err := r.store.DeleteBook(ctx, input.ID, input.ExpectedVersion); err != nil {
		return nil, err
	}
	wrote(ctx)
	return &model.DeleteBookPayload{DeletedBookID: input.ID, ClientMutationID: input.ClientMutationID}, nil
}

func (r *queryResolver) Book(ctx context.Context, id string) (*model.Book, error) {
	return alone(r.LoadBooks(ctx, []model.ID{model.ParseID(id)}))
}

func (r *queryResolver) Books(ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.BookConnection, error) {
	return connection("Book", model.PageArgs{First: first, After: after, Last: last, Before: before, Offset: offset, Filter: filter, OrderBy: orderBy, Search: search},
		func(ctx context.Context, p *model.Page) ([]*model.Book, error) {
			books, err := r.store.Books(ctx, p)
			loader.From(ctx).PrimeBooks(books)
			return books, err
		}, total("books", r.store.CountBooks), r.groups)
}

// Book gives the resolvers of a book's fields.
func (r *Resolver) Book() graph.BookResolver { return &bookResolver{r} }

type bookResolver struct{ *Resolver }
