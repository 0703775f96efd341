package auth

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

const realm = "https://login.example/realms/books"

// provides makes i an OpenID provider with these keys. change changes what its
// discovery document says.
func (i *fakeIssuer) provides(change object, keys ...object) {
	i.is(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.String() {
		case realm + discoveryPath:
			_ = json.NewEncoder(w).Encode(object{
				"issuer": realm, "jwks_uri": realm + "/keys",
				"authorization_endpoint": realm + "/auth", "token_endpoint": realm + "/token",
			}.with(change))
		case realm + "/keys":
			_ = json.NewEncoder(w).Encode(object{"keys": keys})
		default:
			http.NotFound(w, r)
		}
	})
}

// oidc returns a verifier of the tokens of i, and of those with the secret.
func (i *fakeIssuer) oidc(t *testing.T) *Verifier {
	t.Helper()
	named, provider, err := newProvider(t.Context(), OIDC{Issuer: realm, Audience: "page"}, i, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	v := verifierOf(t, named, must(newIssuer(t.Context(), Config{Secret: secret})))
	v.provider = provider
	return v
}

func hasEndpoints(v *Verifier) bool {
	_, _, ok := v.Endpoints()
	return ok
}

func ofRealm(t *testing.T, claims object) string {
	t.Helper()
	return token(t, jwt.SigningMethodRS256, rsaKey(), object{"kid": "k"}, object{"iss": realm, "aud": "page"}.with(claims))
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i fakeIssuer
		i.provides(nil, rsaJWK("k"))
		v := i.oidc(t)
		wantSubject(t, v, ofRealm(t, nil), "ada")
		wantSubject(t, v, ofRealm(t, object{"aud": []string{"other", "page"}}), "ada")
		wantSubject(t, v, hs256(t, nil, nil), "ada") // as before
		if authorization, token, ok := v.Endpoints(); !ok || authorization != realm+"/auth" || token != realm+"/token" {
			t.Errorf("the endpoints are %s and %s, %v", authorization, token, ok)
		}
		for name, forged := range map[string]string{
			"another audience":       ofRealm(t, object{"aud": "other"}),
			"no audience":            ofRealm(t, object{"aud": nil}),
			"another issuer":         ofRealm(t, object{"iss": "https://login.example/realms/others"}),
			"no issuer":              ofRealm(t, object{"iss": nil}),
			"issuer with a slash":    ofRealm(t, object{"iss": realm + "/"}),
			"expired":                ofRealm(t, object{"exp": 1}),
			"the secret, its issuer": hs256(t, nil, object{"iss": realm, "aud": "page"}),
			"the secret, its kid":    hs256(t, object{"kid": "k"}, object{"iss": realm, "aud": "page"}),
		} {
			t.Log(name) // a bubble has no subtests
			wantRefused(t, v, forged)
		}
	})
}

// TestOIDCRotation has the provider start again, with new keys: tokens of before are
// refused once that is known, and those of now are accepted soon.
func TestOIDCRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var i fakeIssuer
		i.provides(nil, rsaJWK("k"))
		v := i.oidc(t)
		wantSubject(t, v, ofRealm(t, nil), "ada")
		i.provides(nil, ecJWK("new"))
		wantSubject(t, v, ofRealm(t, nil), "ada")
		rotated := token(t, jwt.SigningMethodES256, ecKey(), object{"kid": "new"}, object{"iss": realm, "aud": "page"})
		wantRefused(t, v, rotated) // and wakes the refresh
		pass(minRefreshInterval)
		wantSubject(t, v, rotated, "ada")
		wantRefused(t, v, ofRealm(t, nil))
	})
}

// TestOIDCProviderIsAway starts without the provider, has it come and go.
func TestOIDCProviderIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		i := fakeIssuer{answer: hangs}
		began := time.Now()
		v := i.oidc(t)
		if took := time.Since(began); took > refreshTimeout {
			t.Errorf("the start took %v", took)
		}
		wantUnchecked(t, v, ofRealm(t, nil))
		wantSubject(t, v, hs256(t, nil, nil), "ada")
		if c := v.Check(); c.Status != model.Warn || c.Err == nil {
			t.Errorf("%+v", c)
		}
		pass(minRefreshInterval) // the question hangs

		i.provides(nil, rsaJWK("k"))
		pass(refreshTimeout)
		if hasEndpoints(v) {
			t.Error("endpoints, of a provider that has not answered")
		}
		pass(minRefreshInterval) // a client that wants to log in wakes the refresh
		if !hasEndpoints(v) {
			t.Error("no endpoints, of a provider that has answered")
		}
		wantSubject(t, v, ofRealm(t, nil), "ada")

		i.is(isDown)
		pass(2 * refreshInterval)
		wantSubject(t, v, ofRealm(t, object{"sub": "eve"}), "eve") // not one that was verified before
		if !hasEndpoints(v) || v.Check().Status != model.Warn {
			t.Errorf("%+v", v.Check())
		}
	})
}

// TestOIDCDocumentIsChecked has the discovery document say what it must not.
func TestOIDCDocumentIsChecked(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]object{
		"set CATALOGUE_OIDC_ISSUER to exactly that": {"issuer": realm + "/"},
		"issuer is \"\", not":                       {"issuer": nil},
		"jwks_uri is \"\"":                          {"jwks_uri": nil},
		"jwks_uri is \"http://":                     {"jwks_uri": "http://login.example/keys"},
		"token_endpoint is \"https://a.example;":    {"token_endpoint": "https://a.example; script-src *"},
		"token_endpoint is \"https://a.example,":    {"token_endpoint": "https://a.example,b"},
		"authorization_endpoint is \"javascript:":   {"authorization_endpoint": "javascript:alert(1)"},
		"not a discovery document":                  {"issuer": 7},
	} {
		t.Run(want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var i fakeIssuer
				i.provides(change, rsaJWK("k"))
				v := i.oidc(t)
				wantRefused(t, v, ofRealm(t, nil))
				if c := v.Check(); c.Err == nil || !strings.Contains(c.Err.Error(), want) || hasEndpoints(v) {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

func TestOIDCSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for want, cfg := range map[string]OIDC{
		"login.example\": use the form https://":  {Issuer: "login.example", Audience: "page"},
		"?a=b\": use the form http":               {Issuer: "https://login.example?a=b", Audience: "page"},
		"invalid issuer":                          {Issuer: "https://login.example:port", Audience: "page"},
		"set the audience of the OpenID provider": {Issuer: realm},
	} {
		if _, err := New(context.Background(), Config{OIDC: cfg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
