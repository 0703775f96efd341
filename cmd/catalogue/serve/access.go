package serve

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"library-catalogue/accounts"
	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/caller"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/server"
)

// accessFlags control access and rates.
type accessFlags struct {
	CORSOrigins       []string `name:"cors-origins" env:"CATALOGUE_CORS_ORIGINS" placeholder:"ORIGIN,…" help:"Allow web pages of these origins, like https://app.example, or * for all (default: none)."`
	CORSCredentials   bool     `name:"cors-credentials" env:"CATALOGUE_CORS_CREDENTIALS" help:"Let pages of these origins send credentials: cookies, HTTP authentication for a proxy, client certificates."`
	RequireScopes     bool     `env:"CATALOGUE_REQUIRE_SCOPES" help:"Require the scope catalogue:write for writes, or one for the type and the verb, like books:create."`
	RequireValidToken bool     `env:"CATALOGUE_REQUIRE_VALID_TOKEN" help:"Refuse reads with an expired or invalid token with 401 (default: answer them, with a warning)."`
	Rate              *float64 `env:"CATALOGUE_RATE" placeholder:"UNITS" help:"Rate limit in units a second for each token subject, or for each address without a token; 0 is no limit (default: 100; for catalogue.db no limit)."`
	RateBurst         int      `env:"CATALOGUE_RATE_BURST" default:"500" placeholder:"UNITS" help:"Units that an idle caller may use at once (default: ${default})."`
	MaxConnections    int      `env:"CATALOGUE_MAX_CONNECTIONS" default:"500" placeholder:"N" help:"Maximum open connections. Beyond it, the client network with most connections loses the one that has been idle longest (default: ${default})."`
	MaxStreams        int      `env:"CATALOGUE_MAX_STREAMS" default:"2000" placeholder:"N" help:"Maximum open subscriptions and event streams, which --max-connections does not count. A caller may have 100 (default: ${default})."`
	Accounts          string   `env:"CATALOGUE_ACCOUNTS" enum:"on,off" default:"on" help:"Let people sign in with accounts of the catalogue: on or off (default: ${default})."`
	InsecureCookies   bool     `env:"CATALOGUE_INSECURE_COOKIES" help:"Let people sign in by http on a network that you trust. Their sessions can be read on the way."`
	TrustedProxies    []string `env:"CATALOGUE_TRUSTED_PROXIES" placeholder:"NETWORK,…" help:"Networks of proxies, such as 10.0.0.0/8. Their Forwarded and X-Forwarded-For headers name the client (default: none)."`
}

func (f accessFlags) configure(cfg *server.Config) (err error) {
	if cfg.Origins, err = server.ParseOrigins(f.CORSOrigins); err != nil {
		return err
	}
	if f.CORSCredentials && (len(cfg.Origins) == 0 || slices.Contains(cfg.Origins, "*")) {
		return errors.New("--cors-credentials needs named origins: list them in --cors-origins or CATALOGUE_CORS_ORIGINS instead of *")
	}
	cfg.Credentials = f.CORSCredentials
	if cfg.Proxies, err = caller.ParseProxies(f.TrustedProxies); err != nil {
		return err
	}
	cfg.Streams = eventstream.New(f.MaxStreams)
	cfg.RequireValidToken = f.RequireValidToken
	cfg.Rate = ratelimit.Rate{PerSecond: *f.Rate, Burst: f.RateBurst}
	return nil
}

// accountService returns the use cases of accounts, or nil if they are off.
func (f accessFlags) accountService(store *db.Store, log *slog.Logger) *accounts.Service {
	if f.Accounts == "off" {
		return nil
	}
	if f.InsecureCookies {
		log.Warn("sessions can be read on the way, because CATALOGUE_INSECURE_COOKIES allows to sign in by http")
	}
	return accounts.New(store.Accounts, time.Now, caller.Network)
}

// configureTokens returns the keys of tokens. With accounts there may be none.
func (c *Command) configureTokens(log *slog.Logger) (cfg auth.Config, err error) {
	cfg, err = c.TokenFlags.Config(c.DatabaseFlags)
	if errors.Is(err, cli.ErrNoKey) && c.Accounts == "on" {
		err = nil
	}
	cfg.Scoped, cfg.Logger = c.RequireScopes, log
	return cfg, err
}

// login returns the OpenID login of the pages, or nil without an OpenID client.
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
