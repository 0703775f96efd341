package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *queryResolver) Viewer(ctx context.Context) (*model.Viewer, error) {
	return model.ViewerOf(ctx)
}

var errNoAccounts = model.Errorf(model.Forbidden, "This catalogue has no accounts. Get a token from its operator.")

func (r *mutationResolver) Login(ctx context.Context, input model.LoginInput) (*model.LoginPayload, error) {
	if r.Accounts == nil {
		return nil, errNoAccounts
	}
	if ctx.Value(neededScopes{}) != nil { // the response would be stored, with the token
		return nil, model.Errorf(model.BadUserInput, "A login takes no Idempotency-Key. Send it without one.")
	}
	token, expires, err := r.Accounts.LoginToken(ctx, input.Name, input.Password, "GraphQL")
	if err != nil {
		return nil, err
	}
	return &model.LoginPayload{Token: token, ExpiresAt: model.Timestamp(expires.UnixMicro()),
		ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) Logout(ctx context.Context, input model.LogoutInput) (*model.LogoutPayload, error) {
	if r.Accounts == nil {
		return nil, errNoAccounts
	}
	if err := r.Accounts.Logout(ctx); err != nil {
		return nil, err
	}
	return &model.LogoutPayload{ClientMutationID: input.ClientMutationID}, nil
}
