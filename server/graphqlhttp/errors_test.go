package graphqlhttp

import (
	"testing"

	"library-catalogue/graph/model"
)

// TestEveryCodeIsDocumented wants no code in an answer but those that clients know.
func TestEveryCodeIsDocumented(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{
		"BAD_USER_INPUT": true, "NOT_FOUND": true, "CONFLICT": true, "UNAUTHENTICATED": true, "FORBIDDEN": true,
		"TOO_LARGE": true, "POSITION_GONE": true, "RATE_LIMITED": true, "COST_LIMIT_EXCEEDED": true, "DEPTH_LIMIT_EXCEEDED": true,
		"UNAVAILABLE": true, "INTERNAL": true,
	}
	for _, code := range model.Codes {
		if text := errorCode(code); !documented[text] {
			t.Errorf("%s has the code %q, which clients do not know", code, text)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for snake, name := range map[string]string{"": "", "name": "name", "published_at": "publishedAt", "genre_id": "genreId", "nodeIds": "nodeIds", "a__b": "aB"} {
		if got := model.Camel(snake); got != name {
			t.Errorf("Camel(%q) is %q, want %q", snake, got, name)
		}
	}
	for name, snake := range map[string]string{"": "", "name": "name", "publishedAt": "published_at", "genreId": "genre_id"} {
		if got := model.Snake(name); got != snake {
			t.Errorf("Snake(%q) is %q, want %q", name, got, snake)
		}
	}
}
