package accounts

import (
	"context"

	"library-catalogue/graph/model"
)

// accountView is the JSON of an account.
type accountView struct {
	ID          model.ID   `json:"id"`
	Name        string     `json:"name"`
	DisplayName string     `json:"display_name"`
	Role        model.Role `json:"role"`
	Pending     bool       `json:"pending"` // no password was chosen yet
	Disabled    bool       `json:"disabled"`
	CreatedAt   string     `json:"created_at"`
	SeenAt      *string    `json:"seen_at"` // null before the first login
}

func viewOf(a *model.Account) accountView {
	return accountView{a.ID, a.Name, a.DisplayName, a.Role, a.Pending, a.Disabled, a.CreatedAt.String(), text(a.SeenAt)}
}

func text(t *model.Timestamp) *string {
	if t == nil {
		return nil
	}
	s := t.String()
	return &s
}

// sessionView is the JSON of a session.
type sessionView struct {
	ID        model.ID `json:"id"`
	Agent     string   `json:"agent"` // the browser's name of itself
	CreatedAt string   `json:"created_at"`
	UsedAt    string   `json:"used_at"`
	ExpiresAt string   `json:"expires_at"`
	Current   bool     `json:"current"` // that of the request
}

// tokenView is the JSON of a token.
type tokenView struct {
	ID        model.ID `json:"id"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	CreatedAt string   `json:"created_at"`
	UsedAt    *string  `json:"used_at"` // null before the first use
	ExpiresAt string   `json:"expires_at"`
}

// own returns the caller's account, sessions and tokens.
func (h *Handler) own(ctx context.Context) (result, error) {
	p, err := model.Caller(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := h.Service.Tokens(ctx) // a session only, so the account is there
	if err != nil {
		return nil, err
	}
	sessions, err := h.Service.Sessions(ctx, p.Account.ID)
	if err != nil {
		return nil, err
	}
	sessionViews, tokenViews := []sessionView{}, []tokenView{}
	for _, s := range sessions {
		sessionViews = append(sessionViews, sessionView{s.ID, s.Agent, s.CreatedAt.String(), s.UsedAt.String(), s.ExpiresAt.String(), s.Current})
	}
	for _, t := range tokens {
		tokenViews = append(tokenViews, tokenView{t.ID, t.Name, t.Scopes, t.CreatedAt.String(), text(t.UsedAt), t.ExpiresAt.String()})
	}
	return result{"account": viewOf(p.Account), "sessions": sessionViews, "tokens": tokenViews}, nil
}

// all returns all accounts.
func (h *Handler) all(ctx context.Context) (result, error) {
	list, err := h.Service.List(ctx)
	if err != nil {
		return nil, err
	}
	views := []accountView{}
	for _, a := range list {
		views = append(views, viewOf(a))
	}
	return result{"accounts": views}, nil
}
