package web

import (
	"net/http"
	"net/url"
	"strings"
)

// Login is how people log in at the pages: at an OpenID provider, by authorization code
// with PKCE (RFC 7636), as a client without a secret.
type Login struct {
	Issuer   string // the provider
	ClientID string // that the provider knows the pages by
	Audience string // that the token is to be for; empty: for the client
	Scopes   string // that are asked for, with spaces between
	// Endpoints returns the provider's authorization endpoint and its token endpoint; ok
	// is false while it has not answered.
	Endpoints func() (authorization, token string, ok bool)
}

// loginView is what the page is drawn with on which people log in.
type loginView struct {
	*Login
	Authorization, Token string
}

// logIn draws the page that leads to the provider, and to which that leads back. It alone
// may ask the provider for something: for the token.
func (p *Pages) logIn(*http.Request) (*page, error) {
	view := &page{name: "login.html", Title: "Log in"}
	authorization, token, ok := p.login.Endpoints()
	if !ok {
		view.status = http.StatusServiceUnavailable
		return view, nil
	}
	endpoint, err := url.Parse(token)
	if err != nil {
		return nil, err
	}
	view.policy = strings.Replace(contentPolicy, "connect-src 'self'", "connect-src 'self' "+endpoint.Scheme+"://"+endpoint.Host, 1)
	view.Main = loginView{p.login, authorization, token}
	return view, nil
}
