package auth

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// ownKey is the key of login tokens.
var ownKey = must2(ed25519.GenerateKey(rand.Reader))

func must2(_ ed25519.PublicKey, key ed25519.PrivateKey, err error) ed25519.PrivateKey {
	return must(key, err)
}

const ownIssuer = "catalogue:home"

// fakeAccounts has one session, one token and one cookie, unless they have ended.
type fakeAccounts struct {
	err   error
	ended bool
}

func (f *fakeAccounts) Key(_ context.Context, issuer, kid string) (ed25519.PublicKey, error) {
	if issuer != ownIssuer || kid != "own" {
		return nil, f.err
	}
	return ownKey.Public().(ed25519.PublicKey), f.err
}

func (f *fakeAccounts) look(ok bool) (model.Caller, bool, error) {
	return model.Caller{Subject: "account:12", Account: &model.Account{ID: 12}, Session: 7}, ok && !f.ended, f.err
}

func (f *fakeAccounts) Session(_ context.Context, sid string) (model.Caller, bool, error) {
	return f.look(sid == "7")
}

func (f *fakeAccounts) Token(_ context.Context, token string) (model.Caller, bool, error) {
	return f.look(token == "cat_good")
}

func (f *fakeAccounts) Cookie(_ context.Context, secret string) (model.Caller, bool, error) {
	return f.look(secret == "good")
}

func login(t *testing.T, key any, header, claims object) string {
	t.Helper()
	return token(t, jwt.SigningMethodEdDSA, key, object{"kid": "own"}.with(header), object{"iss": ownIssuer, "sub": "account:12", "sid": "7", "aud": nil}.with(claims))
}

// TestIssuersApart sends tokens of each key with the issuer and the subject of another.
func TestIssuersApart(t *testing.T) {
	t.Parallel()
	accounts := &fakeAccounts{}
	for name, v := range map[string]*Verifier{
		"secret":     newTestVerifier(t, Config{Secret: secret, Accounts: accounts}),
		"public key": newTestVerifier(t, Config{PublicKey: edKey().Public(), Accounts: accounts}),
		"alone":      newTestVerifier(t, Config{Accounts: accounts}),
	} {
		t.Run(name, func(t *testing.T) {
			wantSubject(t, v, login(t, ownKey, nil, nil), "account:12")
			wantSubject(t, v, login(t, ownKey, nil, nil), "account:12") // cached
			wantSubject(t, v, "cat_good", "account:12")
			for _, bad := range []string{
				"cat_bad", "cat_", login(t, ownKey, nil, object{"sid": "8"}), login(t, ownKey, nil, object{"sid": nil}), login(t, ownKey, nil, object{"sid": 7}),
				login(t, ownKey, nil, object{"iss": "issuer"}), login(t, ownKey, nil, object{"iss": nil}), login(t, ownKey, nil, object{"iss": "catalogue:other"}),
				login(t, ownKey, object{"kid": "other"}, nil), login(t, ownKey, object{"kid": nil}, nil), login(t, ownKey, object{"crit": []string{"exp"}}, nil),
				login(t, ownKey, nil, object{"exp": time.Now().Unix() - 60}), login(t, edKey(), nil, nil), login(t, edKey(), nil, object{"iss": "catalogue:other"}),
				hs256(t, object{"kid": "own"}, object{"iss": ownIssuer, "sid": "7"}),
				token(t, jwt.SigningMethodHS256, []byte(ownKey.Public().(ed25519.PublicKey)), object{"kid": "own"}, object{"iss": ownIssuer, "sid": "7"}),
				hs256(t, nil, object{"sub": "account:12"}), hs256(t, nil, object{"sub": "acc\x00ount:12"}), hs256(t, nil, object{"sub": "Account:012"}), hs256(t, nil, object{"sub": " account:12\u200b"}), hs256(t, nil, object{"sub": "\u0430ccount:12"}), login(t, edKey(), nil, object{"iss": "issuer"}),
			} {
				wantRefused(t, v, bad)
			}
			if name == "secret" {
				for _, fine := range []string{"account12", "accounts:12", "my account:12", "count:1"} {
					wantSubject(t, v, hs256(t, nil, object{"sub": fine}), fine)
				}
			}
		})
	}
	off := newTestVerifier(t, Config{Secret: secret})
	wantRefused(t, off, login(t, ownKey, nil, nil))
	wantRefused(t, off, hs256(t, nil, object{"iss": ownIssuer}))
	wantRefused(t, off, "cat_good")
}

// TestUnchecked asks while the database does not answer. A stream then goes on.
func TestUnchecked(t *testing.T) {
	t.Parallel()
	accounts := &fakeAccounts{}
	v := newTestVerifier(t, Config{Secret: secret, Accounts: accounts})
	text := login(t, ownKey, nil, nil)
	wantSubject(t, v, text, "account:12")
	p := must(v.Verify(t.Context(), text))
	ctx := withCaller(t.Context(), p, func(ctx context.Context) (model.Caller, error) { return v.Verify(ctx, text) })
	accounts.err = errors.New("away")
	for _, token := range []string{text, "cat_good", login(t, ownKey, object{"typ": "x"}, nil)} {
		_, err := v.Verify(t.Context(), token)
		if e, ok := errors.AsType[*model.TokenError](err); !ok || e.Code != model.TokenUnchecked || strings.Contains(e.Message, "away") {
			t.Errorf("%v", err)
		}
	}
	if !model.StillValid(ctx)(ctx) {
		t.Error("the stream ends")
	}
	wantSubject(t, v, hs256(t, nil, nil), "ada")
}

// TestEndedSession ends the session of a stream. The record of its request, which other goroutines use then, has no
// refusal.
func TestEndedSession(t *testing.T) {
	t.Parallel()
	accounts := &fakeAccounts{}
	v := newTestVerifier(t, Config{Accounts: accounts})
	for _, token := range []string{login(t, ownKey, nil, nil), "cat_good"} {
		accounts.ended = false
		ctx, record := telemetry.WithRequest(t.Context(), "")
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		v.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			stillValid := model.StillValid(r.Context())
			before := stillValid(r.Context())
			accounts.ended = true
			if after := stillValid(r.Context()); !before || after || record.TokenRefusal != "" {
				t.Errorf("valid: %t, then %t; refused as %q", before, after, record.TokenRefusal)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
		if !accounts.ended {
			t.Error("not served")
		}
	}
}

// TestCookieMiddleware sends the cookie of a session from pages of several origins. A page of another origin cannot write
// or open a stream by it, and reads without a caller.
func TestCookieMiddleware(t *testing.T) {
	t.Parallel()
	v := newTestVerifier(t, Config{Accounts: &fakeAccounts{}})
	const (
		ours, other = "Origin: https://books.example", "Origin: https://evil.example"
		cookie      = "Cookie: __Host-catalogue-session=good"
		stream      = "Accept: application/json, text/event-stream"
		refused     = "refused"
	)
	for _, test := range []struct {
		method  string
		headers []string
		want    string // subject, "" for none, or refused
	}{
		{"GET", []string{cookie}, "account:12"},
		{"POST", []string{cookie}, "account:12"}, // no browser: it sends Origin or Sec-Fetch-Site
		{"POST", []string{cookie, ours}, "account:12"},
		{"POST", []string{cookie, "Sec-Fetch-Site: same-origin"}, "account:12"},
		{"GET", []string{cookie, ours, stream}, "account:12"},
		{"GET", []string{cookie, other}, ""},
		{"HEAD", []string{cookie, other}, ""},
		{"GET", []string{cookie, "Sec-Fetch-Site: cross-site"}, "account:12"}, // a link
		{"POST", []string{cookie, other}, refused},
		{"PUT", []string{cookie, other}, refused},
		{"DELETE", []string{cookie, "Sec-Fetch-Site: cross-site"}, refused},
		{"OPTIONS", []string{cookie, other}, refused},
		{"GET", []string{cookie, other, stream}, refused},
		{"GET", []string{cookie, "Sec-Fetch-Site: same-site", "Upgrade: websocket"}, refused},
		{"GET", []string{cookie, "Sec-Fetch-Site: same-site", "Accept: */*, text/*"}, refused},
		{"GET", []string{cookie, "Sec-Fetch-Site: same-site", "Accept: TEXT/Event-Stream"}, refused},
		{"GET", []string{cookie, "Sec-Fetch-Site: same-site", "Accept: text/html, */*"}, "account:12"},
		{"POST", []string{other}, ""},
		{"POST", []string{"Cookie: other=good", other}, ""},
		{"POST", []string{cookie, other, "Authorization: Bearer x"}, ""},
		{"GET", []string{"Cookie: __Host-catalogue-session=bad"}, ""},
		{"GET", []string{cookie + "; __Host-catalogue-session=bad"}, ""},
	} {
		got := "not served"
		h := must(v.Cookies("https://books.example", false)).Middleware(
			func(*http.Request) bool { return true },
			func(_ http.ResponseWriter, _ *http.Request, err error) {
				if got = refused; !errors.Is(err, ErrOtherOrigin) {
					t.Error(err)
				}
			},
		)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			p, _ := model.CallerOf(r.Context())
			got = p.Subject
		}))
		r := httptest.NewRequest(test.method, "/graphql", nil)
		for _, header := range test.headers {
			name, value, _ := strings.Cut(header, ": ")
			r.Header.Add(name, value)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != test.want {
			t.Errorf("%s %q: %q, want %q", test.method, test.headers, got, test.want)
		}
	}
}

// TestCookieAttributes sets a cookie for each setting.
func TestCookieAttributes(t *testing.T) {
	t.Parallel()
	v := newTestVerifier(t, Config{Accounts: &fakeAccounts{}})
	for insecure, want := range map[bool]string{
		false: "__Host-catalogue-session=s; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax", true: "catalogue-session=s; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
	} {
		c := must(v.Cookies("https://books.example", insecure))
		w := httptest.NewRecorder()
		c.Set(w, "s", time.Time{})
		if got := w.Header().Get("Set-Cookie"); got != want {
			t.Errorf("insecure %t: %s, want %s", insecure, got, want)
		}
		r := httptest.NewRequest("POST", "http://library.example/login", nil)
		r.Header.Set("Origin", "http://library.example")
		if err := c.Usable(r); (err == nil) != insecure || err != nil && !strings.Contains(err.Error(), "CATALOGUE_INSECURE_COOKIES") {
			t.Errorf("by http, insecure %t: %v", insecure, err)
		}
		r.Header.Set("Origin", "https://books.example") // a proxy has changed Host
		if err := errors.Join(c.Usable(r), c.Check(r)); err != nil {
			t.Errorf("at the public URL: %v", err)
		}
	}
}
