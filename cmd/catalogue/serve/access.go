package serve

import (
	"context"
	"errors"
	"slices"
	"time"

	"library-catalogue/accounts"
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
		return errors.New("--cors-credentials needs named origins: list them in --cors-origins or " +
			"CATALOGUE_CORS_ORIGINS instead of *")
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

// authenticate sets the accounts, if they are on, and what verifies tokens and cookies.
func (p *process) authenticate(ctx context.Context) (err error) {
	if p.Accounts == "on" {
		if p.InsecureCookies {
			p.log.Warn("sessions can be read on the way, because CATALOGUE_INSECURE_COOKIES allows to sign in by http")
		}
		service := accounts.New(p.store.Accounts, time.Now, caller.Network)
		p.cfg.Accounts, p.catalogue.Accounts, p.tokens.Accounts = service, service, service
	}
	if p.verifier, err = auth.New(ctx, p.tokens); err != nil {
		return err
	}
	p.cfg.Authenticate = p.verifier.Middleware
	if p.cfg.Accounts != nil {
		if p.cfg.Cookies, err = p.verifier.Cookies(p.cfg.PublicURL, p.InsecureCookies); err != nil {
			return err
		}
	}
	if p.OIDCClientID == "" {
		return nil
	}
	p.cfg.Login = &server.Login{
		Issuer: p.OIDCIssuer, ClientID: p.OIDCClientID, Audience: p.OIDCAudience,
		Scopes: "openid profile", Endpoints: p.verifier.Endpoints,
	}
	if p.RequireScopes {
		p.cfg.Login.Scopes += " " + model.WriteScope
	}
	return nil
}
