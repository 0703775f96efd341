package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

func TestVerifyRefusesForgeries(t *testing.T) {
	t.Parallel()
	v := newTestVerifier(t, Config{Secret: secret, Issuer: "issuer", Audience: "catalogue"})
	good := hs256(t, nil, nil)
	wantSubject(t, v, good, "ada")
	header, rest, _ := strings.Cut(good, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	now := time.Now().Unix()
	// The last of 43 letters carries 4 bits; its next neighbour differs in the
	// 2 that carry nothing.
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	end := len(good) - 1
	respelt := good[:end] + string(alphabet[strings.IndexByte(alphabet, good[end])+1])

	for name, forged := range map[string]string{
		"empty":                  "",
		"alg none":               segment(t, object{"alg": "none"}) + "." + payload + ".",
		"alg none, signed":       hs256(t, object{"alg": "none"}, nil),
		"alg nOnE":               segment(t, object{"alg": "nOnE"}) + "." + payload + ".",
		"alg missing":            hs256(t, object{"alg": nil}, nil),
		"alg a number":           hs256(t, object{"alg": 1}, nil),
		"alg in small letters":   hs256(t, object{"alg": "hs256"}, nil),
		"HS384 with the secret":  token(t, jwt.SigningMethodHS384, secret, nil, nil),
		"RS256":                  token(t, jwt.SigningMethodRS256, rsaKey(), nil, nil),
		"empty secret":           token(t, jwt.SigningMethodHS256, []byte{}, nil, nil),
		"other secret":           token(t, jwt.SigningMethodHS256, otherSecret, nil, nil),
		"no signature":           header + "." + payload + ".",
		"two parts":              header + "." + payload,
		"four parts":             good + "." + signature,
		"payload changed":        header + "." + segment(t, object{"sub": "eve", "exp": now + 60}) + "." + signature,
		"header null":            signed(t, "null", `{"exp":9999999999}`),
		"claims null":            signed(t, `{"alg":"HS256"}`, "null"),
		"claims an array":        signed(t, `{"alg":"HS256"}`, `[{"exp":9999999999}]`),
		"EXP for exp":            hs256(t, nil, object{"exp": nil, "EXP": now + 60}),
		"exp missing":            hs256(t, nil, object{"exp": nil}),
		"exp null":               signed(t, `{"alg":"HS256"}`, `{"iss":"issuer","aud":"catalogue","exp":null}`),
		"exp as text":            hs256(t, nil, object{"exp": "9999999999"}),
		"exp past all dates":     hs256(t, nil, object{"exp": 1e300}),
		"expired":                hs256(t, nil, object{"exp": now - 3600}),
		"nbf ahead":              hs256(t, nil, object{"nbf": now + 3600}),
		"nbf past all dates":     hs256(t, nil, object{"nbf": 1e300}),
		"nbf as text":            hs256(t, nil, object{"nbf": "1"}),
		"iat ahead":              hs256(t, nil, object{"iat": now + 3600}),
		"iat past all dates":     hs256(t, nil, object{"iat": 1e300}),
		"issuer wrong":           hs256(t, nil, object{"iss": "another"}),
		"issuer missing":         hs256(t, nil, object{"iss": nil}),
		"issuer in capitals":     hs256(t, nil, object{"iss": "ISSUER"}),
		"audience wrong":         hs256(t, nil, object{"aud": "another"}),
		"audience missing":       hs256(t, nil, object{"aud": nil}),
		"audience a number":      hs256(t, nil, object{"aud": 7}),
		"audiences all wrong":    hs256(t, nil, object{"aud": []string{"catalogues", "cat"}}),
		"subject a number":       hs256(t, nil, object{"sub": 7}),
		"crit":                   hs256(t, object{"crit": []string{"exp"}}, nil),
		"crit empty":             hs256(t, object{"crit": []string{}}, nil),
		"crit with b64":          hs256(t, object{"crit": []string{"b64"}, "b64": false}, nil),
		"b64 alone":              hs256(t, object{"b64": false}, nil),
		"b64, payload as it is":  unencoded(t),
		"encrypted":              segment(t, object{"alg": "dir", "enc": "A256GCM", "cty": "JWT"}) + "..AAAA.AAAA.AAAA",
		"encrypted, five parts":  header + "." + payload + "." + signature + ".AAAA.AAAA",
		"nested":                 signed(t, `{"alg":"HS256","cty":"JWT"}`, good),
		"nested in quotes":       signed(t, `{"alg":"HS256","cty":"JWT"}`, `"`+good+`"`),
		"own certificate in x5u": token(t, jwt.SigningMethodRS256, rsaKey(), object{"x5u": "https://evil.example/c.pem"}, nil),
		"own certificate in x5c": token(t, jwt.SigningMethodRS256, rsaKey(), object{"x5c": []string{"MIIB"}}, nil),
		"kid SQL, its secret":    token(t, jwt.SigningMethodHS256, []byte("k"), object{"kid": "x' UNION SELECT 'k' --"}, nil),
		"kid a file, its text":   token(t, jwt.SigningMethodHS256, []byte("127.0.0.1 localhost\n"), object{"kid": "/etc/hosts"}, nil),
		"weak secret":            token(t, jwt.SigningMethodHS256, []byte("secret"), nil, nil),
		"secret without its end": token(t, jwt.SigningMethodHS256, secret[:len(secret)-1], nil, nil),
		"no base64":              "!!!!.????.====",
		"random base64":          "3q2-7w.3q2-7w.3q2-7w",
		"exp infinite":           signed(t, `{"alg":"HS256"}`, `{"iss":"issuer","aud":"catalogue","exp":1e999}`),
		"own key in jwk":         token(t, jwt.SigningMethodRS256, rsaKey(), object{"jwk": rsaJWK("k")}, nil),
		"own secret in jwk":      token(t, jwt.SigningMethodHS256, otherSecret, object{"jwk": object{"kty": "oct", "k": base64.RawURLEncoding.EncodeToString(otherSecret)}}, nil),
		"own key at jku":         token(t, jwt.SigningMethodRS256, rsaKey(), object{"jku": "https://evil.example/keys"}, nil),
		"kid a path, own secret": token(t, jwt.SigningMethodHS256, []byte{}, object{"kid": "../../../../dev/null"}, nil),
		"line break after":       good + "\n",
		"line break before":      "\r\n" + good,
		"line break within":      header + ".\n" + payload + "." + signature,
		"space after":            good + " ",
		"space before":           " " + good,
		"padding":                good + "=",
		"another spelling":       respelt,
		"dots":                   strings.Repeat(".", 100_000),
		"long and well signed":   hs256(t, nil, object{"x": strings.Repeat("x", maxCredentialBytes)}),
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, v, forged) })
	}
}

// unencoded is a token as RFC 7797 would have it: the payload is not base64.
func unencoded(t testing.TB) string {
	t.Helper()
	text := segment(t, object{"alg": "HS256", "b64": false}) + `.{"exp":9999999999}`
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// signed puts the secret's signature under any two texts.
func signed(t testing.TB, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestVerifyTakesWhatIsValid(t *testing.T) {
	t.Parallel()
	strict := newTestVerifier(t, Config{Secret: secret, Issuer: "issuer", Audience: "catalogue"})
	open := newTestVerifier(t, Config{Secret: secret})
	now := time.Now().Unix()
	for name, tt := range map[string]struct {
		v       *Verifier
		token   string
		subject string
	}{
		"as made":             {strict, hs256(t, nil, nil), "ada"},
		"kid a path":          {strict, hs256(t, object{"kid": "../../../../dev/null"}, nil), "ada"},
		"kid SQL":             {strict, hs256(t, object{"kid": "x' UNION SELECT 'k' --"}, nil), "ada"},
		"kid a number":        {strict, hs256(t, object{"kid": 7}, nil), "ada"},
		"jwk that is ignored": {strict, hs256(t, object{"jwk": rsaJWK("k"), "jku": "https://evil.example/"}, nil), "ada"},
		"no subject":          {strict, hs256(t, nil, object{"sub": nil}), ""},
		"one of audiences":    {strict, hs256(t, nil, object{"aud": []string{"another", "catalogue"}}), "ada"},
		"no iat":              {strict, hs256(t, nil, object{"iat": nil}), "ada"},
		"parts of a second":   {strict, hs256(t, nil, object{"exp": float64(now) + 60.5, "nbf": float64(now) - 0.5}), "ada"},
		"any issuer":          {open, hs256(t, nil, object{"iss": "another"}), "ada"},
		"any audience":        {open, hs256(t, nil, object{"aud": "another"}), "ada"},
	} {
		t.Run(name, func(t *testing.T) { wantSubject(t, tt.v, tt.token, tt.subject) })
	}
}

// TestVerifyScopes reads scopes wherever issuers put them. What is none is passed
// over: the token then allows less, and is still its holder's.
func TestVerifyScopes(t *testing.T) {
	t.Parallel()
	scoped := newTestVerifier(t, Config{Secret: secret, Scoped: true})
	for name, tt := range map[string]struct {
		claims object
		want   string
	}{
		"none":                {nil, ""},
		"scope":               {object{"scope": "books:create genres:create"}, "books:create genres:create"},
		"scope, a list":       {object{"scope": []string{"books:create", "genres:create"}}, "books:create genres:create"},
		"scp":                 {object{"scp": []string{"books:create"}}, "books:create"},
		"scp, a text":         {object{"scp": "books:create"}, "books:create"},
		"permissions":         {object{"permissions": []string{"books:create"}}, "books:create"},
		"all of them":         {object{"scope": "a", "scp": []string{"b"}, "permissions": []string{"c"}}, "a b c"},
		"one with a space":    {object{"scp": []string{"x catalogue:write", "b"}}, "b"},
		"numbers and objects": {object{"scope": 7, "scp": []any{1, nil, object{}, "b"}, "permissions": object{"a": "b"}}, "b"},
		"another case":        {object{"Scope": "a", "SCP": "b"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			end := time.Now().Truncate(time.Second).Add(time.Minute)
			p, err := scoped.Verify(t.Context(), hs256(t, nil, object{"exp": end.Unix()}.with(tt.claims)))
			if want := (model.Caller{Issuer: "issuer", Subject: "ada", Expires: end.Local(), Scoped: true, Scopes: tt.want}); p != want || err != nil {
				t.Errorf("%+v, %v, want %+v", p, err, want)
			}
		})
	}
	if p, err := newTestVerifier(t, Config{Secret: secret}).Verify(t.Context(), hs256(t, nil, nil)); p.Scoped || err != nil {
		t.Errorf("where no scopes are wanted: %+v, %v", p, err)
	}
}

func TestVerifyLeeway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := newTestVerifier(t, Config{Secret: secret})
		now := time.Now().Unix()
		wantSubject(t, v, hs256(t, nil, object{"exp": now - 29}), "ada")
		wantRefused(t, v, hs256(t, nil, object{"exp": now - 30}))
		wantSubject(t, v, hs256(t, nil, object{"nbf": now + 30}), "ada")
		wantRefused(t, v, hs256(t, nil, object{"nbf": now + 31}))
		wantSubject(t, v, hs256(t, nil, object{"iat": now + 30}), "ada")
		wantRefused(t, v, hs256(t, nil, object{"iat": now + 31}))

		fades := hs256(t, nil, nil)
		wantSubject(t, v, fades, "ada") // and is remembered
		if _, ok := v.verified.find(fades); !ok {
			t.Error("a token that was verified is not remembered")
		}
		time.Sleep(89 * time.Second)
		wantSubject(t, v, fades, "ada")
		time.Sleep(time.Second)
		wantRefused(t, v, fades)
	})
}

func TestVerifyPublicKey(t *testing.T) {
	t.Parallel()
	methods := map[string]struct {
		method  jwt.SigningMethod
		private any
		public  any
	}{
		"RS256": {jwt.SigningMethodRS256, rsaKey(), rsaKey().Public()},
		"ES256": {jwt.SigningMethodES256, ecKey(), ecKey().Public()},
		"EdDSA": {jwt.SigningMethodEdDSA, edKey(), edKey().Public()},
	}
	for name, key := range methods {
		t.Run(name, func(t *testing.T) {
			v := newTestVerifier(t, Config{PublicKey: key.public})
			for signer, other := range methods {
				text := token(t, other.method, other.private, nil, nil)
				if signer == name {
					wantSubject(t, v, text, "ada")
				} else {
					wantRefused(t, v, text)
				}
				// The right key's signature under another method's name.
				if signer != name {
					wantRefused(t, v, token(t, key.method, key.private, object{"alg": signer}, nil))
				}
			}
			// What an attacker has is the public key, in any of its spellings.
			der := must(x509.MarshalPKIXPublicKey(key.public))
			text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
			for _, s := range [][]byte{text, []byte(strings.TrimSpace(string(text))), der} {
				wantRefused(t, v, token(t, jwt.SigningMethodHS256, s, nil, nil))
				wantRefused(t, v, token(t, jwt.SigningMethodHS256, s, object{"alg": name}, nil))
			}
			wantRefused(t, v, segment(t, object{"alg": "none"})+"."+segment(t, object{"exp": time.Now().Unix() + 60})+".")
		})
	}
	t.Run("PS256", func(t *testing.T) {
		v := newTestVerifier(t, Config{PublicKey: rsaKey().Public()})
		wantRefused(t, v, token(t, jwt.SigningMethodPS256, rsaKey(), nil, nil))
	})
}

// FuzzVerify holds that a token has one spelling: of all texts none but the
// signed one is taken.
func FuzzVerify(f *testing.F) {
	v := newTestVerifier(f, Config{Secret: secret})
	good := must(Sign(secret, "ada", "", "", 24*time.Hour, time.Now()))
	f.Add(0, "")
	f.Add(len(good), "\n")
	f.Add(len(good)-1, "w")
	f.Add(3, ".")
	f.Fuzz(func(t *testing.T, at int, text string) {
		at = min(max(at, 0), len(good))
		end := min(at+len(text), len(good))
		for _, changed := range []string{good[:at] + text + good[at:], good[:at] + text + good[end:], good[:at] + good[end:], text} {
			if _, err := v.Verify(t.Context(), changed); (err == nil) != (changed == good) {
				t.Errorf("%q: %v", changed, err)
			}
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	for name, bm := range map[string]struct {
		cfg   Config
		token string
	}{
		"HS256": {Config{Secret: secret}, hs256(b, nil, nil)},
		"ES256": {Config{PublicKey: ecKey().Public()}, token(b, jwt.SigningMethodES256, ecKey(), nil, nil)},
	} {
		b.Run(name, func(b *testing.B) {
			v := newTestVerifier(b, bm.cfg)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), bm.token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
