package accounthttp

import (
	"context"

	"library-catalogue/graph/model"
)

// accountView is the JSON of an account. Its fields are those of model.Account, so that one converts to the other.
type accountView struct {
	ID          model.ID         `json:"id"`
	Name        string           `json:"name"`
	DisplayName string           `json:"display_name"`
	Role        model.Role       `json:"role"`
	Language    string           `json:"-"`
	Pending     bool             `json:"pending"` // no password was chosen yet
	Disabled    bool             `json:"disabled"`
	CreatedAt   model.Timestamp  `json:"created_at"`
	SeenAt      *model.Timestamp `json:"seen_at"` // null before the first login
}

// own returns the caller's account, sessions and tokens.
func (h *Handler) own(ctx context.Context) (result, error) {
	p, err := model.CallerOf(ctx)
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
	return result{"account": accountView(*p.Account), "sessions": sessions, "tokens": tokens}, nil
}

// all returns all accounts.
func (h *Handler) all(ctx context.Context) (result, error) {
	list, err := h.Service.List(ctx)
	if err != nil {
		return nil, err
	}
	views := make([]accountView, len(list))
	for i, a := range list {
		views[i] = accountView(*a)
	}
	return result{"accounts": views}, nil
}
