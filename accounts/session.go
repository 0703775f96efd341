package accounts

import (
	"context"
	"encoding/hex"
	"time"

	"golang.org/x/text/unicode/norm"

	"library-catalogue/graph/model"
)

const (
	// maxAge is the time for which a looked-up session or token counts. All servers see its end within a second, with
	// the rest for the request itself.
	maxAge = 900 * time.Millisecond
	// useInterval is the time between two records of the use of a session or token.
	useInterval = time.Minute
)

// found is the result of a look-up.
type found struct {
	caller     *model.Caller // nil: no such session or token
	at         time.Time
	generation int64
}

// lookUp returns the caller of a key, from the cache if it is at most maxAge old, else by load.
func (s *Service) lookUp(
	ctx context.Context, key string, load func(context.Context) (*model.Caller, error),
) (p model.Caller, ok bool, err error) {
	generation, now := s.generation.Load(), s.now()
	f, cached := s.known.Get(key)
	if age := now.Sub(f.at); !cached || f.generation != generation || age < 0 || age >= maxAge {
		f = found{at: now, generation: generation}
		if f.caller, err = load(ctx); err != nil {
			return p, false, err
		}
		s.known.Set(key, f)
	}
	if f.caller == nil || !now.Before(f.caller.Expires) {
		return p, false, nil
	}
	return *f.caller, true, nil
}

// Cookie returns the caller of a session by the value of its cookie; ok is false if there is none.
func (s *Service) Cookie(ctx context.Context, secret string) (p model.Caller, ok bool, err error) {
	p, ok, err = s.Session(ctx, hex.EncodeToString(digest(secret)))
	p.Cookie = ok
	return p, ok, err
}

// Session returns the caller of a session by its sid, the hash of its secret in hexadecimal; ok is false if there is
// none. It records the use of the session.
func (s *Service) Session(ctx context.Context, sid string) (p model.Caller, ok bool, err error) {
	return s.lookUp(ctx, "session "+sid, func(ctx context.Context) (*model.Caller, error) {
		hash, err := hex.DecodeString(sid)
		if err != nil {
			return nil, nil
		}
		row, err := s.store.SessionBySecret(ctx, hash, s.micros(0))
		if err != nil || row == nil {
			return nil, err
		}
		if now := s.micros(0); now >= row.UsedAt+useInterval.Microseconds() {
			_ = s.store.UseSession(ctx, row, now) // a database that refuses writes still serves reads
		}
		p := callerOf(row.Account(), row.ExpiresAt)
		p.Session, p.Scopes = row.Session, model.Roles[row.Role]
		return p, nil
	})
}

// callerOf returns the caller who has an account, without scopes.
func callerOf(a *model.Account, expires int64) *model.Caller {
	return &model.Caller{Subject: a.Subject(), Account: a, Expires: time.UnixMicro(expires), Scoped: true}
}

// Session is a session of an account, without its secret.
type Session struct {
	ID        model.ID        `json:"id"`
	Agent     string          `json:"agent"` // User-Agent of the client
	CreatedAt model.Timestamp `json:"created_at"`
	UsedAt    model.Timestamp `json:"used_at"`
	ExpiresAt model.Timestamp `json:"expires_at"`
	Current   bool            `json:"current"` // the session of the request
}

// Sessions returns the sessions of an account, the one used last first. The caller has the account, or AdminScope.
func (s *Service) Sessions(ctx context.Context, id model.ID) ([]Session, error) {
	if err := selfOrAdmin(ctx, id); err != nil {
		return nil, err
	}
	rows, err := s.store.Sessions(ctx, id, s.micros(0))
	caller, _ := model.CallerOf(ctx)
	sessions := make([]Session, len(rows))
	for i, row := range rows {
		sessions[i] = Session{
			row.Session, row.Agent, model.Timestamp(row.CreatedAt), model.Timestamp(row.UsedAt),
			model.Timestamp(row.ExpiresAt), row.Session == caller.Session,
		}
	}
	return sessions, err
}

// EndSession ends a session of an account. The caller has the account, or AdminScope. An unknown session is NotFound.
func (s *Service) EndSession(ctx context.Context, id, session model.ID) error {
	if err := selfOrAdmin(ctx, id); err != nil {
		return err
	}
	ended, err := s.store.EndSession(ctx, id, session)
	if err == nil && !ended {
		err = model.Errorf(model.NotFound, "There is no session %d.", session)
	}
	s.generation.Add(1)
	return err
}

// EndSessions ends all sessions of an account. The caller has the account, or AdminScope.
func (s *Service) EndSessions(ctx context.Context, id model.ID) error {
	if err := selfOrAdmin(ctx, id); err != nil {
		return err
	}
	defer s.generation.Add(1)
	return s.store.EndSessions(ctx, id)
}

// Logout ends the caller's session. A token without one is BadUserInput.
func (s *Service) Logout(ctx context.Context) error {
	p, err := model.CallerOf(ctx)
	if err != nil {
		return err
	}
	if p.Account == nil || p.Session == 0 {
		return model.Errorf(model.BadUserInput, "This token has no session. It ends when it expires or is revoked.")
	}
	defer s.generation.Add(1)
	_, err = s.store.EndSession(ctx, p.Account.ID, p.Session)
	return err
}

// ChangePassword replaces the caller's password, ends all sessions of the account, and begins a new one. The error is
// BadUserInput for a wrong old password or a weak new one, else as of Login.
func (s *Service) ChangePassword(ctx context.Context, old, password, agent string) (*SignedIn, error) {
	p, err := self(ctx)
	if err != nil {
		return nil, err
	}
	var problems model.FieldErrors
	if old == "" {
		problems.Add("old_password", "The %s field is required.")
	}
	checkPassword(&problems, "password", password, p.Account.Name, p.Account.DisplayName)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	row, err := s.check(ctx, p.Account.Name, old)
	switch {
	case model.IsCode(err, model.Unauthenticated):
		problems.Add("old_password", "The %s is not correct.")
		err = problems.Err()
	case err == nil && norm.NFC.String(old) == norm.NFC.String(password):
		problems.Add("password", "Choose another password than the present one.")
		err = problems.Err()
	}
	if err != nil {
		return nil, err
	}
	stored, err := s.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	defer s.generation.Add(1)
	err = s.store.DB.Write(ctx, func(ctx context.Context) error {
		changed, err := s.store.SetPassword(ctx, row.ID, row.Password, stored)
		if err == nil && !changed {
			err = model.Errorf(model.Conflict, "The password was changed by someone else. Sign in again.")
		}
		if err != nil {
			return err
		}
		return s.store.EndSessions(ctx, row.ID)
	})
	if err != nil {
		return nil, err
	}
	row.Password = stored
	return s.begin(ctx, row, agent)
}

// Rename sets the caller's name that others see.
func (s *Service) Rename(ctx context.Context, displayName string) error {
	p, err := self(ctx)
	if err != nil {
		return err
	}
	var problems model.FieldErrors
	displayName = trim(displayName)
	checkName(&problems, "display_name", displayName)
	if err := problems.Err(); err != nil {
		return err
	}
	defer s.generation.Add(1)
	return s.store.SetDisplayName(ctx, p.Account.ID, displayName)
}

// SetLanguage sets the language in which the caller reads the pages.
func (s *Service) SetLanguage(ctx context.Context, tag string) error {
	p, err := self(ctx)
	if err != nil {
		return err
	}
	defer s.generation.Add(1)
	return s.store.SetLanguage(ctx, p.Account.ID, tag)
}

// nameList has the display names of accounts.
type nameList struct {
	byID map[model.ID]string
	at   time.Time
}

// ActorName returns the display name of the account that is an actor, or "" for another actor or a caller without
// ReadScope. A name may be a second old.
func (s *Service) ActorName(ctx context.Context, actor string) (string, error) {
	if p, err := model.CallerOf(ctx); err != nil || !p.Has(model.ReadScope) {
		return "", nil
	}
	id, ok := model.AccountOf(actor)
	if !ok {
		return "", nil
	}
	known, now := s.names.Load(), s.now()
	if known == nil || now.Sub(known.at) >= maxAge || now.Before(known.at) {
		// The changes of a page are resolved at once.
		loaded, err, _ := s.loads.Do("names", func() (any, error) { return s.loadNames(ctx, now) })
		if err != nil {
			return "", err
		}
		known = loaded.(*nameList)
	}
	return known.byID[id], nil
}

func (s *Service) loadNames(ctx context.Context, now time.Time) (*nameList, error) {
	rows, err := s.store.Names(context.WithoutCancel(ctx)) // other callers wait for it
	if err != nil {
		return nil, err
	}
	list := &nameList{make(map[model.ID]string, len(rows)), now}
	for _, row := range rows {
		list.byID[row.ID] = row.DisplayName
	}
	s.names.Store(list)
	return list, nil
}
