// Package accounts has the use cases of accounts: links, logins, sessions and own tokens. Each use case authorises in
// its first line. The package contains no SQL and no HTTP.
//
// Each secret has 256 random bits and is stored as its SHA-256, so a reader of the database cannot use it.
package accounts

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/time/rate"

	"library-catalogue/db/account"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
	"library-catalogue/lru"
)

// Service runs the use cases. It is safe for concurrent use.
type Service struct {
	store   account.Store
	now     func() time.Time
	network func(context.Context) netip.Addr
	queue   *queue // for work on passwords

	known      lru.Cache[string, found]
	generation atomic.Int64 // changes with each use case that ends sessions
	loads      singleflight.Group
	keys       atomic.Pointer[keyRing]
	reloading  *semaphore.Weighted // held by reloadKeys
	reloads    *rate.Limiter
	names      atomic.Pointer[nameList]
	bounded    atomic.Int64 // time of the last BoundFailures
}

// maxKnownBytes is the size of the cache of sessions and tokens.
const maxKnownBytes = 1 << 20

// New returns a Service. now is the clock. network returns the client network of a request, which failed logins are
// counted for.
func New(store account.Store, now func() time.Time, network func(context.Context) netip.Addr) *Service {
	return &Service{
		store: store, now: now, network: network, queue: newQueue(),
		reloading: semaphore.NewWeighted(1), reloads: rate.NewLimiter(rate.Every(reloadInterval), 1),
		known: lru.New(maxKnownBytes, func(key string, f found) int {
			const overhead = 512 // bytes per entry
			return overhead + len(key)
		}),
	}
}

// micros returns the stored form of the time of the clock plus d.
func (s *Service) micros(d time.Duration) int64 { return s.now().Add(d).UnixMicro() }

// newSecret returns 256 random bits as text.
func newSecret() string {
	random := make([]byte, 32)
	rand.Read(random) // never returns an error
	return base64.RawURLEncoding.EncodeToString(random)
}

// digest returns the stored form of a secret.
func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// The bounds of names in characters, and of their keys in bytes, which an index of PostgreSQL takes.
const (
	maxName     = 200
	maxKeyBytes = 2_000
)

// keyOf returns the identity key of a given name, or "" if no account can have it.
func keyOf(name string) string {
	key := collate.Identity(name[:min(len(name), maxKeyBytes)])
	if len(key) > maxKeyBytes || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return ""
	}
	return key
}

// checkName adds the problems of a name to problems.
func checkName(problems *model.FieldErrors, field, name string) {
	switch n := utf8.RuneCountInString(name); {
	case !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }):
		problems.Add(field, "The %s field is required.")
	case n > maxName, len(collate.Identity(name)) > maxKeyBytes:
		problems.Add(field, "The %s field must not be greater than 200 characters.")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, isControl):
		problems.Add(field, "The %s field must not have control characters.")
	}
}

// isControl reports whether a character is a control character, or changes the direction of the text that follows
// (UAX #9: embeddings, overrides and isolates).
func isControl(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// trim returns the stored form of a name.
func trim(name string) string { return norm.NFC.String(strings.Join(strings.Fields(name), " ")) }

// LocalPath returns the path to which a login leads, or "/" for another site. Browsers read "//" and "/\" as another
// host.
func LocalPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsAny(path, "\\\t\r\n") {
		return "/"
	}
	return path
}

// WithCommandLine returns a context whose caller is the command line, which may manage all accounts.
func WithCommandLine(ctx context.Context) context.Context {
	return model.WithCaller(ctx, model.Caller{Operator: true})
}

// self returns the caller, who must have a session. An own token must not manage its account.
func self(ctx context.Context) (model.Caller, error) {
	p, err := model.CallerOf(ctx)
	if err == nil && (p.Account == nil || p.Session == 0) {
		err = model.Errorf(model.Forbidden, "Sign in with your password for this.")
	}
	return p, err
}

// selfOrAdmin returns an error unless the caller has the account, or may manage all.
func selfOrAdmin(ctx context.Context, id model.ID) error {
	if p, err := self(ctx); err == nil && p.Account.ID == id {
		return nil
	}
	_, err := model.Authorise(ctx, model.AdminScope)
	return err
}
