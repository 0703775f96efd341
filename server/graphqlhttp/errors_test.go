package graphqlhttp

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

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

// TestRetryAfter writes a response with several delays: the header has the longest.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	p := presenter{slog.New(slog.DiscardHandler)}
	response := &graphql.Response{Data: []byte("null")}
	for _, err := range []error{
		model.Errorf(model.Conflict, "a"), &model.Error{Code: model.RateLimited, Message: "b", Err: &model.RetryError{After: 2_100 * time.Millisecond}},
		model.Errorf(model.Unavailable, "c"), &model.RetryError{After: time.Minute},
	} {
		response.Errors = append(response.Errors, p.presentError(t.Context(), err))
	}
	w := httptest.NewRecorder()
	writeResponse(w, httptest.NewRequest(http.MethodPost, "/graphql", nil), plainJSON, http.StatusOK, response)
	const want = `{"data":null,"errors":[{"message":"a","extensions":{"code":"CONFLICT","requestId":""}},` +
		`{"message":"b","extensions":{"code":"RATE_LIMITED","requestId":"","retryAfter":3}},` +
		`{"message":"c","extensions":{"code":"UNAVAILABLE","requestId":"","retryAfter":1}},` +
		`{"message":"Internal server error","extensions":{"code":"INTERNAL","requestId":""}}]}`
	if header := w.Header().Get("Retry-After"); header != "3" || w.Body.String() != want {
		t.Errorf("Retry-After %q: %s", header, w.Body)
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
