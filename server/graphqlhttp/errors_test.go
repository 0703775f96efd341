package graphqlhttp

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

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

// TestLoggedErrors logs a failure, but not a refusal for a time.
func TestLoggedErrors(t *testing.T) {
	t.Parallel()
	for message, err := range map[string]error{
		"busy": &model.Error{Code: model.Unavailable, Message: "busy", Err: &model.RetryError{After: time.Second}},
		"down": model.Errorf(model.Unavailable, "down"),
	} {
		var log bytes.Buffer
		p := presenter{slog.New(slog.NewTextHandler(&log, nil))}
		if presented := p.presentError(t.Context(), err); presented.Message != message || presented.Extensions["code"] != "UNAVAILABLE" {
			t.Errorf("%s: %v %v", message, presented, presented.Extensions)
		}
		if logged := log.Len() > 0; logged != (message == "down") {
			t.Errorf("%s: the log says %q", message, log.String())
		}
	}
}
