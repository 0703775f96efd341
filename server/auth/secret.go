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

// minSecret is as many bytes as SHA-256 gives, which HS256 asks of its key (RFC
// 7518, section 3.2).
const minSecret = 32

// CheckSecret reports whether secret is long enough for HS256, 32 bytes; the
// error says how to make one that is.
func CheckSecret(secret []byte) error {
	if len(secret) < minSecret {
		return fmt.Errorf("the JWT secret has %d bytes and needs at least %d: make one with openssl rand -base64 48", len(secret), minSecret)
	}
	return nil
}

// Sign returns an HS256 token for subject that is valid from now for ttl, in
// whole seconds, with the given scopes. Empty subject, issuer and audience, and
// no scopes, are left out. The error says that the secret is too short, that ttl
// is less than a second, or that a scope is none (RFC 6749, section 3.3).
func Sign(secret []byte, subject, issuer, audience string, ttl time.Duration, now time.Time, scopes ...string) (string, error) {
	if err := CheckSecret(secret); err != nil {
		return "", err
	}
	if ttl < time.Second {
		return "", fmt.Errorf("a token must be valid for at least a second, and not for %v", ttl)
	}
	for _, scope := range scopes {
		if scope == "" || strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return "", fmt.Errorf("%q is no scope: write it like books:create", scope)
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

// ReadSecretFile returns the secret in the file at path: its bytes as they are,
// without one newline (LF or CRLF) at the end, and checked with CheckSecret. It does not
// look at the file's mode: secrets mounted into containers are often 0444.
func ReadSecretFile(path string) ([]byte, error) {
	return readSecret(path, func(fs.FileMode) error { return nil })
}

// LoadOrCreateSecret returns the secret in the file at path as ReadSecretFile
// does, and makes that file first where there is none: 48 random bytes in
// base64, mode 0600. Processes that do so at once end with the same secret. On
// unix a file whose mode lets other users in is refused.
func LoadOrCreateSecret(path string) ([]byte, error) {
	private := func(mode fs.FileMode) error {
		if runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 {
			return fmt.Errorf("the JWT secret in %s is open to other users: run chmod 600 %[1]s", path)
		}
		return nil
	}
	secret, err := readSecret(path, private)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	if err := createSecret(path); err != nil {
		return nil, fmt.Errorf("no JWT secret could be stored: %w", err)
	}
	return readSecret(path, private)
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
	secret, ended := bytes.CutSuffix(data, []byte("\n"))
	if ended {
		secret = bytes.TrimSuffix(secret, []byte("\r"))
	}
	if err := CheckSecret(secret); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return secret, nil
}

// createSecret writes beside path and links the whole file to its name, so
// that nobody ever reads a part of a secret. A link does not replace: of two
// processes the second finds the name taken, and that is no error.
func createSecret(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // mode 0600
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the folder %s cannot be written to: %w", filepath.Dir(path), failed.Err)
	}
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	random := make([]byte, 48)
	rand.Read(random) // ends the process rather than fail
	_, err = fmt.Fprintln(f, base64.StdEncoding.EncodeToString(random))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
