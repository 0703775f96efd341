package serve

import (
	"errors"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/auth"
	"library-catalogue/server/caller"
	"library-catalogue/server/ratelimit"
)

// accessFlags say who may ask, and how much.
type accessFlags struct {
	CORSOrigins       []string `name:"cors-origins" env:"CATALOGUE_CORS_ORIGINS" placeholder:"ORIGIN,…" help:"Origins of web pages elsewhere that may use the service, like https://app.example, or * for all (default: none)."`
	CORSCredentials   bool     `name:"cors-credentials" env:"CATALOGUE_CORS_CREDENTIALS" help:"Let these pages send what the browser knows of its user: cookies and passwords for a proxy in front, client certificates."`
	RequireScopes     bool     `env:"CATALOGUE_REQUIRE_SCOPES" help:"A token must have the scope catalogue:write, or one for the type and the verb, like books:create."`
	RequireValidToken bool     `env:"CATALOGUE_REQUIRE_VALID_TOKEN" help:"Answer 401 to a request with a token that is expired or not valid, also where it only reads (default: reads are answered, with a warning)."`
	Rate              *float64 `env:"CATALOGUE_RATE" placeholder:"UNITS" help:"Requests a second for each token's subject, or each address without a token; 0 is no limit (default: 100; for catalogue.db no limit)."`
	RateBurst         int      `env:"CATALOGUE_RATE_BURST" default:"500" placeholder:"UNITS" help:"Requests that a client may make at once after a rest (default: ${default})."`
	MaxConnections    int      `env:"CATALOGUE_MAX_CONNECTIONS" default:"500" placeholder:"N" help:"Connections at once; past that the network with most of them loses the one that has waited longest for its client (default: ${default})."`
	TrustedProxies    []string `env:"CATALOGUE_TRUSTED_PROXIES" placeholder:"NETWORK,…" help:"Proxies in front of the service, like 10.0.0.0/8, whose X-Forwarded-For or Forwarded says where a client is (default: none)."`
}

// configure puts the settings into cfg.
func (f accessFlags) configure(cfg *server.Config) (err error) {
	if cfg.Origins, err = server.ParseOrigins(f.CORSOrigins); err != nil {
		return err
	}
	if f.CORSCredentials && (len(cfg.Origins) == 0 || slices.Contains(cfg.Origins, "*")) {
		return errors.New("credentials are for pages of origins that are named: list them in --cors-origins or CATALOGUE_CORS_ORIGINS, and not *")
	}
	cfg.Credentials = f.CORSCredentials
	if cfg.Proxies, err = caller.ParseProxies(f.TrustedProxies); err != nil {
		return err
	}
	if f.MaxConnections < 1 {
		return errors.New("there must be a connection at least")
	}
	cfg.RequireValidToken = f.RequireValidToken
	cfg.Rate = ratelimit.Rate{PerSecond: *f.Rate, Burst: f.RateBurst}
	if cfg.Rate.Burst < 1 || !(cfg.Rate.PerSecond >= 0 && cfg.Rate.PerSecond <= 1_000_000) {
		return errors.New("the rate must be from 0 to 1000000 a second, and its burst at least 1")
	}
	return nil
}

// login returns how people log in at the pages with tokens that a verifier accepts, nil
// where there is no client for that.
func (c *Command) login(verifier *auth.Verifier) *server.Login {
	if c.OIDCClientID == "" {
		return nil
	}
	login := &server.Login{Issuer: c.OIDCIssuer, ClientID: c.OIDCClientID, Audience: c.OIDCAudience, Scopes: "openid profile", Endpoints: verifier.Endpoints}
	if c.RequireScopes {
		login.Scopes += " " + model.WriteScope
	}
	return login
}
