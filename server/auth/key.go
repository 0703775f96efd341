package auth

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// keyMethods are the methods that a public key can have: those which methodFor
// returns. HMAC is never among them.
var keyMethods = []string{
	jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg(), jwt.SigningMethodEdDSA.Alg(),
}

// methodFor returns the one signing method that goes with key (RFC 7518, section
// 3.1; RFC 8037, section 3.1), or an error where key is too weak or of a type
// that is not supported.
func methodFor(key crypto.PublicKey) (string, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < 2048 {
			return "", fmt.Errorf("an RSA key of %d bits, and at least 2048 are needed", bits)
		}
		return jwt.SigningMethodRS256.Alg(), nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return "", fmt.Errorf("an ECDSA key on %s, and only P-256 is supported", k.Curve.Params().Name)
		}
		return jwt.SigningMethodES256.Alg(), nil
	case ed25519.PublicKey:
		if len(k) != ed25519.PublicKeySize {
			return "", fmt.Errorf("an Ed25519 key of %d bytes", len(k))
		}
		return jwt.SigningMethodEdDSA.Alg(), nil
	}
	return "", fmt.Errorf("a key of type %T, and only RSA, ECDSA P-256 and Ed25519 are supported", key)
}

// ParsePublicKey reads one public key from PEM text: a PKIX block "PUBLIC KEY"
// (RFC 7468, section 13) with RSA of at least 2048 bits, ECDSA on P-256, or
// Ed25519. The error says how to get such a block from what was given instead,
// and never quotes what was given.
func ParsePublicKey(data []byte) (crypto.PublicKey, error) {
	block, rest := pem.Decode(data)
	switch {
	case block == nil:
		return nil, errors.New("no PEM text: a public key begins with -----BEGIN PUBLIC KEY-----")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errors.New("this is a private key, which belongs to the issuer of the tokens alone: make the public one with openssl pkey -in FILE -pubout")
	case block.Type == "CERTIFICATE":
		return nil, errors.New("this is a certificate: take the public key out of it with openssl x509 -in FILE -noout -pubkey")
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("this is a PEM block %q, and PUBLIC KEY is wanted", block.Type)
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("there is something after the public key: give one key alone")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the PEM block holds no public key: %w", err)
	}
	if _, err := methodFor(key); err != nil {
		return nil, err
	}
	return key, nil
}
