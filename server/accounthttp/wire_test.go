package accounthttp_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/accounts"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

// token logs in and returns the header with the token.
func (s site) token(t *testing.T, name string) string {
	t.Helper()
	w := s.send("POST", "/api/login", `{"email":"`+name+`","password":"`+password+`"}`)
	var answer struct{ Data struct{ Token string } }
	servertest.Unmarshal(t, w.Body.String(), &answer)
	return "Authorization: Bearer " + answer.Data.Token
}

// TestForeignIssuer has the keys of another issuer sign for the service's own iss, with its kid and a session.
func TestForeignIssuer(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	servertest.Must(t, err)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":"k","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))
	}))
	defer keys.Close()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, service := servertest.ServeAccountsWith(t, url, time.Now, auth.Config{JWKSURL: keys.URL})
		s := site{c, service}
		s.join(t, "ada", model.Admin)
		own := strings.TrimPrefix(s.token(t, "ada"), "Authorization: Bearer ")
		claims := jwt.MapClaims{}
		parsed, _, err := jwt.NewParser().ParseUnverified(own, claims)
		servertest.Must(t, err)
		write := func(kid string, change jwt.MapClaims) *httptest.ResponseRecorder {
			t.Helper()
			forged := jwt.MapClaims{}
			for _, from := range []jwt.MapClaims{claims, change} {
				for name, value := range from {
					forged[name] = value
				}
			}
			signed := jwt.NewWithClaims(jwt.SigningMethodEdDSA, forged)
			signed.Header["kid"] = kid
			text, err := signed.SignedString(private)
			servertest.Must(t, err)
			return s.send("POST", "/api/categories", `{"name":"N"}`, "Authorization: Bearer "+text)
		}
		want(t, write("k", jwt.MapClaims{"iss": "https://issuer.example", "sub": "ada"}), 201, "") // it may sign for itself
		for name, w := range map[string]*httptest.ResponseRecorder{
			"its own kid":               write("k", nil),
			"the service's kid":         write(parsed.Header["kid"].(string), nil),
			"another installation":      write("k", jwt.MapClaims{"iss": accounts.IssuerPrefix + "x"}),
			"the subject of an account": write("k", jwt.MapClaims{"iss": "https://issuer.example"}),
			"a spelling of it":          write("k", jwt.MapClaims{"iss": "https://issuer.example", "sub": "Account:1"}),
		} {
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s: status %d", name, w.Code)
			}
		}
		want(t, s.send("POST", "/api/categories", `{"name":"N"}`, "Authorization: Bearer "+own), 201, "")
	})
}

// TestTimes passes the hour of a token, the 48 hours of a link and the 30 days of a session.
func TestTimes(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		var passed atomic.Int64
		pass := func(d time.Duration) { passed.Add(int64(d)) }
		now := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
		c, service := servertest.ServeAccountsWith(t, url, now, auth.Config{Secret: servertest.Secret})
		s := site{c, service}
		s.join(t, "bob", model.Editor)
		token := s.token(t, "bob")
		write := func(header string) *httptest.ResponseRecorder {
			return s.send("POST", "/api/categories", `{"name":"N"}`, header)
		}
		pass(59 * time.Minute)
		want(t, write(token), 201, "")
		pass(time.Minute)
		want(t, write(token), 401, "Unauthenticated.")

		early, late := s.link(t, "ada", model.Editor), s.link(t, "eve", model.Editor)
		accept := func(secret string) *httptest.ResponseRecorder {
			return s.post("/welcome", servertest.Encode(t, map[string]string{"secret": secret, "password": password}))
		}
		pass(48*time.Hour - time.Minute)
		cookie := cookieOf(t, accept(early))
		want(t, accept(early), 409, "This link was used. Ask for another.")
		pass(time.Minute)
		want(t, accept(late), 409, "This link has expired. Ask for another.")

		pass(30*24*time.Hour - time.Hour)
		want(t, s.send("GET", "/account/data", "", cookie), 200, "ada")
		pass(time.Hour)
		want(t, s.send("GET", "/account/data", "", cookie), 401, "Unauthenticated.")
	})
}

// TestKeysOfAccounts sends one Idempotency-Key by two accounts, and by a token and the cookie of one.
func TestKeysOfAccounts(t *testing.T) {
	on(t, func(t *testing.T, s site) {
		ada := s.join(t, "ada", model.Editor)
		s.join(t, "eve", model.Editor)
		write := func(header string) (body string, replayed bool) {
			t.Helper()
			w := s.send("POST", "/api/categories", `{"name":"N"}`, header, `Idempotency-Key: "k"`)
			want(t, w, 201, `"name":"N"`)
			return w.Body.String(), w.Header().Get("Idempotency-Replayed") == "true"
		}
		first, replayed := write(s.token(t, "ada"))
		if replayed {
			t.Error("the first write is a replay")
		}
		if other, replayed := write(s.token(t, "eve")); replayed || other == first {
			t.Errorf("eve gets ada's response %s", other)
		}
		if again, replayed := write(s.token(t, "ada")); !replayed || again != first {
			t.Errorf("ada's other token does not get her response, but %s", again)
		}
		if foreign, replayed := write("Authorization: Bearer " + s.Token); replayed || foreign == first {
			t.Errorf("another issuer's token gets ada's response %s", foreign)
		}
		const mutation = `{"query":"mutation { createCategory(input: {name: \"M\"}) { category { id } } }"}`
		var bodies []string
		for _, header := range []string{ada, s.token(t, "ada"), s.token(t, "eve")} {
			w := s.post("/graphql", mutation, header, `Idempotency-Key: "m"`)
			want(t, w, 200, `"createCategory"`)
			bodies = append(bodies, w.Body.String())
		}
		if bodies[0] != bodies[1] || bodies[0] == bodies[2] {
			t.Errorf("by cookie, by token and by another account: %q", bodies)
		}
	})
}
