package account

import (
	"context"

	"library-catalogue/graph/model"
)

// Session is a session of an account.
type Session struct {
	Row
	Session   model.ID `db:"session_id"`
	Agent     string   `db:"agent"` // the client's name of itself
	CreatedAt int64    `db:"session_created_at"`
	UsedAt    int64    `db:"session_seen_at"`
	ExpiresAt int64    `db:"session_expires_at"`
}

// sessions selects the sessions of accounts that are not disabled.
const sessions = `SELECT ` +
	columns + `, s.id AS session_id, s.agent, s.created_at AS session_created_at, s.seen_at AS session_seen_at,
s.expires_at AS session_expires_at FROM account_sessions s JOIN accounts a ON a.id = s.account_id
WHERE a.disabled_at IS NULL`

// maxSessions is the maximum number of sessions of an account, for programs that log in again and again.
const maxSessions = 200

// AddSession stores a session of an account, and returns its id. It ends the oldest ones beyond maxSessions. It returns
// 0 if the account has changed its password or its role or is disabled since it was read, because that has ended all
// its sessions. It waits for such a change.
func (s Store) AddSession(
	ctx context.Context, of *Row, secret []byte, agent string, now, expires int64,
) (model.ID, error) {
	ids, err := write[model.ID](ctx,
		s.DB, `INSERT INTO account_sessions (secret, account_id, agent, created_at, seen_at, expires_at)
SELECT $4, a.id, $5, CAST($6 AS bigint), CAST($6 AS bigint), CAST($7 AS bigint) FROM accounts a
WHERE a.id = $1 AND a.password = $2 AND a.role = $3 AND a.disabled_at IS NULL`+s.ForUpdate+` RETURNING id`,
		of.ID, of.Password, string(of.Role), secret, agent, now, expires)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err = s.DB.Exec(
		ctx, `DELETE FROM account_sessions WHERE account_id = $1 AND id <= (SELECT id FROM account_sessions
WHERE account_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`, of.ID, maxSessions); err != nil {
		return 0, err
	}
	_, err = s.DB.Exec(ctx, `UPDATE accounts SET seen_at = $2 WHERE id = $1`, of.ID, now)
	return ids[0], err
}

// SessionBySecret returns the session of a secret that has not expired, or nil.
func (s Store) SessionBySecret(ctx context.Context, secret []byte, now int64) (*Session, error) {
	return first(read[Session](ctx, s.DB, sessions+` AND s.secret = $1 AND s.expires_at > $2`, secret, now))
}

// Sessions returns the sessions of an account that have not expired, the one used last first.
func (s Store) Sessions(ctx context.Context, id model.ID, now int64) ([]*Session, error) {
	return read[Session](ctx, s.DB, sessions+` AND a.id = $1 AND s.expires_at > $2 ORDER BY s.seen_at DESC, s.id DESC`,
		id, now)
}

// UseSession records a use of a session and of its account.
func (s Store) UseSession(ctx context.Context, of *Session, now int64) error {
	if _, err := s.DB.Exec(ctx, `UPDATE account_sessions SET seen_at = $2 WHERE id = $1`, of.Session, now); err != nil {
		return err
	}
	_, err := s.DB.Exec(ctx, `UPDATE accounts SET seen_at = $2 WHERE id = $1`, of.ID, now)
	return err
}

// EndSession ends a session of an account, and reports whether there was one.
func (s Store) EndSession(ctx context.Context, account, session model.ID) (bool, error) {
	n, err := s.DB.Exec(ctx, `DELETE FROM account_sessions WHERE id = $2 AND account_id = $1`, account, session)
	return n > 0, err
}

// EndSessions ends all sessions of an account.
func (s Store) EndSessions(ctx context.Context, account model.ID) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM account_sessions WHERE account_id = $1`, account)
	return err
}

// AddLink stores the hash of a link's secret, and deletes the other links of the account. Without an account it makes
// the first admin.
func (s Store) AddLink(ctx context.Context, account *model.ID, secret []byte, expires int64) error {
	var err error
	if account == nil {
		_, err = s.DB.Exec(ctx, `DELETE FROM account_links WHERE account_id IS NULL`)
	} else {
		_, err = s.DB.Exec(ctx, `DELETE FROM account_links WHERE account_id = $1`, *account)
	}
	if err != nil {
		return err
	}
	_, err = s.DB.Exec(ctx, `INSERT INTO account_links (secret, account_id, expires_at) VALUES ($1, $2, $3)`, secret,
		account, expires)
	return err
}

// Link is a link to choose a password.
type Link struct {
	Account   *model.ID `db:"account_id"` // nil: of the first admin
	ExpiresAt int64     `db:"expires_at"`
	UsedAt    *int64    `db:"used_at"`
}

// Link returns the link of a secret, or nil.
func (s Store) Link(ctx context.Context, secret []byte) (*Link, error) {
	return first(
		read[Link](ctx, s.DB, `SELECT account_id, expires_at, used_at FROM account_links WHERE secret = $1`, secret))
}

// UseLink uses a link up, and returns nil if it was used or has expired. One of two concurrent calls gets it.
func (s Store) UseLink(ctx context.Context, secret []byte, now int64) (*Link, error) {
	links, err := write[Link](ctx,
		s.DB, `UPDATE account_links SET used_at = $2 WHERE secret = $1 AND used_at IS NULL AND expires_at > $2
RETURNING account_id, expires_at, used_at`, secret, now)
	if err != nil || len(links) == 0 {
		return nil, err
	}
	return &links[0], nil
}

// EndLinks deletes the links of an account that were not used.
func (s Store) EndLinks(ctx context.Context, account model.ID) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM account_links WHERE account_id = $1 AND used_at IS NULL`, account)
	return err
}

// Forget deletes what has expired before a time: links, sessions, tokens, failed logins.
func (s Store) Forget(ctx context.Context, before int64) error {
	for _, text := range []string{
		`DELETE FROM account_links WHERE expires_at < $1`, `DELETE FROM account_sessions WHERE expires_at < $1`,
		`DELETE FROM account_tokens WHERE expires_at < $1`, `DELETE FROM account_failures WHERE ends_at < $1`,
	} {
		if _, err := s.DB.Exec(ctx, text, before); err != nil {
			return err
		}
	}
	return nil
}
