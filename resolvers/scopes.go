package resolvers

import (
	"context"
	"slices"

	"library-catalogue/graph/model"
)

// The scopes, by what they allow.
const (
	booksCreate      = "books:create"
	booksUpdate      = "books:update"
	booksDelete      = "books:delete"
	genresCreate     = "genres:create"
	genresUpdate     = "genres:update"
	genresDelete     = "genres:delete"
	categoriesCreate = "categories:create"
	categoriesUpdate = "categories:update"
	categoriesDelete = "categories:delete"
)

// Authorise returns an error unless the caller may do what verb says to rows of
// the type that noun names, as in "books" and "create". Every write asks this
// itself; who has a body to read first may ask before it.
func (r *Resolver) Authorise(ctx context.Context, noun, verb string) error {
	return authorise(ctx, noun+":"+verb)
}

// neededScopes is the key of a context in which the scopes that are asked for are
// noted.
type neededScopes struct{}

// authorise returns an error unless the caller has the scopes of a write.
func authorise(ctx context.Context, scopes ...string) error {
	if needed, ok := ctx.Value(neededScopes{}).(*[]string); ok {
		*needed = append(*needed, scopes...)
	}
	_, err := model.Authorise(ctx, scopes...)
	return err
}

// createBookScopes returns the scopes that the creation of a book needs.
func createBookScopes(in *model.CreateBookInput) []string {
	scopes := []string{booksCreate}
	if in.Genre != nil && in.Genre.Create != nil {
		scopes = append(scopes, createGenreScopes(in.Genre.Create)...)
	}
	return scopes
}

// createGenreScopes returns the scopes that the creation of a genre needs.
func createGenreScopes(in *model.CreateGenreInput) []string {
	scopes := []string{genresCreate}
	if in.Category != nil && in.Category.Create != nil {
		scopes = append(scopes, categoriesCreate)
	}
	return scopes
}

// bulkScopes returns the scopes that rows need together.
func bulkScopes[T any](rows []*T, scopesOf func(*T) []string) (scopes []string) {
	for _, row := range rows {
		scopes = append(scopes, scopesOf(row)...)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// deleteGenreScopes returns the scopes that the deletion of genres needs.
func deleteGenreScopes(policy model.OnChildren) []string {
	switch policy {
	case model.Cascade:
		return []string{genresDelete, booksDelete}
	case model.Reassign:
		return []string{genresDelete, booksUpdate}
	}
	return []string{genresDelete}
}

// deleteCategoryScopes returns the scopes that the deletion of categories needs.
func deleteCategoryScopes(policy model.OnChildren) []string {
	switch policy {
	case model.Cascade:
		return []string{categoriesDelete, genresDelete, booksDelete}
	case model.Reassign:
		return []string{categoriesDelete, genresUpdate}
	}
	return []string{categoriesDelete}
}

// upsertScopes returns the scopes that the upsert of a row needs: with an id it
// creates nothing.
func upsertScopes(id *model.ID, create, update string) []string {
	if id != nil {
		return []string{update}
	}
	return []string{create, update}
}
