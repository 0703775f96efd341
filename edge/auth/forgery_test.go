package auth_test

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/edge/auth"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

type claims = map[string]any

func b64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// hs256 signs any two texts.
func hs256(key []byte, header, payload string) string {
	text := b64(header) + "." + b64(payload)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + b64(string(mac.Sum(nil)))
}

// TestForgeriesAreRefusedAlike sends tokens that are none to a server with a
// secret, and to one with a public key, through both endpoints. The answer is that
// to no token at all, to the byte: nobody learns from it how to forge.
func TestForgeriesAreRefusedAlike(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	servertest.Must(t, err)
	der, err := x509.MarshalPKIXPublicKey(public)
	servertest.Must(t, err)
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	now := time.Now().Unix()
	good := claims{"sub": "ada", "iss": "issuer", "aud": "catalogue", "iat": now, "exp": now + 60}
	// but gives the claims of a good token with changes; nil takes one out.
	but := func(change claims) string {
		c := maps.Clone(good)
		maps.Copy(c, change)
		maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
		return servertest.Encode(t, c)
	}
	eddsa := func(payload string) string {
		text := b64(`{"alg":"EdDSA"}`) + "." + b64(payload)
		return text + "." + b64(string(ed25519.Sign(private, []byte(text))))
	}
	const hs = `{"alg":"HS256","typ":"JWT"}`
	header := func(members string) string { return `{"alg":"HS256",` + members + `}` }
	valid := hs256(servertest.Secret, hs, but(nil))
	head, rest, _ := strings.Cut(valid, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	bearer := func(token string) []string { return []string{"Bearer " + token} }

	servers := verifying(t, publicPEM)
	for name, authorization := range map[string][]string{
		"empty":                    {""},
		"another scheme":           {"Basic YWRhOmFkYQ=="},
		"no token":                 {"Bearer "},
		"none":                     bearer(b64(`{"alg":"none"}`) + "." + payload + "."),
		"nOnE":                     bearer(b64(`{"alg":"nOnE"}`) + "." + payload + "."),
		"none, signed":             bearer(hs256(servertest.Secret, `{"alg":"none"}`, but(nil))),
		"HMAC with the public PEM": bearer(hs256(publicPEM, hs, but(nil))),
		"HMAC with the public DER": bearer(hs256(der, hs, but(nil))),
		"HMAC with the public key": bearer(hs256(public, hs, but(nil))),
		"HMAC named EdDSA":         bearer(hs256(publicPEM, `{"alg":"EdDSA"}`, but(nil))),
		"empty secret":             bearer(hs256(nil, hs, but(nil))),
		"weak secret":              bearer(hs256([]byte("secret"), hs, but(nil))),
		"kid as path":              bearer(hs256(nil, header(`"kid":"../../../../dev/null"`), but(nil))),
		"kid as SQL":               bearer(hs256([]byte("k"), header(`"kid":"x' UNION SELECT 'k' --"`), but(nil))),
		"jku":                      bearer(hs256([]byte("k"), header(`"jku":"https://evil.example/keys"`), but(nil))),
		"jwk":                      bearer(hs256([]byte("k"), header(`"jwk":{"kty":"oct","k":"aw"}`), but(nil))),
		"x5u":                      bearer(hs256([]byte("k"), header(`"x5u":"https://evil.example/cert"`), but(nil))),
		"crit":                     bearer(hs256(servertest.Secret, header(`"crit":["exp"]`), but(nil))),
		"b64 false":                bearer(hs256(servertest.Secret, header(`"b64":false`), but(nil))),
		"not yet valid":            bearer(hs256(servertest.Secret, hs, but(claims{"nbf": now + 3600}))),
		"issued in the future":     bearer(hs256(servertest.Secret, hs, but(claims{"iat": now + 3600}))),
		"another issuer":           bearer(hs256(servertest.Secret, hs, but(claims{"iss": "evil"}))),
		"no issuer":                bearer(hs256(servertest.Secret, hs, but(claims{"iss": nil}))),
		"another audience":         bearer(hs256(servertest.Secret, hs, but(claims{"aud": "evil"}))),
		"no audience":              bearer(hs256(servertest.Secret, hs, but(claims{"aud": nil}))),
		"no exp":                   bearer(hs256(servertest.Secret, hs, but(claims{"exp": nil}))),
		"exp as text":              bearer(hs256(servertest.Secret, hs, but(claims{"exp": "9999999999"}))),
		"another issuer, EdDSA":    bearer(eddsa(but(claims{"iss": "evil"}))),
		"two headers":              {"Bearer " + valid, "Bearer " + valid},
		"two, one good":            {"Bearer " + eddsa(but(nil)), "Bearer " + valid},
		"two in one":               {"Bearer " + valid + ", Bearer " + valid},
		"100 kB of dots":           bearer(strings.Repeat(".", 100_000)),
		"100 kB":                   bearer(valid + strings.Repeat("A", 100_000)),
		"garbage":                  bearer("!!!.???.==="),
		"base64 of garbage":        bearer("3q2-7w.3q2-7w.3q2-7w"),
		"nested":                   bearer(hs256(servertest.Secret, header(`"cty":"JWT"`), valid)),
		"encrypted":                bearer(b64(`{"alg":"dir","enc":"A256GCM"}`) + "..AAAA.AAAA.AAAA"),
		"no signature":             bearer(head + "." + payload + "."),
		"another's signature":      bearer(head + "." + b64(but(claims{"sub": "eve"})) + "." + signature),
		"padded":                   bearer(valid + "="),
	} {
		t.Run(name, func(t *testing.T) { refusedAlike(t, servers, authorization) })
	}
	for of, c := range servers {
		if servertest.Revision(t, c.Store) != 0 {
			t.Errorf("%s: something was written", of)
		}
	}
	for name, token := range map[string]string{"secret": valid, "public key": eddsa(but(nil))} {
		for of, c := range servers {
			if w := write(c, "/api/categories", bearer(token)); (w.Code == http.StatusCreated) != (name == of) {
				t.Errorf("the good token of %s at the server with a %s: status %d: %s", name, of, w.Code, w.Body)
			}
		}
	}
}

// verifying returns servers that check tokens in two ways.
func verifying(t *testing.T, publicPEM []byte) map[string]*servertest.Client {
	t.Helper()
	key, err := auth.ParsePublicKey(publicPEM)
	servertest.Must(t, err)
	clients := map[string]*servertest.Client{}
	for name, cfg := range map[string]auth.Config{
		"secret":     {Secret: servertest.Secret, Issuer: "issuer", Audience: "catalogue"},
		"public key": {PublicKey: key, Issuer: "issuer", Audience: "catalogue"},
	} {
		verifier, err := auth.New(t.Context(), cfg)
		servertest.Must(t, err)
		clients[name] = servertest.ServeWith(t, func(cfg *server.Config) { cfg.Authenticate = verifier.Middleware })
	}
	return clients
}

// write tries to create a category.
func write(c *servertest.Client, target string, authorization []string) *httptest.ResponseRecorder {
	body := `{"name":"N"}`
	if target == "/graphql" {
		body = `{"query":"mutation { createCategory(input: {name: \"N\"}) { category { id } } }"}`
	}
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
	r.Header = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"test"}}
	if authorization != nil {
		r.Header["Authorization"] = authorization
	}
	w := httptest.NewRecorder()
	c.Handler.ServeHTTP(w, r)
	return w
}

// refusedAlike demands that /api answers a forgery as it does nobody, and /graphql as it
// does a text that is no token at all.
func refusedAlike(t *testing.T, servers map[string]*servertest.Client, authorization []string) {
	t.Helper()
	for of, c := range servers {
		for target, like := range map[string]struct {
			authorization []string
			status        int
			body          string
		}{
			"/api/categories": {nil, http.StatusUnauthorized, `{"success":false,"message":"Unauthenticated.","data":null}`},
			"/graphql":        {[]string{"Bearer x"}, http.StatusOK, `{"data":{"createCategory":null},"errors":[{"message":"Unauthenticated.","path":["createCategory"],`},
		} {
			other, forged := write(c, target, like.authorization), write(c, target, authorization)
			if !strings.HasPrefix(other.Body.String(), like.body) || other.Code != like.status {
				t.Errorf("%s with %q: status %d: %s", target, like.authorization, other.Code, other.Body)
			}
			other.Header().Del("Server-Timing")
			forged.Header().Del("Server-Timing")
			if diff := cmp.Diff(other.Header(), forged.Header()); diff != "" || forged.Code != other.Code || forged.Body.String() != other.Body.String() {
				t.Errorf("%s, %s: status %d: %s (-other +forged):\n%s", of, target, forged.Code, forged.Body, diff)
			}
		}
		if c.Log.Has("level=ERROR") || c.Log.Has("level=WARN") {
			t.Errorf("%s: the log takes it for a fault:\n%s", of, c.Log)
		}
	}
}
