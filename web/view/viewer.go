package view

import (
	"context"
	"net/url"

	"library-catalogue/graph/model"
)

// Viewer is the person for whom a page is drawn.
type Viewer struct {
	Accounts bool           // the catalogue has accounts
	Account  *model.Account // nil: not signed in
	scopes   string
}

// ViewerOf returns the person of the request's session. Tokens do not count, because a cached page may answer
// requests with a token.
func ViewerOf(ctx context.Context, accounts bool) Viewer {
	v := Viewer{Accounts: accounts}
	if p, err := model.CallerOf(ctx); accounts && err == nil && p.Cookie {
		v.Account, v.scopes = p.Account, p.Scopes
	}
	return v
}

// State is a text that differs between sessions with different rights; empty: not signed in.
func (v Viewer) State() string {
	if v.Account == nil {
		return ""
	}
	return v.Account.Subject() + " " + v.scopes
}

// CanWrite reports whether the person may write.
func (v Viewer) CanWrite() bool { return v.Account != nil && model.Grants(v.scopes, model.WriteScope) }

// ShowsWrites reports whether a page contains what writes. Without a session the page does, because its tab may have a
// token; a guarded page then hides it.
func (v Viewer) ShowsWrites() bool { return v.Account == nil || v.CanWrite() }

// Guarded reports whether what writes is hidden until the tab has a token.
func (v Viewer) Guarded() bool { return v.Accounts && !v.CanWrite() }

// IsAdmin reports whether the person manages accounts.
func (v Viewer) IsAdmin() bool { return v.Account != nil && model.Grants(v.scopes, model.AdminScope) }

// LoginURL returns the address of the form to sign in, which leads on to a page.
func LoginURL(next string) string { return "/login?" + url.Values{"next": {next}}.Encode() }
