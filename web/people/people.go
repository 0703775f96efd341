// Package people draws the pages of people who sign in: the link of an invitation, the own account, the
// admins', and the log of changes.
package people

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"library-catalogue/accounts"
	"library-catalogue/graph/model"
	"library-catalogue/web/language"
	"library-catalogue/web/view"
)

// Pages draws the pages.
type Pages struct {
	Service  *accounts.Service
	Source   view.Source
	Webhooks Webhooks // nil: they are not shown
}

// Webhooks has the endpoints of webhooks, for admins.
type Webhooks interface {
	List(context.Context) ([]*model.Webhook, error)
}

// signedIn returns the person of a session, or the redirect to the form that begins one.
func signedIn(r *http.Request) (*model.Account, error) {
	p, err := model.CallerOf(r.Context())
	if err != nil || !p.Cookie {
		return nil, view.RedirectError(view.LoginURL(r.URL.RequestURI()))
	}
	return p.Account, nil
}

// Welcome returns the page that uses a link up. Its script reads the secret in the fragment of the address.
func (p Pages) Welcome(r *http.Request) (*view.Page, error) {
	return &view.Page{Name: "welcome.html", Title: language.Of(r).Text("Welcome"), Script: "people.js"}, nil
}

// choice is an option of a form.
type choice struct {
	Value string
	Words language.Key
}

// wordsOf returns the words of a value, or "".
func wordsOf(choices []choice, value string) language.Key {
	i := slices.IndexFunc(choices, func(c choice) bool { return c.Value == value })
	if i < 0 {
		return ""
	}
	return choices[i].Words
}

// scopes are the scopes of tokens.
var scopes = []choice{
	{model.ReadScope, "See who changed what"},
	{"books:create", "Add books"}, {"books:update", "Edit books"}, {"books:delete", "Delete books"},
	{"genres:create", "Add genres"}, {"genres:update", "Edit genres"}, {"genres:delete", "Delete genres"},
	{"categories:create", "Add categories"}, {"categories:update", "Edit categories"},
	{"categories:delete", "Delete categories"},
	{model.WriteScope, "All of these, and imports"},
}

var roles = []choice{
	{string(model.Reader), "Reader: sees who changed what"},
	{string(model.Editor), "Editor: adds, edits and deletes books"},
	{string(model.Admin), "Admin: also manages people"},
}

// accountView has the data of the page of one's own account.
type accountView struct {
	Account  *model.Account
	Sessions []accounts.Session
	Tokens   []token
	Scopes   []choice // that a new token may have
}

// token is a token with the words of its scopes.
type token struct {
	accounts.Token
	Permits string
}

// Account returns the page of one's own account.
func (p Pages) Account(r *http.Request) (*view.Page, error) {
	own, err := signedIn(r)
	if err != nil {
		return nil, err
	}
	in := language.Of(r)
	main := accountView{Account: own}
	if main.Sessions, err = p.Service.Sessions(r.Context(), own.ID); err != nil {
		return nil, err
	}
	tokens, err := p.Service.Tokens(r.Context())
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		var permits []string
		for _, name := range t.Scopes {
			permits = append(permits, in.Text(cmp.Or(wordsOf(scopes, name), language.Key(name))))
		}
		main.Tokens = append(main.Tokens, token{t, strings.Join(permits, ", ")})
	}
	for _, s := range scopes {
		if model.Grants(model.Roles[own.Role], s.Value) {
			main.Scopes = append(main.Scopes, s)
		}
	}
	return &view.Page{Name: "account.html", Title: in.Text("Your account"), Section: "account", Script: "people.js",
		Main: main}, nil
}

// adminView has the data of the admins' page.
type adminView struct {
	Accounts []*model.Account
	Own      model.ID
	Only     bool // no other admin can sign in, so the caller keeps the role
	Roles    []choice
	Webhooks []*model.Webhook
	HasHooks bool
}

// Admin returns the page that manages accounts.
func (p Pages) Admin(r *http.Request) (*view.Page, error) {
	own, err := signedIn(r)
	if err != nil {
		return nil, err
	}
	main := adminView{Own: own.ID, Roles: roles, HasHooks: p.Webhooks != nil}
	if main.Accounts, err = p.Service.List(r.Context()); model.IsCode(err, model.Forbidden) {
		return nil, model.Errorf(model.Forbidden, "This page is for admins. Ask one to change your role.")
	} else if err != nil {
		return nil, err
	}
	main.Only = !slices.ContainsFunc(main.Accounts, func(a *model.Account) bool {
		return a.ID != own.ID && a.Role == model.Admin && !a.Disabled && !a.Pending
	})
	if p.Webhooks != nil {
		if main.Webhooks, err = p.Webhooks.List(r.Context()); err != nil {
			return nil, err
		}
	}
	return &view.Page{Name: "admin.html", Title: language.Of(r).Text("People"), Section: "admin",
		Script: "people.js", Main: main}, nil
}

// browsers and systems have the signs of programs in the name that a client gives itself, with their names. The first
// match counts.
var (
	browsers = [][2]string{{"Edg", "Edge"}, {"Firefox", "Firefox"}, {"Chrome", "Chrome"}, {"Safari", "Safari"}}
	systems  = [][2]string{
		{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Windows", "Windows"}, {"Mac OS", "Mac"},
		{"Linux", "Linux"},
	}
)

// Device returns the browser and the system in a User-Agent.
func Device(in *language.Language, agent string) string {
	find := func(signs [][2]string) string {
		for _, sign := range signs {
			if strings.Contains(agent, sign[0]) {
				return sign[1]
			}
		}
		return ""
	}
	browser, system := find(browsers), find(systems)
	switch {
	case browser == "":
		return view.Leading(agent, 60)
	case system == "":
		return browser
	}
	return in.Text("%s on %s", browser, system)
}
