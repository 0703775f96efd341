package db

import (
	"context"
	"strconv"
	"strings"
	"time"

	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

// Webhooks stores the endpoints of webhooks. An endpoint has a cursor, the position of the last change delivered,
// and a lease, which lets one server send to it.
//
// Secrets are stored as plain text, because each signature needs them. The boundary is the database: its readers
// also read the changes that the secrets sign, and a key to seal them would have to be next to it. They are in no
// archive, export, log or list.
type Webhooks struct{ store *Store }

// columns returns the columns of a webhook, with the secrets that sign now.
func (h Webhooks) columns() string {
	return `id, url, types, description, position, failures, error, due_at, disabled, delivered_at, created_at, secret,
CASE WHEN old_secret_until > ` + h.store.dialect.Now + ` THEN old_secret END`
}

// rows runs a SELECT of columns, or a statement that returns them.
func (h Webhooks) rows(ctx context.Context, write bool, text string, args ...any) (found []*model.Webhook, err error) {
	err = h.store.run(ctx, txOf(ctx), write, text, func(on stmt.Handle) error {
		found = nil
		rows, err := stmt.Query(ctx, on, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var w model.Webhook
			var types, secret string
			var old *string
			if err := rows.Scan(&w.ID, &w.URL, &types, &w.Description, &w.Position, &w.Failures, &w.Error, &w.DueAt,
				&w.Disabled,
				&w.DeliveredAt, &w.CreatedAt, &secret, &old); err != nil {
				return err
			}
			w.Secrets = []string{secret}
			if old != nil {
				w.Secrets = append(w.Secrets, *old)
			}
			for name := range strings.SplitSeq(types, ",") {
				if name != "" {
					w.Types = append(w.Types, model.CatalogueType(name))
				}
			}
			found = append(found, &w)
		}
		return rows.Err()
	})
	return found, err
}

// change runs a statement that writes at most one webhook, and returns that, or nil.
func (h Webhooks) change(ctx context.Context, text string, args ...any) (*model.Webhook, error) {
	found, err := h.rows(ctx, true, text+` RETURNING `+h.columns(), args...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// known is like change, and returns NotFound instead of nil. The first argument is the id.
func (h Webhooks) known(ctx context.Context, text string, id model.ID, args ...any) (*model.Webhook, error) {
	w, err := h.change(ctx, text, append([]any{id}, args...)...)
	if err == nil && w == nil {
		err = unknownWebhook(id)
	}
	return w, err
}

func unknownWebhook(id model.ID) error {
	return model.Errorf(model.NotFound, "There is no webhook %d.", id)
}

// Position returns the position after all changes committed so far.
func (h Webhooks) Position(ctx context.Context) (string, error) {
	if err := h.store.log.Settle(ctx); err != nil {
		return "", err
	}
	p, err := h.store.log.Newest(ctx)
	return p.String(), err
}

// Add stores a webhook with its URL, types, description and one secret, and sets its other fields. It gets the
// changes from now on.
func (h Webhooks) Add(ctx context.Context, w *model.Webhook) error {
	position, err := h.Position(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(w.Types))
	for i, t := range w.Types {
		names[i] = string(t)
	}
	stored, err := h.change(ctx,
		`INSERT INTO webhooks (url, types, description, secret, position) VALUES ($1, $2, $3, $4, $5)`,
		w.URL, strings.Join(names, ","), w.Description, w.Secrets[0], position)
	if err == nil {
		*w = *stored
	}
	return err
}

// List returns all webhooks by id, without secrets.
func (h Webhooks) List(ctx context.Context) ([]*model.Webhook, error) {
	found, err := h.rows(ctx, false, `SELECT `+h.columns()+` FROM webhooks ORDER BY id`)
	for _, w := range found {
		w.Secrets = nil
	}
	return found, err
}

// Get returns a webhook with its secrets, or NotFound.
func (h Webhooks) Get(ctx context.Context, id model.ID) (*model.Webhook, error) {
	found, err := h.rows(ctx, false, `SELECT `+h.columns()+` FROM webhooks WHERE id = $1`, id)
	if err == nil && len(found) == 0 {
		err = unknownWebhook(id)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// Remove deletes a webhook, or returns NotFound.
func (h Webhooks) Remove(ctx context.Context, id model.ID) (*model.Webhook, error) {
	return h.known(ctx, `DELETE FROM webhooks WHERE id = $1`, id)
}

// Enable enables a webhook and makes its next attempt due. It returns NotFound for an unknown id.
func (h Webhooks) Enable(ctx context.Context, id model.ID) (*model.Webhook, error) {
	return h.known(ctx,
		`UPDATE webhooks SET disabled = '', failures = 0, error = '', due_at = `+h.store.dialect.Now+
			` WHERE id = $1`, id)
}

// Disable disables a webhook for a reason. It returns NotFound for an unknown id.
func (h Webhooks) Disable(ctx context.Context, id model.ID, reason string) (*model.Webhook, error) {
	return h.known(ctx, `UPDATE webhooks SET disabled = $2, lease_holder = '' WHERE id = $1`, id, reason)
}

// Replay moves the cursor of a webhook to a position. It returns NotFound for an unknown id, PositionGone for an
// unknown position, and BadUserInput for a malformed one.
func (h Webhooks) Replay(ctx context.Context, id model.ID, position string) (*model.Webhook, error) {
	if _, err := h.store.Changes(ctx, model.ChangeArgs{After: &position, First: 1}); err != nil {
		return nil, err
	}
	return h.known(ctx,
		`UPDATE webhooks SET position = $2, failures = 0, error = '', due_at = `+h.store.dialect.Now+` WHERE id = $1`,
		id, position)
}

// Rotate replaces the secret of a webhook. The old one signs too until overlap has passed. It returns NotFound for
// an unknown id.
func (h Webhooks) Rotate(
	ctx context.Context, id model.ID, secret string, overlap time.Duration,
) (*model.Webhook, error) {
	return h.known(ctx,
		`UPDATE webhooks SET old_secret = secret, old_secret_until = `+h.store.dialect.InSeconds("$3")+
			`, secret = $2 WHERE id = $1`,
		id, secret, seconds(overlap))
}

// ForgetLeases ends the leases of earlier processes, if no other server shares the database. Else they expire.
func (h Webhooks) ForgetLeases(ctx context.Context) error {
	if h.store.dialect.HasManyServers {
		return nil
	}
	_, err := h.store.exec(ctx, `UPDATE webhooks SET lease_holder = '' WHERE lease_holder <> ''`)
	return err
}

// Lease leases the enabled webhook that is due and was leased least recently, or returns nil. Without failures it is
// due in any case, because due_at is in the future after the clock was set back.
func (h Webhooks) Lease(ctx context.Context, holder string, lease time.Duration) (*model.Webhook, error) {
	now := h.store.dialect.Now
	free := ` disabled = '' AND (failures = 0 OR due_at <= ` + now + `) AND (lease_holder = '' OR lease_until <= ` +
		now + `)`
	due, err := h.rows(ctx, false,
		`SELECT `+h.columns()+` FROM webhooks WHERE`+free+` ORDER BY lease_until, id LIMIT 1`)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	return h.change(ctx,
		`UPDATE webhooks SET lease_holder = $2, lease_until = `+h.store.dialect.InSeconds("$3")+
			` WHERE id = $1 AND`+free,
		due[0].ID, holder, seconds(lease))
}

// held is the condition that the holder $2 may move webhook $1 on from position $3.
const held = ` WHERE id = $1 AND lease_holder = $2 AND position = $3 AND disabled = ''`

// Delivered moves the cursor of a webhook behind a delivered change and extends the lease. It returns nil if the
// webhook was removed, replayed, or leased by another server.
func (h Webhooks) Delivered(
	ctx context.Context, w *model.Webhook, holder, position string, lease time.Duration,
) (*model.Webhook, error) {
	return h.change(ctx,
		`UPDATE webhooks SET position = $4, failures = 0, error = '', delivered_at = `+h.store.dialect.Now+
			`, lease_until = `+h.store.dialect.InSeconds("$5")+held,
		w.ID, holder, w.Position, position, seconds(lease))
}

// Extend extends a lease, and moves the cursor past changes of other types. It returns nil like Delivered.
func (h Webhooks) Extend(
	ctx context.Context, w *model.Webhook, holder, position string, lease time.Duration,
) (*model.Webhook, error) {
	return h.change(ctx, `UPDATE webhooks SET position = $4, lease_until = `+h.store.dialect.InSeconds("$5")+held,
		w.ID, holder, w.Position, position, seconds(lease))
}

// Failed records a failed attempt and ends the lease. The next attempt is due after delay, or never if disabled
// has a reason.
func (h Webhooks) Failed(
	ctx context.Context, w *model.Webhook, holder, message string, delay time.Duration, disabled string,
) error {
	_, err := h.change(ctx,
		`UPDATE webhooks SET failures = failures + 1, error = $4, due_at = `+h.store.dialect.InSeconds("$5")+
			`, disabled = $6, lease_holder = ''`+held,
		w.ID, holder, w.Position, message, seconds(delay), disabled)
	return err
}

// Release ends a lease.
func (h Webhooks) Release(ctx context.Context, id model.ID, holder string) error {
	_, err := h.store.exec(ctx, `UPDATE webhooks SET lease_holder = '' WHERE id = $1 AND lease_holder = $2`, id, holder)
	return err
}

// seconds returns an argument of InSeconds.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
