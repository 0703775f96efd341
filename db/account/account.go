// Package account stores the people who sign in: their accounts, links, sessions, tokens and failed logins, and the
// keys that sign login tokens. Nothing of it is in the log of changes or in archives.
//
// Times come from the caller, so that all servers and tests decide what has expired by one clock.
package account

import (
	"context"

	"library-catalogue/graph/model"
)

// DB runs statements, in the transaction of ctx if it has one.
type DB interface {
	// Read sets a slice to the rows of a SELECT.
	Read(ctx context.Context, into any, text string, args ...any) error
	// Select sets a slice to the rows of a statement that writes. Exec returns how many rows it changed.
	Select(ctx context.Context, into any, text string, args ...any) error
	Exec(ctx context.Context, text string, args ...any) (changed int64, err error)
	// Write runs fn in a transaction. Each statement sees what was committed before it. fn may run again.
	Write(ctx context.Context, fn func(context.Context) error) error
}

// Store stores accounts. It is safe for concurrent use.
type Store struct {
	DB        DB
	ForUpdate string // suffix of a SELECT that locks rows
}

// Row is an account with its password as stored.
type Row struct {
	ID          model.ID   `db:"id"`
	Name        string     `db:"name"`
	DisplayName string     `db:"display_name"`
	Password    string     `db:"password"`
	Role        model.Role `db:"role"`
	Language    string     `db:"language"`
	Micros      int64      `db:"created_at"`
	Seen        *int64     `db:"seen_at"`
	DisabledAt  *int64     `db:"disabled_at"`
}

const columns = `a.id, a.name, a.display_name, a.password, a.role, a.language, a.created_at, a.seen_at,
	a.disabled_at`

// Account returns the account without its password.
func (r *Row) Account() *model.Account {
	a := &model.Account{
		ID: r.ID, Name: r.Name, DisplayName: r.DisplayName, Role: r.Role, Language: r.Language,
		Pending:   r.Password == "",
		Disabled:  r.DisabledAt != nil,
		CreatedAt: model.Timestamp(r.Micros),
	}
	if r.Seen != nil {
		seen := model.Timestamp(*r.Seen)
		a.SeenAt = &seen
	}
	return a
}

// first returns the first row, or nil.
func first[T any](rows []*T, err error) (*T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

func read[T any](ctx context.Context, db DB, text string, args ...any) (rows []*T, err error) {
	var found []T
	err = db.Read(ctx, &found, text, args...)
	for i := range found {
		rows = append(rows, &found[i])
	}
	return rows, err
}

func write[T any](ctx context.Context, db DB, text string, args ...any) (found []T, err error) {
	err = db.Select(ctx, &found, text, args...)
	return found, err
}

// Add stores an account, and returns nil if its key is taken.
func (s Store) Add(
	ctx context.Context, name, key, displayName, password string, role model.Role, now int64,
) (*Row, error) {
	ids, err := write[model.ID](ctx,
		s.DB, `INSERT INTO accounts (name, name_key, display_name, password, role, created_at)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name_key) DO NOTHING RETURNING id`, name, key, displayName, password,
		string(role), now)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return s.ByID(ctx, ids[0])
}

// List returns all accounts by id.
func (s Store) List(ctx context.Context) ([]*Row, error) {
	return read[Row](ctx, s.DB, `SELECT `+columns+` FROM accounts a ORDER BY a.id`)
}

// ByID returns an account, or nil.
func (s Store) ByID(ctx context.Context, id model.ID) (*Row, error) {
	return first(read[Row](ctx, s.DB, `SELECT `+columns+` FROM accounts a WHERE a.id = $1`, id))
}

// ByKey returns the account with an identity key, or nil.
func (s Store) ByKey(ctx context.Context, key string) (*Row, error) {
	return first(read[Row](ctx, s.DB, `SELECT `+columns+` FROM accounts a WHERE a.name_key = $1`, key))
}

// LockAdmins makes other changes of admins wait for the end of the transaction of ctx.
func (s Store) LockAdmins(ctx context.Context) error {
	_, err := s.DB.Exec(ctx, `UPDATE installation SET id = id`)
	return err
}

// OtherAdmins returns the number of admins other than one who can sign in.
func (s Store) OtherAdmins(ctx context.Context, id model.ID) (int64, error) {
	n, err := first(
		read[int64](ctx, s.DB,
			`SELECT count(*) FROM accounts WHERE role = 'admin' AND disabled_at IS NULL AND password <> ''
AND id <> $1`, id))
	if err != nil {
		return 0, err
	}
	return *n, nil
}

// SetRole sets the role of an account.
func (s Store) SetRole(ctx context.Context, id model.ID, role model.Role) error {
	_, err := s.DB.Exec(ctx, `UPDATE accounts SET role = $2 WHERE id = $1`, id, string(role))
	return err
}

// SetDisplayName sets the name of an account that others see.
func (s Store) SetDisplayName(ctx context.Context, id model.ID, name string) error {
	_, err := s.DB.Exec(ctx, `UPDATE accounts SET display_name = $2 WHERE id = $1`, id, name)
	return err
}

// SetLanguage sets the language in which an account reads the pages.
func (s Store) SetLanguage(ctx context.Context, id model.ID, tag string) error {
	_, err := s.DB.Exec(ctx, `UPDATE accounts SET language = $2 WHERE id = $1`, id, tag)
	return err
}

// SetDisabled disables an account since a time, or enables it if that is nil.
func (s Store) SetDisabled(ctx context.Context, id model.ID, at *int64) error {
	_, err := s.DB.Exec(ctx, `UPDATE accounts SET disabled_at = $2 WHERE id = $1`, id, at)
	return err
}

// SetPassword replaces the password of an account if it still is old, and reports whether it was.
func (s Store) SetPassword(ctx context.Context, id model.ID, old, password string) (bool, error) {
	n, err := s.DB.Exec(ctx, `UPDATE accounts SET password = $3 WHERE id = $1 AND password = $2`, id, old, password)
	return n > 0, err
}

// Remove deletes an account with all that belongs to it. Its actor in the log of changes remains, a number.
func (s Store) Remove(ctx context.Context, id model.ID) (bool, error) {
	n, err := s.DB.Exec(ctx, `DELETE FROM accounts WHERE id = $1`, id)
	return n > 0, err
}

// Name is the display name of an account.
type Name struct {
	ID          model.ID `db:"id"`
	DisplayName string   `db:"display_name"`
}

// Names returns the display names of all accounts.
func (s Store) Names(ctx context.Context) (names []*Name, err error) {
	return read[Name](ctx, s.DB, `SELECT id, display_name FROM accounts ORDER BY id`)
}
