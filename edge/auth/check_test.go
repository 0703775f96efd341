package auth

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	if c := newTestVerifier(t, Config{Secret: secret}).Check(); c.Status != model.Pass {
		t.Errorf("a secret: %+v", c)
	}
	synctest.Test(t, func(t *testing.T) {
		var i fakeIssuer
		i.is(isDown)
		v := i.verifier(t)
		want := func(status model.CheckStatus, output string, failed bool) {
			t.Helper()
			if c := v.Check(); c.Status != status || !strings.Contains(c.Output, output) || (c.Err != nil) != failed {
				t.Errorf("%+v, want %s with %q", c, status, output)
			}
		}
		later := func(d time.Duration) {
			pass(minRefreshInterval + d)
		}
		want(model.Fail, "No usable key", true)
		i.has(rsaJWK("k"))
		later(retryInterval)
		want(model.Pass, "", false)
		i.is(isDown)
		later(refreshInterval)
		want(model.Warn, "previous keys are still in use", true)
		i.has()
		later(retryInterval)
		want(model.Fail, "No usable key", false)
	})
}

// TestTokenRefusals wants a word for each reason, under which it is counted.
func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	v := newTestVerifier(t, Config{Secret: secret, Issuer: "issuer", Audience: "books"})
	good := object{"iss": "issuer", "aud": "books", "exp": time.Now().Unix() + 60}
	for name, tt := range map[string]struct{ token, want string }{
		"good":           {token(t, jwt.SigningMethodHS256, secret, nil, good), ""},
		"no token":       {"abc", "malformed"},
		"other key":      {token(t, jwt.SigningMethodHS256, []byte("another secret of 32 bytes or more"), nil, good), "signature"},
		"other method":   {token(t, jwt.SigningMethodES256, ecKey(), nil, good), "signature"},
		"crit":           {token(t, jwt.SigningMethodHS256, secret, object{"crit": []string{"exp"}}, good), "unknown_key"},
		"expired":        {token(t, jwt.SigningMethodHS256, secret, nil, good.with(object{"exp": time.Now().Unix() - 60})), "expired"},
		"too early":      {token(t, jwt.SigningMethodHS256, secret, nil, good.with(object{"nbf": time.Now().Unix() + 600})), "not_yet_valid"},
		"other issuer":   {token(t, jwt.SigningMethodHS256, secret, nil, good.with(object{"iss": "x"})), "issuer"},
		"other audience": {token(t, jwt.SigningMethodHS256, secret, nil, good.with(object{"aud": "x"})), "audience"},
	} {
		ctx, stats := telemetry.WithRequest(t.Context(), "")
		_, err := v.Verify(ctx, tt.token)
		if (err == nil) != (tt.want == "") || stats.TokenRefusal != tt.want {
			t.Errorf("%s: %q, want %q (%v)", name, stats.TokenRefusal, tt.want, err)
		}
	}
}
