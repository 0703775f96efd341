package resolvers

import (
	"context"
	"slices"

	"library-catalogue/graph/model"
)

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

// Authorise checks that the caller may perform verb on rows of a type, for example "create" on
// "books". Every write does this itself; a handler may call it before it reads a request body.
func (r *Resolver) Authorise(ctx context.Context, noun, verb string) error {
	return authorise(ctx, noun+":"+verb)
}

// neededScopes is the context key for the list of checked scopes.
type neededScopes struct{}

// authorise checks that the caller has the scopes.
func authorise(ctx context.Context, scopes ...string) error {
	if needed, ok := ctx.Value(neededScopes{}).(*[]string); ok {
		*needed = append(*needed, scopes...)
	}
	_, err := model.Authorise(ctx, scopes...)
	return err
}

func createBookScopes(in *model.CreateBookInput) []string {
	scopes := []string{booksCreate}
	if in.Genre != nil && in.Genre.Create != nil {
		scopes = append(scopes, createGenreScopes(in.Genre.Create)...)
	}
	return scopes
}

func createGenreScopes(in *model.CreateGenreInput) []string {
	scopes := []string{genresCreate}
	if in.Category != nil && in.Category.Create != nil {
		scopes = append(scopes, categoriesCreate)
	}
	return scopes
}

func bulkScopes[T any](rows []*T, scopesOf func(*T) []string) (scopes []string) {
	for _, row := range rows {
		scopes = append(scopes, scopesOf(row)...)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

func deleteGenreScopes(policy model.OnChildren) []string {
	return deleteScopes(policy, booksUpdate, genresDelete, booksDelete)
}

func deleteCategoryScopes(policy model.OnChildren) []string {
	return deleteScopes(policy, genresUpdate, categoriesDelete, genresDelete, booksDelete)
}

// deleteScopes returns the scopes to delete a row, whose children stay, move by reassign or are deleted with it.
func deleteScopes(policy model.OnChildren, reassign, own string, children ...string) []string {
	switch policy {
	case model.Cascade:
		return append([]string{own}, children...)
	case model.Reassign:
		return []string{own, reassign}
	}
	return []string{own}
}

// upsertScopes returns the scopes for an upsert. With an id it creates nothing.
func upsertScopes(id *model.ID, create, update string) []string {
	if id != nil {
		return []string{update}
	}
	return []string{create, update}
}
