package account

import (
	"context"

	"library-catalogue/graph/model"
)

// Token is a token that a person made.
type Token struct {
	Row
	Token     model.ID `db:"token_id"`
	Title     string   `db:"token_name"`
	Scopes    string   `db:"scopes"` // separated by spaces
	CreatedAt int64    `db:"token_created_at"`
	UsedAt    *int64   `db:"used_at"` // nil before the first use
	ExpiresAt int64    `db:"expires_at"`
}

const tokens = `SELECT ` +
	columns + `, t.id AS token_id, t.name AS token_name, t.scopes, t.created_at AS token_created_at, t.used_at,
t.expires_at
FROM account_tokens t JOIN accounts a ON a.id = t.account_id WHERE a.disabled_at IS NULL`

// AddToken stores a token of an account and returns its id, or 0 if the account has max tokens.
func (s Store) AddToken(
	ctx context.Context, account model.ID, name, scopes string, secret []byte, now, expires int64, max int,
) (model.ID, error) {
	ids, err := write[model.ID](ctx,
		s.DB, `INSERT INTO account_tokens (account_id, name, scopes, secret, created_at, expires_at)
SELECT a.id, $2, $3, $4, CAST($5 AS bigint), CAST($6 AS bigint) FROM accounts a
WHERE a.id = $1 AND (SELECT count(*) FROM account_tokens t WHERE t.account_id = $1) < CAST($7 AS bigint) RETURNING id`,
		account, name, scopes, secret, now, expires, max)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// TokenBySecret returns the token of a secret that has not expired, or nil.
func (s Store) TokenBySecret(ctx context.Context, secret []byte, now int64) (*Token, error) {
	return first(read[Token](ctx, s.DB, tokens+` AND t.secret = $1 AND t.expires_at > $2`, secret, now))
}

// Tokens returns the tokens of an account by id.
func (s Store) Tokens(ctx context.Context, account model.ID) ([]*Token, error) {
	return read[Token](ctx, s.DB, tokens+` AND a.id = $1 ORDER BY t.id`, account)
}

// UseToken records a use of a token.
func (s Store) UseToken(ctx context.Context, id model.ID, now int64) error {
	_, err := s.DB.Exec(ctx, `UPDATE account_tokens SET used_at = $2 WHERE id = $1`, id, now)
	return err
}

// RevokeToken deletes a token of an account, and reports whether there was one.
func (s Store) RevokeToken(ctx context.Context, account, id model.ID) (bool, error) {
	n, err := s.DB.Exec(ctx, `DELETE FROM account_tokens WHERE id = $2 AND account_id = $1`, account, id)
	return n > 0, err
}

// Installation returns the random name of the installation.
func (s Store) Installation(ctx context.Context) (string, error) {
	name, err := first(read[string](ctx, s.DB, `SELECT name FROM installation`))
	if err != nil {
		return "", err
	}
	return *name, nil
}

// RevokeTokens deletes the tokens of an account.
func (s Store) RevokeTokens(ctx context.Context, account model.ID) error {
	_, err := s.DB.Exec(ctx, `DELETE FROM account_tokens WHERE account_id = $1`, account)
	return err
}

// Key is a key that signs login tokens.
type Key struct {
	ID        string `db:"kid"`
	Seed      []byte `db:"seed"` // seed of an Ed25519 key
	CreatedAt int64  `db:"created_at"`
}

// Keys returns the keys, the newest first.
func (s Store) Keys(ctx context.Context) ([]*Key, error) {
	return read[Key](ctx, s.DB, `SELECT kid, seed, created_at FROM account_keys ORDER BY created_at DESC, kid LIMIT 10`)
}

// AddKey stores a key, unless there is one since a time, and deletes the keys from before another time.
func (s Store) AddKey(ctx context.Context, k *Key, since, old int64) error {
	return s.DB.Write(ctx, func(ctx context.Context) error {
		if err := s.LockAdmins(ctx); err != nil { // two servers may do this at once
			return err
		}
		if _, err := s.DB.Exec(ctx, `DELETE FROM account_keys WHERE created_at < $1`, old); err != nil {
			return err
		}
		_, err := s.DB.Exec(ctx, `INSERT INTO account_keys (kid, seed, created_at) SELECT $1, $2, CAST($3 AS bigint)
WHERE NOT EXISTS (SELECT 1 FROM account_keys WHERE created_at > $4)`, k.ID, k.Seed, k.CreatedAt, since)
		return err
	})
}

// failures are the failed logins of a key in a window.
type failures struct {
	Count  int64 `db:"count"`
	EndsAt int64 `db:"ends_at"`
}

// Failures returns the number of failures of a key, and the end of their window; 0 without a window.
func (s Store) Failures(ctx context.Context, key []byte, now int64) (count, endsAt int64, err error) {
	f, err := first(
		read[failures](ctx, s.DB, `SELECT count, ends_at FROM account_failures WHERE key = $1 AND ends_at > $2`,
			key, now))
	if err != nil || f == nil {
		return 0, 0, err
	}
	return f.Count, f.EndsAt, nil
}

// CountFailure adds one to the failures of a key and returns their number and the end of their window. A window that
// has ended begins again, and ends at ends.
func (s Store) CountFailure(ctx context.Context, key []byte, now, ends int64) (count, endsAt int64, err error) {
	rows, err := write[failures](ctx, s.DB, `INSERT INTO account_failures AS f (key, count, ends_at) VALUES ($1, 1, $3)
ON CONFLICT (key) DO UPDATE SET count = CASE WHEN f.ends_at <= $2 THEN 1 ELSE f.count + 1 END,
ends_at = CASE WHEN f.ends_at <= $2 THEN excluded.ends_at ELSE f.ends_at END
RETURNING count, ends_at`, key, now, ends)
	if err != nil {
		return 0, 0, err
	}
	return rows[0].Count, rows[0].EndsAt, nil
}

// ForgiveFailure takes one failure of a key back.
func (s Store) ForgiveFailure(ctx context.Context, key []byte) error {
	_, err := s.DB.Exec(ctx, `UPDATE account_failures SET count = count - 1 WHERE key = $1 AND count > 0`, key)
	return err
}

// BoundFailures deletes failures after their window, and beyond max the ones that end first.
func (s Store) BoundFailures(ctx context.Context, now int64, max int) error {
	if _, err := s.DB.Exec(ctx, `DELETE FROM account_failures WHERE ends_at <= $1 OR count <= 0`, now); err != nil {
		return err
	}
	_, err := s.DB.Exec(ctx, `DELETE FROM account_failures WHERE key IN (
SELECT key FROM account_failures ORDER BY ends_at DESC, key LIMIT 1000000 OFFSET $1)`, max)
	return err
}
