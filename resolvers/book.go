package resolvers

import (
	"context"
	"slices"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/isbn"
	"library-catalogue/resolvers/loader"
	"library-catalogue/task"
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
		problems.Add("isbn", model.Entities["Book"].Field("isbn").Syntax.Problem)
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

// Sources find books in other libraries. lookup.Service implements it.
type Sources interface {
	Find(ctx context.Context, isbn string) (*model.Lookup, error)
}

var errNoSources = model.Errorf(model.Forbidden,
	"Look-ups are off. The operator turns them on with CATALOGUE_LOOKUP, such as dnb,openlibrary.")

// foundKey is the context key for a *model.Lookup.
type foundKey struct{}

// WithLookup asks the sources for a book, and returns a context in which Query.lookup has the results. It takes
// seconds, so call it without a permit and a Snapshot.
func (r *Resolver) WithLookup(ctx context.Context, isbn string) (context.Context, error) {
	if err := authorise(ctx, booksCreate); err != nil {
		return ctx, err
	}
	if r.Sources == nil {
		return ctx, errNoSources
	}
	found, err := r.Sources.Find(ctx, isbn)
	return context.WithValue(ctx, foundKey{}, found), err
}

// Lookup returns the results in the context. It panics without WithLookup.
func (r *queryResolver) Lookup(ctx context.Context, _ string) (*model.Lookup, error) {
	if err := authorise(ctx, booksCreate); err != nil {
		return nil, err
	}
	return ctx.Value(foundKey{}).(*model.Lookup), nil
}

// FindBooks returns the books with an ISBN, best first: one of this catalogue, or else those of the sources. Without
// one, problem says why. It waits while too many look-ups run.
func (r *Resolver) FindBooks(ctx context.Context, isbn string) (books []*model.FoundBook, problem string) {
	if err := authorise(ctx, booksCreate); err != nil {
		return nil, err.Error()
	}
	_, err := r.Read(ctx, model.NoRevision, model.NoReplica, func(ctx context.Context) (_ bool, err error) {
		books, err = r.storedBook(ctx, isbn)
		return false, err
	})
	found := new(model.Lookup)
	for err == nil && books == nil && ctx.Err() == nil {
		found, err = r.Sources.Find(ctx, isbn)
		if err == nil {
			return found.Books, found.Problem()
		}
		if model.IsCode(err, model.RateLimited) && task.Wait(ctx, time.Second, nil) {
			err = nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, "The look-ups ended before this row."
	case err != nil:
		return nil, model.AsError(err).Message
	}
	return books, ""
}

// storedBook returns the first book of this catalogue with an ISBN as a found book, or nil.
func (r *Resolver) storedBook(ctx context.Context, isbn string) ([]*model.FoundBook, error) {
	stored, err := loader.From(ctx).BooksOfISBN(ctx, isbn)
	if err != nil || len(stored) == 0 {
		return nil, err
	}
	genre, err := r.Book().Genre(ctx, stored[0])
	if err != nil {
		return nil, err
	}
	form := stored[0].Form()
	form["genre"] = model.Text(genre.Name)
	return []*model.FoundBook{{Form: form, Source: "this catalogue"}}, nil
}

func (*lookupResolver) Existing(ctx context.Context, obj *model.Lookup) ([]*model.Book, error) {
	return loader.From(ctx).BooksOfISBN(ctx, obj.ISBN)
}

// Book implements graph.ResolverRoot.
func (r *Resolver) Book() graph.BookResolver { return &bookResolver{} }

// Lookup implements graph.ResolverRoot.
func (r *Resolver) Lookup() graph.LookupResolver { return &lookupResolver{} }

type (
	bookResolver   struct{}
	lookupResolver struct{}
)
