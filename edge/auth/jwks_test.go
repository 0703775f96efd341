package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

func TestJWKS(t *testing.T) {
	t.Parallel()
	var i fakeIssuer
	i.has(rsaJWK("r"), ecJWK("e"), edJWK("d"))
	srv := httptest.NewServer(&i)
	defer srv.Close()
	v := newTestVerifier(t, Config{JWKSURL: srv.URL, Issuer: "issuer"})

	good := []string{
		rs256(t, "r"), es256(t, "e"), token(t, jwt.SigningMethodEdDSA, edKey(), object{"kid": "d"}, nil),
		es256(t, nil), // all keys for ES256 are tried
	}
	var all sync.WaitGroup
	for _, text := range append(good, good...) {
		all.Go(func() { wantSubject(t, v, text, "ada") })
	}
	all.Wait()

	for name, forged := range map[string]string{
		"kid of another type":  rs256(t, "e"),
		"kid of another alg":   token(t, jwt.SigningMethodRS256, rsaKey(), object{"alg": "ES256", "kid": "r"}, nil),
		"kid unknown":          rs256(t, "R"),
		"kid empty":            rs256(t, ""),
		"kid an object":        rs256(t, object{"kid": "r"}),
		"HS256 with n":         token(t, jwt.SigningMethodHS256, rsaKey().N.Bytes(), object{"kid": "r"}, nil),
		"HS256, empty secret":  token(t, jwt.SigningMethodHS256, []byte{}, object{"kid": "r"}, nil),
		"none":                 segment(t, object{"alg": "none", "kid": "r"}) + "." + segment(t, object{"exp": time.Now().Unix() + 60}) + ".",
		"another key":          token(t, jwt.SigningMethodRS256, must(rsa.GenerateKey(rand.Reader, 2048)), object{"kid": "r"}, nil),
		"crit":                 token(t, jwt.SigningMethodES256, ecKey(), object{"kid": "e", "crit": []string{"exp"}}, nil),
		"jku of another's set": token(t, jwt.SigningMethodES256, ecKey(), object{"kid": "x", "jku": srv.URL}, nil),
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, v, forged) })
	}
}

func TestJWKSPassesOverKeysItCannotUse(t *testing.T) {
	t.Parallel()
	weak := big.NewInt(0).Lsh(big.NewInt(1), 1023)
	for name, odd := range map[string]object{
		"no kty":            {"kid": "k"},
		"kty unknown":       {"kty": "LWE", "kid": "k"},
		"kid a number":      rsaJWK("k").with(object{"kid": 7}),
		"no modulus":        rsaJWK("k").with(object{"n": nil}),
		"weak RSA":          rsaJWK("k").with(object{"n": b64(weak.Bytes())}),
		"curve unknown":     ecJWK("k").with(object{"crv": "secp256k1"}),
		"curve unsupported": ecJWK("k").with(object{"crv": "P-384"}),
		"point off curve":   ecJWK("k").with(object{"y": b64(make([]byte, 32))}),
		"Ed25519 cut short": edJWK("k").with(object{"x": "AAAA"}),
		"secret":            {"kty": "oct", "kid": "k", "alg": "HS256", "k": b64(secret)},
		"for encryption":    rsaJWK("k").with(object{"use": "enc"}),
		"for wrapping keys": rsaJWK("k").with(object{"key_ops": []string{"wrapKey"}}),
		"for RS512":         rsaJWK("k").with(object{"alg": "RS512"}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var i fakeIssuer
				i.has(odd, ecJWK("e").with(object{"use": "sig", "alg": "ES256", "key_ops": []string{"verify"}}))
				v := i.verifier(t)
				wantSubject(t, v, es256(t, "e"), "ada")
				wantRefused(t, v, rs256(t, "k"))
				wantRefused(t, v, rs256(t, nil))
				wantRefused(t, v, hs256(t, object{"kid": "k"}, nil))
				wantRefused(t, v, es256(t, "k"))
			})
		})
	}
}

func TestJWKSRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i fakeIssuer
		i.has(rsaJWK("old"))
		v := i.verifier(t)
		wantSubject(t, v, rs256(t, "old"), "ada")

		wantRefused(t, v, es256(t, nil)) // no key for ES256: a call as well
		i.has(rsaJWK("old"), ecJWK(""))
		pass(minRefreshInterval)
		wantSubject(t, v, es256(t, nil), "ada")

		i.has(rsaJWK("old"), ecJWK("new"))
		wantRefused(t, v, es256(t, "new")) // and wakes the refresh
		pass(minRefreshInterval)
		wantSubject(t, v, es256(t, "new"), "ada")
		wantSubject(t, v, rs256(t, "old"), "ada")

		// A key that is withdrawn is one that nobody misses. What it has signed is
		// refused then, though it was verified before.
		lasting := token(t, jwt.SigningMethodRS256, rsaKey(), object{"kid": "old"}, object{"exp": time.Now().Add(24 * time.Hour).Unix()})
		wantSubject(t, v, lasting, "ada")
		wantSubject(t, v, lasting, "ada")
		i.has(ecJWK("new"))
		pass(minRefreshInterval + refreshInterval)
		wantSubject(t, v, es256(t, "new"), "ada")
		wantRefused(t, v, rs256(t, "old"))
		wantRefused(t, v, lasting)

		i.has()
		pass(minRefreshInterval + refreshInterval)
		wantRefused(t, v, es256(t, "new"))
	})
}

func TestJWKSHealsAfterAStartWithoutEndpoint(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]http.HandlerFunc{
		"down":       isDown,
		"hanging":    hangs,
		"redirected": redirects,
		"failing, with a set": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(object{"keys": []object{rsaJWK("k")}})
		},
		"no JSON":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no set":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"error":"busy"}`) },
		"null":      func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `null`) },
		"too large": tooLarge,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var i fakeIssuer
				i.is(away)
				start := time.Now()
				v := i.verifier(t)
				if took := time.Since(start); took > refreshTimeout {
					t.Errorf("the start took %v", took)
				}
				wantRefused(t, v, rs256(t, "k")) // asked for, so it is there soon
				wantUnchecked(t, v, rs256(t, "k"))

				i.has(rsaJWK("k"))
				pass(minRefreshInterval)
				wantSubject(t, v, rs256(t, "k"), "ada")

				// The known keys stay while the endpoint is away again.
				i.is(away)
				pass(2 * refreshInterval)
				wantSubject(t, v, rs256(t, "k"), "ada")
			})
		})
	}
}

// wantUnchecked demands that a token is not called invalid, nor its holder unknown,
// while nobody can know.
func wantUnchecked(t *testing.T, v *Verifier, token string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	v.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := model.CallerOf(r.Context()); !model.IsCode(err, model.Unavailable) || model.TokenErrorOf(r.Context()).Code != model.TokenUnchecked {
			t.Errorf("a caller who cannot be checked: %v", err)
		}
	})).ServeHTTP(w, r)
	if challenge, told := w.Header()["Www-Authenticate"]; told {
		t.Errorf("WWW-Authenticate: %q", challenge)
	}
}

// tooLarge is a good set that blanks make larger than 1 MiB.
func tooLarge(w http.ResponseWriter, _ *http.Request) {
	_ = json.NewEncoder(w).Encode(object{"keys": []object{rsaJWK("k")}})
	fmt.Fprint(w, strings.Repeat(" ", maxKeySetBytes))
}

// Without a call the endpoint is asked again after retryInterval.
func TestJWKSRetriesByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i fakeIssuer
		i.is(isDown)
		v := i.verifier(t)
		i.has(rsaJWK("k"))
		pass(minRefreshInterval + retryInterval)
		wantSubject(t, v, rs256(t, "k"), "ada")
	})
}

// The clock of a bubble stands still while anybody runs, so that a single
// moment of waiting would show.
func TestJWKSUnknownKidsHoldNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i fakeIssuer
		i.has(rsaJWK("k"))
		v := i.verifier(t)
		good, unknown := rs256(t, "k"), rs256(t, "unknown")
		flood := func() {
			t.Helper()
			start := time.Now()
			for range 200 {
				wantRefused(t, v, unknown)
			}
			wantSubject(t, v, good, "ada")
			if took := time.Since(start); took != 0 {
				t.Errorf("requests waited for %v", took)
			}
		}

		i.is(hangs)
		flood()
		pass(minRefreshInterval) // now the question is out, and hangs
		flood()

		i.has(rsaJWK("k"))
		before := i.questions()
		const minute = 12 * minRefreshInterval
		for range minute / time.Second {
			flood()
			time.Sleep(time.Second)
		}
		if asked := i.questions() - before; asked == 0 || asked > int(minute/minRefreshInterval) {
			t.Errorf("a minute's flood asked the issuer %d times, want 1 to %d", asked, minute/minRefreshInterval)
		}
	})
}

// A bubble ends only when its goroutines have.
func TestJWKSEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"at rest": isDown, "asking": hangs} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				i := fakeIssuer{answer: answer}
				if _, err := newKeySet(ctx, "https://issuer.example/keys", &i, slog.New(slog.DiscardHandler)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(minRefreshInterval + retryInterval)
				cancel()
				synctest.Wait()
				asked := i.questions()
				time.Sleep(24 * time.Hour)
				if i.questions() != asked {
					t.Error("the issuer is still being asked")
				}
			})
		})
	}
}

func TestJWKSAnswerIsBounded(t *testing.T) {
	t.Parallel()
	var written atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"keys":[`)
		for r.Context().Err() == nil { // for ever, were it read
			n, err := fmt.Fprint(w, strings.Repeat(" ", 1<<16))
			if written.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	v := newTestVerifier(t, Config{JWKSURL: srv.URL})
	srv.Close()
	wantRefused(t, v, rs256(t, "k"))
	// What was not read stands in the buffers of the two sockets.
	if n := written.Load(); n > 32*maxKeySetBytes {
		t.Errorf("%d bytes were taken from the issuer", n)
	}
}

// TestJWKSAddressIsNotLogged has an endpoint that is away, in whose address a
// password and a key stand.
func TestJWKSAddressIsNotLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	away := httptest.NewServer(nil)
	away.Close()
	address := "http://user:hidden1@" + strings.TrimPrefix(away.URL, "http://") + "/keys?key=hidden2"
	ctx, cancel := context.WithCancel(t.Context())
	v, err := New(ctx, Config{JWKSURL: address, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	said := log.String() + v.Check().Err.Error()
	if !strings.Contains(said, away.URL+"/keys") || !strings.Contains(said, "refused") || strings.Contains(said, "hidden") {
		t.Errorf("the log and the check say %s", said)
	}
}
