package webhooks

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model"
)

// The bounds of an endpoint in characters.
const (
	maxURL         = 2_000
	maxDescription = 200
)

// Store stores endpoints. db.Webhooks implements it.
type Store interface {
	List(ctx context.Context) ([]*model.Webhook, error)
	Add(ctx context.Context, w *model.Webhook) error
	Enable(ctx context.Context, id model.ID) (*model.Webhook, error)
	Disable(ctx context.Context, id model.ID, reason string) (*model.Webhook, error)
	Remove(ctx context.Context, id model.ID) (*model.Webhook, error)
}

// Manager has the use cases of admins. Each needs model.AdminScope.
type Manager struct {
	Store  Store
	Client *Client // checks URLs
}

// List returns all endpoints by id, without secrets.
func (m *Manager) List(ctx context.Context) ([]*model.Webhook, error) {
	if _, err := model.Authorise(ctx, model.AdminScope); err != nil {
		return nil, err
	}
	return m.Store.List(ctx)
}

// Add adds an endpoint for the changes of types, or of all for none, and returns its secret.
func (m *Manager) Add(ctx context.Context, url, description string, types []string) (secret string, err error) {
	if _, err := model.Authorise(ctx, model.AdminScope); err != nil {
		return "", err
	}
	secret = NewSecret()
	w := &model.Webhook{
		URL: strings.TrimSpace(url), Description: norm.NFC.String(strings.Join(strings.Fields(description), " ")),
		Secrets: []string{secret},
	}
	var problems model.FieldErrors
	switch err := m.Client.CheckURL(w.URL); {
	case w.URL == "":
		problems.Add("url", "The %s field is required.")
	case err != nil:
		problems.Add("url", "%[2]s.", strings.ToUpper(err.Error()[:1])+err.Error()[1:])
	case !isText(w.URL, maxURL):
		problems.Add("url", "The %s field must not be greater than 2000 characters.")
	}
	if !isText(w.Description, maxDescription) {
		problems.Add("description", "The %s field must have at most 200 characters, without control characters.")
	}
	for _, name := range types {
		switch typ := model.CatalogueType(strings.ToUpper(name)); typ {
		case model.TypeBook, model.TypeGenre, model.TypeCategory:
			w.Types = append(w.Types, typ)
		default:
			problems.Add("types", "The types must be book, genre or category.")
		}
	}
	if err := problems.Err(); err != nil {
		return "", err
	}
	return secret, m.Store.Add(ctx, w)
}

func isText(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// Enable enables an endpoint, which then gets the changes since its last delivery. Error: NotFound.
func (m *Manager) Enable(ctx context.Context, id model.ID) error {
	_, err := model.Authorise(ctx, model.AdminScope)
	if err == nil {
		_, err = m.Store.Enable(ctx, id)
	}
	return err
}

// Disable ends deliveries until Enable. A request that is being sent may still arrive. Error: NotFound.
func (m *Manager) Disable(ctx context.Context, id model.ID) error {
	_, err := model.Authorise(ctx, model.AdminScope)
	if err == nil {
		_, err = m.Store.Disable(ctx, id, "by an admin") // without the name, which would outlive the account
	}
	return err
}

// Remove deletes an endpoint. Error: NotFound.
func (m *Manager) Remove(ctx context.Context, id model.ID) error {
	_, err := model.Authorise(ctx, model.AdminScope)
	if err == nil {
		_, err = m.Store.Remove(ctx, id)
	}
	return err
}
