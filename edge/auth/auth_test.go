package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

var (
	secret      = []byte("a secret of the tests, 32 bytes at least")
	otherSecret = []byte("another secret, of as many bytes at least")

	rsaKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	ecKey  = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	edKey  = sync.OnceValue(func() ed25519.PrivateKey {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return must(key, err)
	})
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// object is what a test changes in a good token's header or claims; a nil
// value takes the member out.
type object map[string]any

func (o object) with(change object) object {
	o = maps.Clone(o)
	maps.Copy(o, change)
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == nil })
	return o
}

// token signs a good token, valid for a minute, with the changes to its header
// and claims. The method signs whatever alg the header then names.
func token(t testing.TB, method jwt.SigningMethod, key any, header, claims object) string {
	t.Helper()
	now := time.Now().Unix()
	text := segment(t, object{"alg": method.Alg(), "typ": "JWT"}.with(header)) + "." + segment(t, object{
		"sub": "ada", "iss": "issuer", "aud": "catalogue", "iat": now, "exp": now + 60,
	}.with(claims))
	signature, err := method.Sign(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func segment(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func hs256(t testing.TB, header, claims object) string {
	t.Helper()
	return token(t, jwt.SigningMethodHS256, secret, header, claims)
}

func newTestVerifier(t testing.TB, cfg Config) *Verifier {
	t.Helper()
	v, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantRefused demands a refusal, with its cause inside and not in its words.
func wantRefused(t *testing.T, v *Verifier, token string) {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	e, ok := errors.AsType[*model.TokenError](err)
	if !ok {
		t.Fatalf("Verify = %v, %v, want a *model.TokenError", p, err)
	}
	if e.Err == nil || strings.Contains(e.Message, e.Err.Error()) || strings.ContainsAny(e.Message, `"\`) {
		t.Errorf("the refusal says %q, of %v", e.Message, e.Err)
	}
	if _, err := model.CallerOf(model.WithTokenError(context.Background(), e)); e.Code != model.TokenUnchecked && !strings.HasPrefix(err.Error(), "UNAUTHENTICATED: Unauthenticated.") {
		t.Errorf("a client that needs a token is told %v", err)
	}
	if p != (model.Caller{}) {
		t.Errorf("a caller comes with the refusal: %v", p)
	}
}

func wantSubject(t *testing.T, v *Verifier, token, subject string) {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	if err != nil || p.Subject != subject {
		t.Errorf("Verify = %q, %v, want %q", p.Subject, err, subject)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		cfg  Config
		want string
	}{
		"nothing":         {Config{}, "exactly one of"},
		"empty secret":    {Config{Secret: []byte{}}, "exactly one of"},
		"two":             {Config{Secret: secret, JWKSURL: "https://issuer.example/"}, "exactly one of"},
		"short secret":    {Config{Secret: []byte("changeme")}, "openssl rand -base64 48"},
		"private key":     {Config{PublicKey: ecKey()}, "*ecdsa.PrivateKey"},
		"URL a path":      {Config{JWKSURL: "/etc/keys.json"}, "https://"},
		"URL of a file":   {Config{JWKSURL: "file:///etc/keys.json"}, "https://"},
		"URL not to read": {Config{JWKSURL: "https://issuer.example:port/"}, "invalid JWKS URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(t.Context(), tt.cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestSign(t *testing.T) {
	t.Parallel()
	v := newTestVerifier(t, Config{Secret: secret, Issuer: "issuer", Audience: "catalogue"})
	wantSubject(t, v, must(Sign(secret, "ada", "issuer", "catalogue", time.Hour, time.Now())), "ada")
	wantRefused(t, v, must(Sign(secret, "ada", "issuer", "catalogue", time.Hour, time.Now().Add(-2*time.Hour))))

	now := time.Date(2026, 11, 21, 1, 2, 3, 999, time.UTC)
	for name, tt := range map[string]struct {
		subject, issuer, audience string
		scopes                    []string
		want                      jwt.MapClaims
	}{
		"all":  {"ada", "issuer", "catalogue", []string{"a", "b"}, jwt.MapClaims{"sub": "ada", "iss": "issuer", "aud": []any{"catalogue"}, "scope": "a b"}},
		"none": {"", "", "", nil, jwt.MapClaims{}},
	} {
		t.Run(name, func(t *testing.T) {
			text := must(Sign(secret, tt.subject, tt.issuer, tt.audience, 90*time.Minute, now, tt.scopes...))
			got := jwt.MapClaims{}
			if _, _, err := jwt.NewParser().ParseUnverified(text, got); err != nil {
				t.Fatal(err)
			}
			tt.want["iat"], tt.want["exp"] = float64(now.Unix()), float64(now.Unix()+5400)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}

	if _, err := Sign([]byte("short"), "ada", "", "", time.Hour, now); err == nil {
		t.Error("a short secret signs")
	}
	if _, err := Sign(secret, "ada", "", "", 0, now); err == nil {
		t.Error("a token without a lifetime is made")
	}
	for _, scope := range []string{"", "a b", "a\tb", `"a"`, `a\b`, "ä", "a\x7f"} {
		if _, err := Sign(secret, "ada", "", "", time.Hour, now, scope); err == nil || !strings.Contains(err.Error(), "books:create") {
			t.Errorf("scope %q: %v", scope, err)
		}
	}
}
