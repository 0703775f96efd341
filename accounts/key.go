package accounts

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/db/account"
	"library-catalogue/graph/model"
)

// IssuerPrefix begins the iss of login tokens. No other key may sign for such an issuer.
const IssuerPrefix = "catalogue:"

const (
	keyAge = 90 * 24 * time.Hour // after which a key is replaced
	// oldKeyAge is the time for which a replaced key counts: its last token, and the caches of other servers.
	oldKeyAge = loginTTL + 5*time.Minute
	// reloadInterval is the minimum time between two reads of the keys for unknown ids.
	reloadInterval = 50 * time.Millisecond
)

// keyRing has the keys that count.
type keyRing struct {
	issuer string
	keys   []signer // the newest first
	at     time.Time
}

// signer is a key with its issuer.
type signer struct {
	issuer, kid string
	key         ed25519.PrivateKey
	created     time.Time
}

// sign returns a login token for the session with a hashed secret.
func (k signer) sign(a *model.Account, session []byte, now, expires time.Time) (string, error) {
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"iss": k.issuer, "sub": a.Subject(), "sid": hex.EncodeToString(session), "iat": now.Unix(),
		"exp": expires.Unix(),
	})
	t.Header["kid"] = k.kid
	return t.SignedString(k.key)
}

// ring returns the keys, at most maxAge old.
func (s *Service) ring(ctx context.Context) (*keyRing, error) {
	ring, now := s.keys.Load(), s.now()
	if ring != nil && now.Sub(ring.at) < maxAge && !now.Before(ring.at) {
		return ring, nil
	}
	return s.loadKeys(ctx)
}

func (s *Service) loadKeys(ctx context.Context) (*keyRing, error) {
	name, err := s.store.Installation(ctx)
	if err != nil {
		return nil, err
	}
	ring := &keyRing{issuer: IssuerPrefix + name, at: s.now()}
	rows, err := s.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if i > 0 && !ring.at.Before(time.UnixMicro(rows[i-1].CreatedAt).Add(oldKeyAge)) {
			break // its tokens have expired
		}
		if len(row.Seed) != ed25519.SeedSize {
			return nil, errors.New("a stored key of login tokens has the wrong length")
		}
		ring.keys = append(ring.keys,
			signer{ring.issuer, row.ID, ed25519.NewKeyFromSeed(row.Seed), time.UnixMicro(row.CreatedAt)})
	}
	s.keys.Store(ring)
	return ring, nil
}

// signer returns the key that signs now. It makes a new one if there is none or the newest is too old.
func (s *Service) signer(ctx context.Context) (signer, error) {
	ring, err := s.ring(ctx)
	if err != nil {
		return signer{}, err
	}
	if len(ring.keys) == 0 || ring.keys[0].created.Add(keyAge).Before(s.now()) {
		kid, seed := make([]byte, 8), make([]byte, ed25519.SeedSize)
		rand.Read(kid)
		rand.Read(seed)
		added := &account.Key{ID: hex.EncodeToString(kid), Seed: seed, CreatedAt: s.micros(0)}
		if err := s.store.AddKey(ctx, added, s.micros(-keyAge), s.micros(-2*keyAge)); err != nil {
			return signer{}, err
		}
		if ring, err = s.loadKeys(ctx); err != nil {
			return signer{}, err
		}
		if len(ring.keys) == 0 {
			return signer{}, errors.New("the new key of login tokens is not in the database")
		}
	}
	return ring.keys[0], nil
}

// Key returns the public key of login tokens with an issuer and an id, or nil if this service has none. A key that
// another server has just made is found too.
func (s *Service) Key(ctx context.Context, issuer, kid string) (ed25519.PublicKey, error) {
	began := s.now()
	ring, err := s.ring(ctx)
	if err != nil || ring.issuer != issuer {
		return nil, err
	}
	if key := ring.public(kid); key != nil {
		return key, nil
	}
	if ring, err = s.reloadKeys(ctx, began); err != nil {
		return nil, err
	}
	return ring.public(kid), nil
}

// public returns the public key with an id, or nil.
func (r *keyRing) public(kid string) ed25519.PublicKey {
	for _, k := range r.keys {
		if k.kid == kid {
			return k.key.Public().(ed25519.PublicKey)
		}
	}
	return nil
}

// reloadKeys returns keys that were read after a time. Concurrent calls share a read (single-flight), and the reads are
// at least reloadInterval apart, whatever ids clients send.
func (s *Service) reloadKeys(ctx context.Context, began time.Time) (*keyRing, error) {
	if err := s.reloading.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.reloading.Release(1)
	if ring := s.keys.Load(); ring.at.After(began) {
		return ring, nil
	}
	if err := s.reloads.Wait(ctx); err != nil {
		return nil, err
	}
	return s.loadKeys(ctx)
}
