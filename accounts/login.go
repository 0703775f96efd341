package accounts

import (
	"cmp"
	"context"
	"net/netip"
	"strings"
	"time"

	"library-catalogue/db/account"
	"library-catalogue/graph/model"
)

// The lifetimes of sessions.
const (
	sessionTTL = 30 * 24 * time.Hour
	loginTTL   = time.Hour // session of a login token
)

// Failed logins are counted in the database, so that several servers share them.
const (
	failureWindow      = 15 * time.Minute
	maxAccountFailures = 10 // failures per account and address
	maxAddressFailures = 50 // failures per address
	maxFailureRows     = 100_000
	boundInterval      = time.Minute
)

// SignedIn is a new session of a browser.
type SignedIn struct {
	Account *model.Account
	Secret  string // value of the cookie
	Expires time.Time
}

// ErrCredentials is the error of every failed login, with one text for all causes.
var ErrCredentials = model.Errorf(model.Unauthenticated, "These credentials do not match our records.")

// Login begins a session of a browser. agent is the client's name of itself. The error is BadUserInput,
// RateLimited with a model.RetryError, Unavailable or ErrCredentials, in this order.
func (s *Service) Login(ctx context.Context, name, password, agent string) (*SignedIn, error) {
	row, err := s.check(ctx, name, password)
	if err != nil {
		return nil, err
	}
	return s.begin(ctx, row, agent)
}

// LoginToken is like Login, and returns a login token of an hour instead.
func (s *Service) LoginToken(
	ctx context.Context, name, password, agent string,
) (token string, expires time.Time, err error) {
	row, err := s.check(ctx, name, password)
	if err != nil {
		return "", expires, err
	}
	signer, err := s.signer(ctx)
	if err != nil {
		return "", expires, err
	}
	now := s.now()
	expires = now.Add(loginTTL).Truncate(time.Second)
	sid := digest(newSecret()) // random: after a restore, and in a copy, ids of sessions are given again
	if err := s.addSession(ctx, row, sid, agent, expires); err != nil {
		return "", expires, err
	}
	token, err = signer.sign(row.Account(), sid, now, expires)
	return token, expires, err
}

// begin begins a session of a browser.
func (s *Service) begin(ctx context.Context, row *account.Row, agent string) (*SignedIn, error) {
	in := &SignedIn{Account: row.Account(), Secret: newSecret(), Expires: s.now().Add(sessionTTL)}
	if err := s.addSession(ctx, row, digest(in.Secret), agent, in.Expires); err != nil {
		return nil, err
	}
	return in, nil
}

// addSession stores a session. It returns ErrCredentials if the account has changed since it was read.
func (s *Service) addSession(
	ctx context.Context, row *account.Row, secret []byte, agent string, expires time.Time,
) error {
	id, err := s.store.AddSession(ctx, row, secret, clip(agent), s.micros(0), expires.UnixMicro())
	if err == nil && id == 0 {
		err = ErrCredentials
	}
	return err
}

// clip bounds a client's name of itself.
func clip(agent string) string {
	runes := []rune(model.CleanSubject(agent))
	return string(runes[:min(len(runes), maxName)])
}

// check returns the account of a name and a password. It does the same work for unknown and disabled accounts.
func (s *Service) check(ctx context.Context, name, password string) (*account.Row, error) {
	var problems model.FieldErrors
	if strings.TrimSpace(name) == "" {
		problems.Add("email", "The %s field is required.")
	}
	if password == "" {
		problems.Add("password", "The %s field is required.")
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	network, key := s.network(ctx), keyOf(name)
	limits := limitsOf(network, key)
	// A login beyond the limits does not wait. Those within them are counted by attempt, once they have a permit, so
	// colleagues behind one address do not use up its limit while they wait.
	if err := s.checkFailures(ctx, limits); err != nil {
		return nil, err
	}
	row, err := s.store.ByKey(ctx, key)
	if err != nil {
		return nil, err
	}
	stored := ""
	if row != nil && row.DisabledAt == nil {
		stored = row.Password
	}
	var ok, outdated bool
	var failed error
	err = s.queue.do(ctx, network, "account "+key, false, func() bool {
		ok, outdated, failed = s.attempt(ctx, limits, stored, password)
		return ok
	})
	switch err = cmp.Or(err, failed); {
	case err != nil:
		return nil, err
	case !ok:
		return nil, ErrCredentials
	case outdated:
		return row, s.rehash(ctx, row, password)
	}
	return row, nil
}

// rehash stores a password with the current parameters.
func (s *Service) rehash(ctx context.Context, row *account.Row, password string) error {
	stored, err := s.hash(ctx, password)
	if err != nil {
		return err
	}
	changed, err := s.store.SetPassword(ctx, row.ID, row.Password, stored)
	if changed {
		row.Password = stored
	}
	return err
}

// attempt verifies a password. It counts the login as failed before, so that concurrent logins do not exceed the
// limits.
func (s *Service) attempt(ctx context.Context, limits []limit, stored, password string) (ok, outdated bool, err error) {
	forgive, err := s.countFailure(ctx, limits)
	if err != nil {
		return false, false, err
	}
	ok, outdated, err = verify(stored, password)
	if err != nil || ok {
		forgive()
	}
	return ok, outdated, err
}

// limit bounds the failures of a key.
type limit struct {
	key []byte
	max int64
}

// limitsOf returns the limits of an address, and of an account from there.
func limitsOf(network netip.Addr, key string) []limit {
	from := network.String()
	return []limit{{digest("address " + from), maxAddressFailures},
		{digest("account " + from + " " + key), maxAccountFailures}}
}

func errTooMany(wait int64) error {
	return &model.Error{
		Code: model.RateLimited, Message: "Too many failed logins. Try again in a few minutes.",
		Err: &model.RetryError{After: time.Duration(wait) * time.Microsecond},
	}
}

// checkFailures returns an error if a limit was reached.
func (s *Service) checkFailures(ctx context.Context, limits []limit) error {
	now := s.micros(0)
	for _, limit := range limits {
		count, endsAt, err := s.store.Failures(ctx, limit.key, now)
		if err == nil && count >= limit.max {
			err = errTooMany(endsAt - now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// countFailure counts a failed login. forgive takes that back.
func (s *Service) countFailure(ctx context.Context, limits []limit) (forgive func(), err error) {
	now, ends := s.micros(0), s.micros(failureWindow)
	if last := s.bounded.Load(); now >= last+boundInterval.Microseconds() && s.bounded.CompareAndSwap(last, now) {
		if err := s.store.BoundFailures(ctx, now, maxFailureRows); err != nil {
			return nil, err
		}
	}
	var counted [][]byte
	forgive = func() {
		for _, key := range counted {
			_ = s.store.ForgiveFailure(context.WithoutCancel(ctx), key) // else the window ends it
		}
	}
	for _, limit := range limits {
		count, endsAt, err := s.store.CountFailure(ctx, limit.key, now, ends)
		if err == nil && count > limit.max {
			err = errTooMany(endsAt - now)
		}
		if err != nil {
			forgive()
			return nil, err
		}
		counted = append(counted, limit.key)
	}
	return forgive, nil
}
