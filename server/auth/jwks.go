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
)

const (
	maxKeySet      = 1 << 20         // bytes of a JWK Set, or of the document that names it
	refreshTimeout = 5 * time.Second // for the answers of a refresh
	refreshEvery   = 15 * time.Minute
	retryEvery     = 30 * time.Second // after a failure
	refreshGap     = 5 * time.Second  // between two questions at least, whatever kids clients send
)

// keySet holds the keys of a JWKS endpoint. One goroutine asks the endpoint;
// requests look into the newest answer and never wait. A kid that is not there
// wakes the goroutine, so that a new key is known after refreshGap, while a
// flood of made-up kids costs the issuer one question in that time. While the
// endpoint is away, the last answer holds.
type keySet struct {
	log    *slog.Logger
	url    *url.URL // of the set, or of the document that names it
	client *http.Client
	find   func(ctx context.Context) (*url.URL, error) // reads that document; nil where url is the set's
	keys   atomic.Pointer[[]setKey]
	failed atomic.Pointer[error] // what the last question failed with; nil where it did not
	wanted chan struct{}         // holds one wake-up call
}

// errNoKeys says that there is no key at all, so that the token may be good.
var errNoKeys = errors.New("there are no keys to check tokens with")

// setKey is a key of the set that signatures can be checked with.
type setKey struct {
	kid    string // empty where it has none
	method string // the only alg it is for
	key    crypto.PublicKey
}

// newKeySet returns the key set at an address, and begins to read it. The error is for
// an address that cannot be right.
func newKeySet(ctx context.Context, address string, transport http.RoundTripper, log *slog.Logger) (*keySet, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the JWKS URL cannot be read: %w", err)
	}
	if !isWeb(u) {
		return nil, fmt.Errorf("the JWKS URL must be like https://issuer.example/keys, and is %q", u.Redacted())
	}
	s := unreadKeySet(u, transport, log)
	s.begin(ctx)
	return s, nil
}

// isWeb reports whether u is an address that can be asked.
func isWeb(u *url.URL) bool { return (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" }

func unreadKeySet(u *url.URL, transport http.RoundTripper, log *slog.Logger) *keySet {
	s := &keySet{
		log: log,
		url: u,
		client: &http.Client{
			Transport: transport,
			// A redirect could lead from https to http, or to a host that
			// nobody chose to trust.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		wanted: make(chan struct{}, 1),
	}
	s.keys.Store(&[]setKey{})
	return s
}

// begin asks once and then leaves the rest to a goroutine, which ends with ctx.
func (s *keySet) begin(ctx context.Context) {
	next := s.refresh(ctx)
	go s.run(ctx, next)
}

// lookup is a jwt.Keyfunc: the keys that t may be signed with, which are those
// with its kid, or all where it names none, and never one for another alg.
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

// wake has the set refreshed soon.
func (s *keySet) wake() {
	select {
	case s.wanted <- struct{}{}:
	default: // it is called already
	}
}

// run refreshes the set whenever next has passed or somebody wants a key.
func (s *keySet) run(ctx context.Context, next time.Duration) {
	for pause(ctx, refreshGap, nil) && pause(ctx, next, s.wanted) {
		next = s.refresh(ctx)
	}
}

// pause waits for d or until somebody calls wake; false means that ctx is done.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-wake:
	case <-time.After(d):
	}
	return true
}

// refresh returns how long to wait for the next one, where nobody calls before.
func (s *keySet) refresh(ctx context.Context) time.Duration {
	limited, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	keys, err := s.fetch(limited)
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "the keys for tokens could not be refreshed", "url", s.url.Scheme+"://"+s.url.Host+s.url.Path, "cause", err) // its query may hold a key
		}
		s.failed.Store(&err)
		return retryEvery
	}
	s.keys.Store(&keys)
	s.failed.Store(nil)
	return refreshEvery
}

func (s *keySet) fetch(ctx context.Context) ([]setKey, error) {
	address := s.url
	if s.find != nil {
		var err error
		if address, err = s.find(ctx); err != nil {
			return nil, err
		}
	}
	body, err := s.get(ctx, address)
	if err != nil {
		return nil, err
	}
	return parseKeySet(ctx, body, s.log)
}

// get returns the answer of an address.
func (s *keySet) get(ctx context.Context, address *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if failure, ok := errors.AsType[*url.Error](err); ok {
		err = failure.Err // without the address
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeySet+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeySet {
		return nil, fmt.Errorf("the answer has more than %d bytes", maxKeySet)
	}
	return body, nil
}

// parseKeySet reads a JWK Set (RFC 7517, section 5). It passes over the keys
// that it cannot use, as the section wants: one odd key must not take the
// others away. An answer without "keys" is an error page and no empty set.
func parseKeySet(ctx context.Context, body []byte, log *slog.Logger) ([]setKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("the answer is no JWK Set: %w", err)
	}
	if set.Keys == nil {
		return nil, errors.New("the answer is no JWK Set: it has no keys")
	}
	keys := make([]setKey, 0, len(set.Keys))
	for i, raw := range set.Keys {
		key, err := parseKey(raw)
		if err != nil {
			log.DebugContext(ctx, "a key of the JWK Set cannot be used", "index", i, "cause", err)
			continue
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// parseKey refuses what is not meant for signatures (RFC 7517, sections 4.2 to
// 4.4): encryption keys stand in many sets beside the others.
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
		return setKey{}, fmt.Errorf("its alg is %q, and %s goes with such a key", meta.ALG, method)
	}
	return setKey{kid: meta.KID, method: method, key: jwk.Key()}, nil
}
