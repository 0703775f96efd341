package auth

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// minSecretBytes is the minimum length of a key for HS256 (RFC 7518, section 3.2).
const minSecretBytes = 32

// CheckSecret returns an error if secret is shorter than 32 bytes, the minimum for HS256.
func CheckSecret(secret []byte) error {
	if len(secret) < minSecretBytes {
		return fmt.Errorf("the JWT secret has %d bytes and needs at least %d: create one with openssl rand -base64 48",
			len(secret), minSecretBytes)
	}
	return nil
}

// Sign returns an HS256 token that is valid from now for ttl, in whole seconds. The token has no claim for an empty
// subject, issuer or audience, nor without scopes. Sign returns an error if the secret is too short, ttl is less than
// a second, or a scope is invalid (RFC 6749, section 3.3).
func Sign(
	secret []byte, subject, issuer, audience string, ttl time.Duration, now time.Time, scopes ...string,
) (string, error) {
	if err := CheckSecret(secret); err != nil {
		return "", err
	}
	if ttl < time.Second {
		return "", fmt.Errorf("a token must be valid for at least one second, not %v", ttl)
	}
	for _, scope := range scopes {
		if scope == "" || strings.ContainsFunc(scope, func(r rune) bool {
			return r <= ' ' || r > '~' || r == '"' || r == '\\'
		}) {
			return "", fmt.Errorf("%q is not a scope: use the form books:create", scope)
		}
	}
	claims := struct {
		jwt.RegisteredClaims
		Scope string `json:"scope,omitempty"`
	}{jwt.RegisteredClaims{
		Subject:   subject,
		Issuer:    issuer,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}, strings.Join(scopes, " ")}
	if audience != "" {
		claims.Audience = jwt.ClaimStrings{audience}
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
}

// ReadSecretFile returns the content of the file at path without one newline (LF or CRLF) at its end, checked by
// CheckSecret. It ignores the file's mode, because secrets mounted into containers often have mode 0444.
func ReadSecretFile(path string) ([]byte, error) {
	return readSecret(path, func(fs.FileMode) error { return nil })
}

// LoadOrCreateSecret returns the secret in the file at path like ReadSecretFile. If there is no file, it creates one
// with 48 random bytes in base64 and mode 0600; concurrent processes get the same secret. On Unix it refuses a file
// that other users can access.
func LoadOrCreateSecret(path string) ([]byte, error) {
	checkPrivate := func(mode fs.FileMode) error {
		if runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 {
			return fmt.Errorf("other users can read the JWT secret in %s: run chmod 600 %[1]s", path)
		}
		return nil
	}
	secret, err := readSecret(path, checkPrivate)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := createSecret(path); err != nil {
		return nil, fmt.Errorf("creating the JWT secret: %w", err)
	}
	return readSecret(path, checkPrivate)
}

func readSecret(path string, checkMode func(fs.FileMode) error) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkMode(info.Mode()); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	secret, hasNewline := bytes.CutSuffix(data, []byte("\n"))
	if hasNewline {
		secret = bytes.TrimSuffix(secret, []byte("\r"))
	}
	if err := CheckSecret(secret); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secret, nil
}

// createSecret writes a temporary file and links it to path, so that no process reads a partial secret. If another
// process has created path before, createSecret keeps that file and returns no error.
func createSecret(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // mode 0600
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("writing to the directory %s: %w", filepath.Dir(path), failed.Err)
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	random := make([]byte, 48)
	rand.Read(random) // never returns an error
	_, err = fmt.Fprintln(f, base64.StdEncoding.EncodeToString(random))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
