package auth

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func publicPEM(key crypto.PublicKey) string {
	return block("PUBLIC KEY", must(x509.MarshalPKIXPublicKey(key)))
}

func TestParsePublicKey(t *testing.T) {
	t.Parallel()
	for _, want := range []crypto.PublicKey{rsaKey().Public(), ecKey().Public(), edKey().Public()} {
		got, err := ParsePublicKey([]byte("made by the issuer\n" + publicPEM(want) + "\n"))
		if err != nil || !want.(interface{ Equal(crypto.PublicKey) bool }).Equal(got) {
			t.Errorf("ParsePublicKey = %v, %v, want %v", got, err, want)
		}
	}
}

func TestParsePublicKeyRefuses(t *testing.T) {
	t.Setenv("GODEBUG", "rsa1024min=0")
	weak := must(rsa.GenerateKey(rand.Reader, 1024))
	p384 := must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	private := must(x509.MarshalPKCS8PrivateKey(edKey()))
	for name, tt := range map[string]struct{ pem, want string }{
		"nothing":         {"", "-----BEGIN PUBLIC KEY-----"},
		"no PEM":          {"ssh-ed25519 AAAAC3 ada", "-----BEGIN PUBLIC KEY-----"},
		"private":         {block("PRIVATE KEY", private), "openssl pkey"},
		"private, RSA":    {block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey())), "openssl pkey"},
		"private, locked": {block("ENCRYPTED PRIVATE KEY", private), "openssl pkey"},
		"certificate":     {block("CERTIFICATE", []byte("x")), "openssl x509"},
		"PKCS #1":         {block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(&rsaKey().PublicKey)), "RSA PUBLIC KEY"},
		"two keys":        {publicPEM(ecKey().Public()) + publicPEM(edKey().Public()), "exactly one key"},
		"private after":   {publicPEM(edKey().Public()) + block("PRIVATE KEY", private), "exactly one key"},
		"no key within":   {block("PUBLIC KEY", []byte("x")), "invalid public key"},
		"weak RSA":        {publicPEM(weak.Public()), "1024 bits"},
		"P-384":           {publicPEM(p384.Public()), "P-384"},
		"X25519":          {publicPEM(must(ecdh.X25519().GenerateKey(rand.Reader)).Public()), "*ecdh.PublicKey"},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := ParsePublicKey([]byte(tt.pem))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("ParsePublicKey = %v, %v, want an error with %q", key, err, tt.want)
			}
		})
	}
}

// keyMethods and methodFor say the same twice, for lists and for keys.
func TestKeyMethods(t *testing.T) {
	t.Parallel()
	var got []string
	for _, key := range []crypto.PublicKey{rsaKey().Public(), ecKey().Public(), edKey().Public()} {
		got = append(got, must(methodFor(key)))
	}
	if diff := cmp.Diff(keyMethods, got); diff != "" || slices.Contains(got, "HS256") {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}
