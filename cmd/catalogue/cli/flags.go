package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	"library-catalogue/db"
	"library-catalogue/edge/auth"
)

const defaultDatabase = "sqlite:catalogue.db"

// AddressFlags hold the address of the server.
type AddressFlags struct {
	Addr string `env:"CATALOGUE_ADDR" placeholder:"HOST:PORT" help:"Address of the server (default: 127.0.0.1:8080, or all addresses at $$PORT if that is set)."`
}

// Address returns the address to listen on.
func (f AddressFlags) Address(env Getenv) string {
	if f.Addr != "" {
		return f.Addr
	}
	if port := env("PORT"); port != "" {
		return ":" + port
	}
	return "127.0.0.1:8080"
}

// Reachable returns the address that reaches a listener from this machine.
func Reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// DatabaseFlags choose the database.
type DatabaseFlags struct {
	DatabaseURL string `env:"CATALOGUE_DATABASE_URL" placeholder:"URL" help:"Database of the catalogue: sqlite:FILE or postgres://USER:PASSWORD@HOST/NAME (default: sqlite:catalogue.db)."`
}

// URL returns the address of the database.
func (f DatabaseFlags) URL() string {
	if f.DatabaseURL == "" {
		return defaultDatabase
	}
	return f.DatabaseURL
}

// Embedded reports whether the database is the default one, which serves one user on one machine.
func (f DatabaseFlags) Embedded() bool { return f.DatabaseURL == "" }

// SQLiteFile returns the path of an SQLite database.
func (f DatabaseFlags) SQLiteFile() (path string, ok bool) {
	return strings.CutPrefix(f.URL(), "sqlite:")
}

// Exists returns an error if an SQLite database has no file, because opening it would create one.
func (f DatabaseFlags) Exists() error {
	if path, ok := f.SQLiteFile(); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no catalogue at %s: run this in the folder where serve was started, or set "+
				"--database-url", path)
		}
	}
	return nil
}

// Open connects to the database and migrates its schema.
func (f DatabaseFlags) Open(ctx context.Context, options db.Options) (*db.Store, error) {
	store, err := db.New(ctx, f.URL(), options)
	if err != nil {
		return nil, err
	}
	if err := store.Start(ctx); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// OpenExisting is like Open, but does not create a database.
func (f DatabaseFlags) OpenExisting(ctx context.Context, options db.Options) (*db.Store, error) {
	if err := f.Exists(); err != nil {
		return nil, err
	}
	return f.Open(ctx, options)
}

// WebhookFlags configure the requests of webhooks.
type WebhookFlags struct {
	WebhookPrivate bool `env:"CATALOGUE_WEBHOOK_PRIVATE" help:"Allow webhooks to private addresses and by http."`
}

// LookupFlags choose the sources of look-ups.
type LookupFlags struct {
	Lookup string `env:"CATALOGUE_LOOKUP" placeholder:"SOURCES" help:"Sources of look-ups by ISBN, separated by commas: dnb, k10plus, loc, openlibrary, or the address of an SRU server with {isbn} in place of the number (default: none)."`
}

// TokenFlags configure the accepted tokens.
type TokenFlags struct {
	JWTSecret     string `env:"CATALOGUE_JWT_SECRET" placeholder:"SECRET" secret:"" help:"Secret of the tokens (HS256), at least 32 bytes."`
	JWTSecretFile string `env:"CATALOGUE_JWT_SECRET_FILE" placeholder:"FILE" help:"File with the secret of the tokens."`
	JWTPublicKey  string `env:"CATALOGUE_JWT_PUBLIC_KEY" placeholder:"FILE" help:"PEM file with the public key of the tokens (RS256, ES256, EdDSA)."`
	JWKSURL       string `name:"jwks-url" env:"CATALOGUE_JWKS_URL" placeholder:"URL" help:"Address of the issuer's JSON Web Key Set."`
	JWTIssuer     string `env:"CATALOGUE_JWT_ISSUER" placeholder:"ISS" help:"Accept only tokens of this issuer."`
	JWTAudience   string `env:"CATALOGUE_JWT_AUDIENCE" placeholder:"AUD" help:"Accept only tokens for this audience."`
	OIDCIssuer    string `name:"oidc-issuer" env:"CATALOGUE_OIDC_ISSUER" placeholder:"URL" help:"OpenID provider of accepted tokens, found by its discovery document; tokens of a key above remain accepted."`
	OIDCClientID  string `name:"oidc-client-id" env:"CATALOGUE_OIDC_CLIENT_ID" placeholder:"ID" help:"OpenID client of the pages, for logging in at the provider (default: users paste a token)."`
	OIDCAudience  string `name:"oidc-audience" env:"CATALOGUE_OIDC_AUDIENCE" placeholder:"AUD" help:"Required audience of the provider's tokens (default: the client)."`
}

// Keys returns the flags that configure a key and are set.
func (f TokenFlags) Keys() (set []string) {
	for _, key := range []struct{ flag, value string }{
		{"--jwt-secret", f.JWTSecret}, {"--jwt-secret-file", f.JWTSecretFile},
		{"--jwt-public-key", f.JWTPublicKey}, {"--jwks-url", f.JWKSURL},
	} {
		if key.value != "" {
			set = append(set, key.flag)
		}
	}
	return set
}

// ErrNoKey is the error of Config for PostgreSQL without a key. Accounts need none.
var ErrNoKey = errors.New("no key for tokens: set CATALOGUE_JWT_SECRET (at least 32 bytes, for example from: openssl " +
	"rand -base64 48), CATALOGUE_JWT_SECRET_FILE, CATALOGUE_JWT_PUBLIC_KEY, CATALOGUE_JWKS_URL or CATALOGUE_OIDC_ISSUER")

// Config reads the configured key and OpenID provider. Without either, an SQLite database gets a secret in a
// file next to it.
func (f TokenFlags) Config(database DatabaseFlags) (auth.Config, error) {
	cfg := auth.Config{
		Issuer: f.JWTIssuer, Audience: f.JWTAudience, JWKSURL: f.JWKSURL,
		OIDC: auth.OIDC{Issuer: f.OIDCIssuer, Audience: cmp.Or(f.OIDCAudience, f.OIDCClientID)},
	}
	switch {
	case f.OIDCIssuer == "" && cfg.OIDC.Audience != "":
		return cfg, errors.New("an OpenID client or audience needs a provider: set CATALOGUE_OIDC_ISSUER")
	case f.OIDCIssuer != "" && cfg.OIDC.Audience == "":
		return cfg, errors.New("set CATALOGUE_OIDC_CLIENT_ID or CATALOGUE_OIDC_AUDIENCE: without one, tokens for " +
			"other applications would be accepted")
	}
	if set := f.Keys(); len(set) > 1 {
		return cfg, fmt.Errorf("set only one of %s", strings.Join(set, ", "))
	}
	var err error
	switch {
	case f.JWTSecret != "":
		cfg.Secret = []byte(f.JWTSecret)
		err = auth.CheckSecret(cfg.Secret)
	case f.JWTSecretFile != "":
		cfg.Secret, err = auth.ReadSecretFile(f.JWTSecretFile)
	case f.JWTPublicKey != "":
		var pem []byte
		if pem, err = os.ReadFile(f.JWTPublicKey); err == nil {
			cfg.PublicKey, err = auth.ParsePublicKey(pem)
		}
	case f.JWKSURL != "", f.OIDCIssuer != "":
	default:
		if err := db.CheckURL(database.URL()); err != nil {
			return cfg, err
		}
		if path, ok := database.SQLiteFile(); ok {
			cfg.Secret, err = auth.LoadOrCreateSecret(path + ".jwt-secret")
			break
		}
		err = ErrNoKey
	}
	return cfg, err
}
