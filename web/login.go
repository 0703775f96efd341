package web

import (
	"net/http"
	"net/url"
	"strings"

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

// logIn returns the login page, which redirects to the provider and is its redirect URI. Only its policy allows requests
// to the provider, for the token.
func (p *Pages) logIn(*http.Request) (*view.Page, error) {
	page := &view.Page{Name: "login.html", Title: "Log in", Script: "login.js"}
	authorization, token, ok := p.login.Endpoints()
	if !ok {
		page.Status = http.StatusServiceUnavailable
		return page, nil
	}
	endpoint, err := url.Parse(token)
	if err != nil {
		return nil, err
	}
	page.Policy = strings.Replace(contentPolicy, "connect-src 'self'", "connect-src 'self' "+endpoint.Scheme+"://"+endpoint.Host, 1)
	page.Main = loginView{p.login, authorization, token}
	return page, nil
}
