package auth

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/task"
)

const (
	maxKeySetBytes     = 1 << 20         // JWK Set or discovery document
	refreshTimeout     = 5 * time.Second // for all requests of a refresh
	refreshInterval    = 15 * time.Minute
	retryInterval      = 30 * time.Second // after a failure
	minRefreshInterval = 5 * time.Second  // unknown kids cannot trigger fetches more often
)

// keySet holds the keys of a JWKS endpoint. One goroutine fetches them; requests use the last keys and never wait. An
// unknown kid wakes the goroutine, so that a new key works within minRefreshInterval. If a fetch fails, the last keys
// stay.
type keySet struct {
	log      *slog.Logger
	url      *url.URL // address of the set, or of the discovery document
	client   *http.Client
	discover func(ctx context.Context) (*url.URL, error) // reads the discovery document; nil: url is the set's
	keys     atomic.Pointer[[]setKey]
	failed   atomic.Pointer[error] // error of the last fetch; nil after a success
	wakeUp   chan struct{}         // has a buffer of one
}

// errNoKeys means that no key is known yet, so the token may be valid.
var errNoKeys = errors.New("there are no keys to verify tokens")

// setKey is a key of a set that can verify signatures.
type setKey struct {
	kid    string // empty: none
	method string // the only supported alg
	key    crypto.PublicKey
}

// newKeySet returns the key set at an address, after a first fetch. It returns an error only if the address is invalid.
func newKeySet(ctx context.Context, address string, transport http.RoundTripper, log *slog.Logger) (*keySet, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("invalid JWKS URL: %w", err)
	}
	if !isHTTP(u) {
		return nil, fmt.Errorf("invalid JWKS URL %q: use the form https://issuer.example/keys", u.Redacted())
	}
	s := unreadKeySet(u, transport, log)
	s.start(ctx)
	return s, nil
}

func isHTTP(u *url.URL) bool { return (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" }

func unreadKeySet(u *url.URL, transport http.RoundTripper, log *slog.Logger) *keySet {
	s := &keySet{
		log: log,
		url: u,
		client: &http.Client{
			Transport: transport,
			// A redirect could lead to http or to an untrusted host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wakeUp: make(chan struct{}, 1),
	}
	s.keys.Store(&[]setKey{})
	return s
}

// start fetches the keys and starts a goroutine that refreshes them until ctx is done.
func (s *keySet) start(ctx context.Context) {
	next := s.refresh(ctx)
	task.Go(ctx, func() error { s.run(ctx, next); return nil })
}

// lookup is a jwt.Keyfunc. It returns the keys for the alg of t that have its kid, or all for its alg if t has no kid.
func (s *keySet) lookup(t *jwt.Token) (any, error) {
	kid, named := t.Header["kid"]
	var found jwt.VerificationKeySet
	for _, k := range *s.keys.Load() {
		if k.method == t.Method.Alg() && (!named || k.kid == kid) {
			found.Keys = append(found.Keys, k.key)
		}
	}
	if len(found.Keys) > 0 {
		return found, nil
	}
	s.wake()
	if len(*s.keys.Load()) == 0 {
		return nil, errNoKeys
	}
	return nil, fmt.Errorf("no key in the set for alg %s and kid %.64q", t.Method.Alg(), fmt.Sprint(kid))
}

// wake triggers a refresh.
func (s *keySet) wake() {
	select {
	case s.wakeUp <- struct{}{}:
	default: // a refresh is pending
	}
}

// run refreshes the set after next, or when wake is called.
func (s *keySet) run(ctx context.Context, next time.Duration) {
	for task.Wait(ctx, minRefreshInterval, nil) && task.Wait(ctx, next, s.wakeUp) {
		next = retryInterval
		_ = task.Run(ctx, func() error { // a panic is reported
			next = s.refresh(ctx)
			return nil
		})
	}
}

// refresh fetches the keys and returns the time until the next refresh.
func (s *keySet) refresh(ctx context.Context) time.Duration {
	limited, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	keys, err := s.fetch(limited)
	if err != nil {
		if ctx.Err() == nil {
			// Without the query, which may have an API key.
			s.log.WarnContext(ctx, "refreshing the keys for tokens failed", "url",
				s.url.Scheme+"://"+s.url.Host+s.url.Path, "cause", err)
		}
		s.failed.Store(&err)
		return retryInterval
	}
	s.keys.Store(&keys)
	s.failed.Store(nil)
	return refreshInterval
}

func (s *keySet) fetch(ctx context.Context) ([]setKey, error) {
	address := s.url
	if s.discover != nil {
		var err error
		if address, err = s.discover(ctx); err != nil {
			return nil, err
		}
	}
	body, err := s.get(ctx, address)
	if err != nil {
		return nil, err
	}
	return parseKeySet(ctx, body, s.log)
}

// get returns the response body of an address.
func (s *keySet) get(ctx context.Context, address *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if failure, ok := errors.AsType[*url.Error](err); ok {
		err = failure.Err // without the URL, which may have an API key
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the response is %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySetBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeySetBytes {
		return nil, fmt.Errorf("the response has more than %d bytes", maxKeySetBytes)
	}
	return body, nil
}

// parseKeySet parses a JWK Set (RFC 7517, section 5). It skips unsupported keys, as the section requires. A document
// without "keys" is an error and not an empty set.
func parseKeySet(ctx context.Context, body []byte, log *slog.Logger) ([]setKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("the response is not a JWK Set: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("the response is not a JWK Set: it has no member keys")
	}
	keys := make([]setKey, 0, len(set.Keys))
	for i, raw := range set.Keys {
		key, err := parseKey(raw)
		if err != nil {
			log.DebugContext(ctx, "key of the JWK Set skipped", "index", i, "cause", err)
			continue
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// parseKey parses a key for signatures. It refuses keys for other uses (RFC 7517, sections 4.2 to 4.4), because many
// sets have encryption keys too.
func parseKey(raw json.RawMessage) (setKey, error) {
	jwk, err := jwkset.NewJWKFromRawJSON(raw, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return setKey{}, err
	}
	method, err := methodFor(jwk.Key())
	if err != nil {
		return setKey{}, err
	}
	meta := jwk.Marshal()
	switch {
	case meta.USE != "" && meta.USE != jwkset.UseSig:
		return setKey{}, fmt.Errorf("its use is %q", meta.USE)
	case len(meta.KEYOPS) > 0 && !slices.Contains(meta.KEYOPS, jwkset.KeyOpsVerify):
		return setKey{}, fmt.Errorf("its key_ops are %q", meta.KEYOPS)
	case meta.ALG != "" && meta.ALG.String() != method:
		return setKey{}, fmt.Errorf("its alg is %q, but a key of its type needs %s", meta.ALG, method)
	}
	return setKey{kid: meta.KID, method: method, key: jwk.Key()}, nil
}
