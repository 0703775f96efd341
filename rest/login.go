package rest

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"library-catalogue/edge/envelope"
	"library-catalogue/graph/model"
)

// Accounts are the people who log in.
type Accounts interface {
	// LoginToken returns a token of a new session. An error of Unauthenticated has one text for all causes.
	LoginToken(ctx context.Context, name, password, agent string) (token string, expires time.Time, err error)
	// Logout ends the session of the caller's token. A token without one is BadUserInput.
	Logout(ctx context.Context) error
}

// logIn responds with a login token. The order of checks: media type and JSON, fields, failed logins, credentials.
func (h *handler) logIn(w http.ResponseWriter, r *http.Request, _ *resource, _ string) error {
	_, form, err := readForm(w, r)
	if err != nil {
		return err
	}
	name := cmp.Or(strings.TrimSpace(form["email"].Written()), form["name"].Written())
	token, expires, err := h.options.Accounts.LoginToken(r.Context(), name, form["password"].Written(), r.UserAgent())
	if err != nil {
		return envelope.LoginError(err)
	}
	data := model.AppendString([]byte(`{"token":`), token)
	data = model.Timestamp(expires.UnixMicro()).AppendJSON(append(data, `,"expires_at":`...))
	envelope.WriteJSON(w, http.StatusOK, envelope.Success("Logged in successfully", append(data, '}')))
	return nil
}

// logOut ends the session of the request's token.
func (h *handler) logOut(w http.ResponseWriter, r *http.Request, _ *resource, _ string) error {
	if err := h.options.Accounts.Logout(r.Context()); err != nil {
		return err
	}
	envelope.WriteJSON(w, http.StatusOK, envelope.Success("Logged out successfully", []byte("null")))
	return nil
}
