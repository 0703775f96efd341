package servertest

import (
	"slices"
	"testing"
	"time"

	"library-catalogue/edge/auth"
	"library-catalogue/server"
)

// Secret signs the tokens.
var Secret = []byte("a secret of 32 bytes and no less")

// NeededScopes lists the scopes of each mutation that has fixed ones. The others need
// catalogue:write, or the scopes that their resolver names.
var NeededScopes = map[string][]string{
	"createBook": {"books:create"}, "updateBook": {"books:update"}, "deleteBook": {"books:delete"},
	"createGenre": {"genres:create"}, "updateGenre": {"genres:update"},
	"deleteGenre":    {"genres:delete", "books:delete"},
	"createCategory": {"categories:create"}, "updateCategory": {"categories:update"},
	"deleteCategory": {"categories:delete", "genres:delete", "books:delete"},
	"upsertBook":     {"books:create", "books:update"}, "upsertGenre": {"genres:create", "genres:update"},
	"upsertCategory": {"categories:create", "categories:update"},
	"restoreBook":    {"books:update"}, "restoreGenre": {"genres:update"}, "restoreCategory": {"categories:update"},
	"updateBooks": {"books:update"}, "updateGenres": {"genres:update"}, "updateCategories": {"categories:update"},
	"deleteBooks": {"books:delete"}, "deleteGenres": {"genres:delete", "books:delete"},
	"deleteCategories": {"categories:delete", "genres:delete", "books:delete"},
	"markDifferent":    {"books:update"},
	"createBooks":      {"books:create"}, "createGenres": {"genres:create"}, "createCategories": {"categories:create"},
}

// ServeScoped returns a client of a server that checks scopes. Its token has catalogue:write.
func ServeScoped(t *testing.T, change ...func(*server.Config)) *Client {
	t.Helper()
	verifier, err := auth.New(t.Context(), auth.Config{Secret: Secret, Scoped: true})
	Must(t, err)
	c := ServeWith(t, func(cfg *server.Config) {
		cfg.Authenticate = verifier.Middleware
		for _, change := range change {
			change(cfg)
		}
	})
	c.Token = TokenFor(t, "catalogue:write")
	return c
}

// TokenFor returns a token of subject "tester" with scopes.
func TokenFor(t *testing.T, scopes ...string) string {
	t.Helper()
	return TokenOf(t, "tester", scopes...)
}

// TokenOf returns a token of a subject, valid for an hour.
func TokenOf(t testing.TB, subject string, scopes ...string) string {
	t.Helper()
	token, err := auth.Sign(Secret, subject, "", "", time.Hour, time.Now(), scopes...)
	Must(t, err)
	return token
}

// Without returns all without one.
func Without(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == one })
}
