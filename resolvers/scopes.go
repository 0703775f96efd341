package resolvers

import (
	"context"
	"slices"

	"library-catalogue/graph/model"
)

// Authorise returns an error unless the caller may do what verb says to rows of
// the type that noun names, as in "books" and "create". Every write asks this
// itself; who has a body to read first may ask before it.
func (r *Resolver) Authorise(ctx context.Context, noun, verb string) error {
	return authorise(ctx, []string{noun + ":" + verb})
}

func authorise(ctx context.Context, scopes []string) error {
	_, err := model.Authorise(ctx, scopes...)
	return err
}

// createBookScopes returns the scopes that the creation of a book needs.
func createBookScopes(in *model.CreateBookInput) []string {
	scopes := []string{"books:create"}
	if in.Genre != nil && in.Genre.Create != nil {
		scopes = append(scopes, createGenreScopes(in.Genre.Create)...)
	}
	return scopes
}

// createGenreScopes returns the scopes that the creation of a genre needs.
func createGenreScopes(in *model.CreateGenreInput) []string {
	scopes := []string{"genres:create"}
	if in.Category != nil && in.Category.Create != nil {
		scopes = append(scopes, "categories:create")
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

// deleteScopes returns the scopes that the deletion of a row needs, whose type is
// noun and whose children are of the types below it.
func deleteScopes(policy model.OnChildren, noun string, below ...string) []string {
	scopes := []string{noun + ":delete"}
	switch policy {
	case model.Cascade:
		for _, children := range below {
			scopes = append(scopes, children+":delete")
		}
	case model.Reassign:
		scopes = append(scopes, below[0]+":update")
	}
	return scopes
}

// upsertScopes returns the scopes that the upsert of a row needs: with an id it
// creates nothing.
func upsertScopes(noun string, id *model.ID) []string {
	if id != nil {
		return []string{noun + ":update"}
	}
	return []string{noun + ":create", noun + ":update"}
}
