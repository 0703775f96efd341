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

// keyMethods are the results of methodFor. HMAC must not be one of them.
var keyMethods = []string{
	jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg(), jwt.SigningMethodEdDSA.Alg(),
}

// methodFor returns the signing method of a key (RFC 7518, section 3.1; RFC 8037, section 3.1), or an error if the key
// is too weak or its type is not supported.
func methodFor(key crypto.PublicKey) (string, error) {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < 2048 {
			return "", fmt.Errorf("the RSA key has %d bits; at least 2048 are required", bits)
		}
		return jwt.SigningMethodRS256.Alg(), nil
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return "", fmt.Errorf("the ECDSA key uses curve %s; only P-256 is supported", k.Curve.Params().Name)
		}
		return jwt.SigningMethodES256.Alg(), nil
	case ed25519.PublicKey:
		if len(k) != ed25519.PublicKeySize {
			return "", fmt.Errorf("the Ed25519 key has %d bytes; %d are required", len(k), ed25519.PublicKeySize)
		}
		return jwt.SigningMethodEdDSA.Alg(), nil
	}
	return "", fmt.Errorf("the key has type %T; only RSA, ECDSA P-256 and Ed25519 are supported", key)
}

// ParsePublicKey parses one PEM block "PUBLIC KEY" (RFC 7468, section 13) with an RSA key of at least 2048 bits, an
// ECDSA P-256 key or an Ed25519 key. For other PEM blocks the error says how to convert them. It never quotes data.
func ParsePublicKey(data []byte) (crypto.PublicKey, error) {
	block, rest := pem.Decode(data)
	switch {
	case block == nil:
		return nil, errors.New("not a PEM file: a public key begins with -----BEGIN PUBLIC KEY-----")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errors.New("this is a private key, which only the issuer of tokens may have: extract the public " +
			"key with openssl pkey -in FILE -pubout")
	case block.Type == "CERTIFICATE":
		return nil,
			errors.New("this is a certificate: extract the public key with openssl x509 -in FILE -noout -pubkey")
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("the PEM block must be PUBLIC KEY, not %q", block.Type)
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("unexpected data after the public key: give exactly one key")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("invalid public key: %w", err)
	}
	if _, err := methodFor(key); err != nil {
		return nil, err
	}
	return key, nil
}
