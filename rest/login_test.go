package rest_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
)

// refusing refuses each login with an error.
type refusing struct{ err error }

func (r refusing) LoginToken(context.Context, string, string, string) (string, time.Time, error) {
	return "", time.Time{}, r.err
}

func (r refusing) Logout(context.Context) error { return r.err }

// TestRefusedLogin logs a failure, but not a refusal for a time, which has its own Retry-After.
func TestRefusedLogin(t *testing.T) {
	t.Parallel()
	store := catalogtest.Open(t, catalogtest.SQLite(t))
	for seconds, err := range map[string]error{
		"2": &model.Error{Code: model.Unavailable, Message: "busy", Err: &model.RetryError{After: 1_500 * time.Millisecond}},
		"1": model.Errorf(model.Unavailable, "down"),
	} {
		var log bytes.Buffer
		h := rest.New(resolvers.New(store), rest.Options{Accounts: refusing{err}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		for _, route := range []string{"/api/login", "/api/logout"} {
			log.Reset()
			r := httptest.NewRequest(http.MethodPost, route, strings.NewReader(`{"email":"ada","password":"x"}`))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != seconds {
				t.Errorf("%s: status %d, Retry-After %q, want %s", route, w.Code, w.Header().Get("Retry-After"), seconds)
			}
			if logged := log.Len() > 0; logged != (seconds == "1") {
				t.Errorf("%s, %v: the log says %q", route, err, log.String())
			}
		}
	}
}
