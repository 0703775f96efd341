package auth

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func rsaJWK(kid string) object {
	key := rsaKey().PublicKey
	return object{"kty": "RSA", "kid": kid, "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())}
}

func ecJWK(kid string) object {
	point := must(ecKey().PublicKey.Bytes()) // 4, x, y
	return object{"kty": "EC", "crv": "P-256", "kid": kid, "x": b64(point[1:33]), "y": b64(point[33:])}
}

func edJWK(kid string) object {
	return object{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": b64(edKey()[32:])}
}

func rs256(t testing.TB, kid any) string {
	t.Helper()
	return token(t, jwt.SigningMethodRS256, rsaKey(), object{"kid": kid}, nil)
}

func es256(t testing.TB, kid any) string {
	t.Helper()
	return token(t, jwt.SigningMethodES256, ecKey(), object{"kid": kid}, nil)
}

// fakeIssuer is a JWKS endpoint whose answers a test changes. It counts the
// questions, and is a transport too, so that it works where time is not real.
type fakeIssuer struct {
	mu     sync.Mutex
	answer http.HandlerFunc
	asked  int
}

func (i *fakeIssuer) is(answer http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

func (i *fakeIssuer) has(keys ...object) {
	i.is(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(object{"keys": append([]object{}, keys...)})
	})
}

func (i *fakeIssuer) questions() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

func (i *fakeIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.asked++
	answer := i.answer
	i.mu.Unlock()
	answer(w, r)
}

func (i *fakeIssuer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

func isDown(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "down", http.StatusServiceUnavailable)
}

// redirects leads to a good set, which is not what was asked for.
func redirects(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/keys" {
		http.Redirect(w, r, "http://another.example/set", http.StatusFound)
		return
	}
	_ = json.NewEncoder(w).Encode(object{"keys": []object{rsaJWK("k")}})
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// verifier asks i for its keys without a network.
func (i *fakeIssuer) verifier(t *testing.T) *Verifier {
	t.Helper()
	keys, err := newKeySet(t.Context(), "https://issuer.example/keys", i, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return verifierOf(t, &issuer{parser: newParser("", "", keyMethods...), key: keys.lookup, keys: keys})
}

func verifierOf(t *testing.T, issuers ...*issuer) *Verifier {
	t.Helper()
	return &Verifier{log: slog.New(slog.DiscardHandler), issuers: issuers, verified: newVerifiedTokens()}
}

// pass lets time pass in a bubble, and all happen that then does.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
