package web

import (
	"net/http"
	"net/url"
	"strings"

	"library-catalogue/accounts"
	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// Login configures the login at an OpenID provider by authorization code with PKCE (RFC 7636), as a public client.
type Login struct {
	Issuer   string // URL of the provider
	ClientID string
	Audience string // requested audience of the token; empty: the client
	Scopes   string // requested scopes, separated by spaces
	// Endpoints returns the provider's authorization endpoint and its token endpoint; ok is false until they are known.
	Endpoints func() (authorization, token string, ok bool)
}

// loginView has the data of the login page.
type loginView struct {
	*Login
	Authorization, Token string
}

// signInView has the data of the form to sign in.
type signInView struct {
	Email, Next, Message string
	Provider             bool // an OpenID provider signs in too
}

func (p *Pages) signInPage(r *http.Request, in signInView) *view.Page {
	in.Next, in.Provider = accounts.LocalPath(in.Next), p.login != nil
	return &view.Page{Name: "signin.html", Title: language.Of(r).Text("Sign in"), Script: "people.js",
		Here: in.Next, Main: in}
}

// RefuseForm writes the page for the error of a form of an account, with a status. email and next are fields of a
// login.
func (p *Pages) RefuseForm(w http.ResponseWriter, r *http.Request, err error, status int, email, next string) {
	language.Choose(r)
	e := model.AsError(err)
	if r.URL.Path != "/login" || e.Code == model.Internal {
		p.refuseForm(w, r, err, status)
		return
	}
	l := language.Of(r)
	in := signInView{Email: email, Next: next, Message: l.Message(e.Text())}
	switch e.Code {
	case model.BadUserInput:
		in.Message = l.Text("Enter your name and your password.")
	case model.Unauthenticated:
		in.Message = l.Text("The name or the password is not right. Try again, or ask an admin for a new link.")
	}
	page := p.signInPage(r, in)
	page.Status = status
	p.write(w, r, page)
}

// refuseForm writes the page for a form that was not taken.
func (p *Pages) refuseForm(w http.ResponseWriter, r *http.Request, err error, status int) {
	e := model.AsError(err)
	message := language.Of(r).Message(e.Text())
	switch {
	case status >= http.StatusInternalServerError:
		p.Fail(w, r, err)
		return
	case e.Code == model.Internal: // an error of HTTP, such as of a media type
		message = err.Error()
	}
	p.write(w, r,
		&view.Page{Name: "failure.html", Title: language.Of(r).Text("That was not done"), Status: status,
			Main: failureView{Message: message}})
}

// logIn returns the form to sign in with an account, or the page that redirects to the provider and is its redirect
// URI. Only that page's policy allows requests to the provider, for the token.
func (p *Pages) logIn(r *http.Request) (*view.Page, error) {
	query := r.URL.Query()
	if p.accounts != nil && (p.login == nil || !query.Has("with") && !query.Has("state") && !query.Has("error")) {
		return p.signInPage(r, signInView{Next: query.Get("next")}), nil
	}
	page := &view.Page{Name: "login.html", Title: language.Of(r).Text("Log in"), Script: "login.js"}
	authorization, token, ok := p.login.Endpoints()
	if !ok {
		page.Status = http.StatusServiceUnavailable
		return page, nil
	}
	endpoint, err := url.Parse(token)
	if err != nil {
		return nil, err
	}
	page.Policy = strings.Replace(contentPolicy, "connect-src 'self'",
		"connect-src 'self' "+endpoint.Scheme+"://"+endpoint.Host, 1)
	page.Main = loginView{p.login, authorization, token}
	return page, nil
}
