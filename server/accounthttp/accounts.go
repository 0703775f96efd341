// Package accounthttp serves the routes by which accounts sign in and are managed at the pages. web has the pages
// themselves.
//
// Every POST takes a form (application/x-www-form-urlencoded) or JSON with the same names, at most 64 KiB, and only
// from a page of the own origin. A request with JSON, or with Accept: application/json, gets the envelope of /api:
// 200 with data. Another one is redirected (303) to the field next, a path of this server, or gets a new link or
// token as text. An error has the envelope, its status and errors by field.
//
//	POST /login                        email or name, password         signs in; each takes the name or the address
//	POST /logout                                                        ends the session
//	POST /welcome/check                secret                           data: {name}, empty for the first admin
//	POST /welcome                      secret, password, name           uses a link up and signs in; name: first admin
//	POST /account/name                 display_name                    sets the name that others see
//	POST /account/password             old_password, password           ends all sessions and begins a new one
//	POST /account/sessions/{id}/end                                     ends one's own session
//	POST /account/tokens               name, scopes (list), days        data: {token}, shown once
//	POST /account/tokens/{id}/revoke
//	GET  /account/data                                                  data: {account, sessions, tokens}
//
// Admins:
//
//	POST /accounts                     name, display_name, role         data: {account, secret}, shown once
//	POST /accounts/{id}/role           role
//	POST /accounts/{id}/disable        …/enable, …/end-sessions
//	POST /accounts/{id}/link                                            data: {secret}, shown once
//	GET  /accounts/data                                                 data: {accounts}
//	POST /webhooks                     url, description, types (list)  data: {signing}, the secret, shown once
//	POST /webhooks/{id}/disable        …/enable, …/remove
//
// A link is the address /welcome#SECRET. Browsers send no fragment, so previews and logs do not use it up.
package accounthttp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"library-catalogue/accounts"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/envelope"
	"library-catalogue/graph/model"
)

// MaxBodyBytes has room for the longest password, percent-encoded.
const MaxBodyBytes = 64 << 10

// Handler serves the routes.
type Handler struct {
	Service *accounts.Service
	Cookies *auth.Cookies
	// Webhooks has the use cases of webhooks; nil: their routes are missing.
	Webhooks Webhooks
	// Refuse writes the page for an error of a form without scripts, with a status. email and next are fields of the
	// form.
	Refuse func(w http.ResponseWriter, r *http.Request, err error, status int, email, next string)
}

// Webhooks has the use cases of webhooks for admins, with their authorisation.
type Webhooks interface {
	List(ctx context.Context) ([]*model.Webhook, error)
	Add(ctx context.Context, url, description string, types []string) (secret string, err error)
	Enable(ctx context.Context, id model.ID) error
	Disable(ctx context.Context, id model.ID) error
	Remove(ctx context.Context, id model.ID) error
}

// route serves a POST. The result is nil for most.
type route = func(http.ResponseWriter, *http.Request, input) (result, error)

// input has the fields of all routes.
type input struct {
	Email       string   `json:"email"`
	Name        string   `json:"name"`
	DisplayName string   `json:"display_name"`
	Password    string   `json:"password"`
	OldPassword string   `json:"old_password"`
	Secret      string   `json:"secret"`
	Role        string   `json:"role"`
	Scopes      []string `json:"scopes"`
	Days        int      `json:"days"`
	URL         string   `json:"url"`
	Description string   `json:"description"`
	Types       []string `json:"types"`
	Next        string   `json:"next"`

	id model.ID // in the path, or -1
}

// result is the data of a response, which is nil for most.
type result = map[string]any

// Route adds the routes to mux.
func (h *Handler) Route(mux *http.ServeMux) {
	routes := map[string]route{
		"POST /login":                      h.logIn,
		"POST /logout":                     h.logOut,
		"POST /welcome":                    h.accept,
		"POST /welcome/check":              h.checkLink,
		"POST /account/name":               h.rename,
		"POST /account/password":           h.changePassword,
		"POST /account/sessions/{id}/end":  h.endSession,
		"POST /account/tokens":             h.createToken,
		"POST /account/tokens/{id}/revoke": h.change(h.Service.RevokeToken),
		"POST /accounts":                   h.invite,
		"POST /accounts/{id}/role":         h.setRole,
		"POST /accounts/{id}/disable":      h.change(h.Service.Disable),
		"POST /accounts/{id}/enable":       h.change(h.Service.Enable),
		"POST /accounts/{id}/end-sessions": h.change(h.Service.EndSessions),
		"POST /accounts/{id}/link":         h.link,
	}
	if h.Webhooks != nil {
		routes["POST /webhooks"] = h.addWebhook
		routes["POST /webhooks/{id}/enable"] = h.change(h.Webhooks.Enable)
		routes["POST /webhooks/{id}/disable"] = h.change(h.Webhooks.Disable)
		routes["POST /webhooks/{id}/remove"] = h.change(h.Webhooks.Remove)
	}
	for pattern, serve := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.post(w, r, serve) })
	}
	mux.HandleFunc("GET /account/data", func(w http.ResponseWriter, r *http.Request) { h.write(w, r, h.own) })
	mux.HandleFunc("GET /accounts/data", func(w http.ResponseWriter, r *http.Request) { h.write(w, r, h.all) })
}

// post reads the input of a request, and writes the result of serve.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, serve route) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	wantsJSON := isJSON(r.Header.Get("Content-Type")) || strings.Contains(r.Header.Get("Accept"), "application/json")
	in, err := h.read(w, r)
	var data result
	if err == nil {
		data, err = serve(w, r, in)
	}
	switch {
	case err != nil && !wantsJSON && h.Refuse != nil:
		h.Refuse(w, r, err, envelope.StatusOf(envelope.LoginError(err)), in.Email, in.Next)
	case err != nil:
		envelope.WriteError(w, r, envelope.LoginError(err))
	case wantsJSON:
		envelope.WriteSuccess(w, http.StatusOK, "Done", data)
	case data["secret"] != nil || data["token"] != nil || data["signing"] != nil:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "It is not shown again: %s\n", cmp.Or(data["token"], data["secret"], data["signing"]))
	default:
		http.Redirect(w, r, accounts.LocalPath(in.Next), http.StatusSeeOther)
	}
}

// write writes the result of a read.
func (h *Handler) write(w http.ResponseWriter, r *http.Request, read func(context.Context) (result, error)) {
	data, err := read(r.Context())
	if err != nil {
		envelope.WriteError(w, r, envelope.LoginError(err))
		return
	}
	envelope.WriteSuccess(w, http.StatusOK, "Done", data)
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}

// read reads the input of a request of the own origin.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (in input, err error) {
	if err := h.Cookies.Check(r); err != nil {
		return in, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBodyBytes))
	switch _, tooLarge := errors.AsType[*http.MaxBytesError](err); {
	case tooLarge:
		return in, model.Errorf(model.TooLarge, "The request body must not be larger than 64 KiB.")
	case err != nil:
		return in, envelope.Error(http.StatusBadRequest, "The request body could not be read.")
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case len(body) == 0 && (media == "" || err == nil): // a route without fields
	case media == "application/json":
		if model.CheckJSON(body) != nil || json.Unmarshal(body, &in) != nil {
			return in, envelope.Error(http.StatusBadRequest, "The request body is not valid JSON of these fields.")
		}
	case media == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return in, envelope.Error(http.StatusBadRequest, "The request body is not a valid form.")
		}
		days, _ := strconv.Atoi(form.Get("days")) // 0 is refused where it counts
		in = input{
			Email: form.Get("email"), Name: form.Get("name"), DisplayName: form.Get("display_name"),
			Password:    form.Get("password"),
			OldPassword: form.Get("old_password"), Secret: form.Get("secret"), Role: form.Get("role"),
			Scopes: form["scopes"], Days: days, Next: form.Get("next"),
			URL: form.Get("url"), Description: form.Get("description"), Types: form["types"],
		}
	default:
		return in, envelope.Error(http.StatusUnsupportedMediaType, "The request body must be a form or JSON.")
	}
	in.id = model.ParseID(r.PathValue("id"))
	return in, nil
}

// change returns a route that changes the row with the id of the path.
func (h *Handler) change(do func(context.Context, model.ID) error) route {
	return func(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
		return nil, do(r.Context(), in.id)
	}
}

func (h *Handler) logIn(w http.ResponseWriter, r *http.Request, in input) (result, error) {
	if err := h.Cookies.Usable(r); err != nil {
		return nil, err
	}
	name := cmp.Or(strings.TrimSpace(in.Email), in.Name)
	signedIn, err := h.Service.Login(r.Context(), name, in.Password, r.UserAgent())
	return h.signedIn(w, r, signedIn, err)
}

// signedIn sets the cookie of a new session, and ends the one that the browser had.
func (h *Handler) signedIn(w http.ResponseWriter, r *http.Request, in *accounts.SignedIn, err error) (result, error) {
	if err != nil {
		return nil, err
	}
	if p, err := model.CallerOf(r.Context()); err == nil && p.Cookie {
		_ = h.Service.Logout(r.Context()) // else it ends after 30 days
	}
	h.Cookies.Set(w, in.Secret, in.Expires)
	return result{"account": accountView(*in.Account)}, nil
}

func (h *Handler) logOut(w http.ResponseWriter, r *http.Request, _ input) (result, error) {
	h.Cookies.Clear(w)
	if p, err := model.CallerOf(r.Context()); err != nil || !p.Cookie {
		return nil, nil // it has ended
	}
	return nil, h.Service.Logout(r.Context())
}

func (h *Handler) accept(w http.ResponseWriter, r *http.Request, in input) (result, error) {
	if err := h.Cookies.Usable(r); err != nil {
		return nil, err
	}
	signedIn, err := h.Service.Accept(r.Context(),
		accounts.Acceptance{Secret: in.Secret, Name: in.Name, Password: in.Password, Agent: r.UserAgent()})
	return h.signedIn(w, r, signedIn, err)
}

func (h *Handler) checkLink(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	if err := h.Cookies.Usable(r); err != nil {
		return nil, err
	}
	name, err := h.Service.CheckLink(r.Context(), in.Secret)
	return result{"name": name}, err
}

func (h *Handler) changePassword(w http.ResponseWriter, r *http.Request, in input) (result, error) {
	signedIn, err := h.Service.ChangePassword(r.Context(), in.OldPassword, in.Password, r.UserAgent())
	if err != nil {
		return nil, err
	}
	h.Cookies.Set(w, signedIn.Secret, signedIn.Expires)
	return nil, nil
}

func (h *Handler) rename(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	return nil, h.Service.Rename(r.Context(), in.DisplayName)
}

func (h *Handler) endSession(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	p, err := model.CallerOf(r.Context())
	if err != nil {
		return nil, err
	}
	var own model.ID
	if p.Account != nil {
		own = p.Account.ID
	}
	return nil, h.Service.EndSession(r.Context(), own, in.id)
}

func (h *Handler) createToken(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	const day = 24 * time.Hour
	token, err := h.Service.CreateToken(r.Context(),
		accounts.TokenInput{Name: in.Name, Scopes: in.Scopes, TTL: time.Duration(min(max(in.Days, 0), 1_000)) * day})
	return result{"token": token}, err
}

func (h *Handler) invite(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	invited, secret, err := h.Service.Invite(r.Context(),
		accounts.Invitation{Name: in.Name, DisplayName: in.DisplayName, Role: model.Role(in.Role)})
	if err != nil {
		return nil, err
	}
	return result{"account": accountView(*invited), "secret": secret}, nil
}

func (h *Handler) setRole(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	return nil, h.Service.SetRole(r.Context(), in.id, model.Role(in.Role))
}

func (h *Handler) link(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	secret, err := h.Service.Relink(r.Context(), in.id)
	return result{"secret": secret}, err
}

func (h *Handler) addWebhook(_ http.ResponseWriter, r *http.Request, in input) (result, error) {
	secret, err := h.Webhooks.Add(r.Context(), in.URL, in.Description, in.Types)
	return result{"signing": secret}, err
}
