package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
)

// OIDC is an OpenID provider whose tokens are accepted. Its keys, and where people log
// in, are in its discovery document (OpenID Connect Discovery 1.0), which is read with
// the keys, whenever these are.
type OIDC struct {
	Issuer   string // as that document has it, and tokens in iss
	Audience string // what a token must have in aud
}

// endpoints are where people log in, and where their tokens are.
type endpoints struct{ authorization, token string }

// provider reads the discovery document of an OpenID provider.
type provider struct {
	name      string
	keys      *keySet
	endpoints atomic.Pointer[endpoints]
}

const discoveryPath = "/.well-known/openid-configuration"

// newProvider returns a provider as an issuer, and begins to read its keys.
func newProvider(ctx context.Context, cfg OIDC, transport http.RoundTripper, log *slog.Logger) (*issuer, *provider, error) {
	document, err := url.Parse(strings.TrimSuffix(cfg.Issuer, "/") + discoveryPath)
	if err != nil {
		return nil, nil, fmt.Errorf("the issuer of the OpenID provider cannot be read: %w", err)
	}
	if !isWeb(document) || document.RawQuery != "" || document.Fragment != "" {
		return nil, nil, fmt.Errorf("the issuer of the OpenID provider must be like https://login.example/realms/books, and is %q", cfg.Issuer)
	}
	if cfg.Audience == "" {
		return nil, nil, errors.New("tokens of an OpenID provider need an audience, since it signs those for others too")
	}
	p := &provider{name: cfg.Issuer, keys: unreadKeySet(document, transport, log)}
	p.keys.find = p.discover
	p.keys.begin(ctx)
	return &issuer{name: cfg.Issuer, parser: newParser(cfg.Issuer, cfg.Audience, keyMethods...), key: p.keys.lookup, keys: p.keys}, p, nil
}

// host matches hosts that can stand in a Content-Security-Policy.
var host = regexp.MustCompile(`^[A-Za-z0-9.:\[\]_-]+$`)

// discover reads the discovery document. It returns the address of the keys.
func (p *provider) discover(ctx context.Context) (*url.URL, error) {
	body, err := p.keys.get(ctx, p.keys.url)
	if err != nil {
		return nil, err
	}
	var said struct {
		Issuer        string `json:"issuer"`
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
		Keys          string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return nil, fmt.Errorf("the answer is no discovery document: %w", err)
	}
	if said.Issuer != p.name { // section 4.3
		return nil, fmt.Errorf("the provider calls itself %q, and not %q: set CATALOGUE_OIDC_ISSUER to exactly that, if it is meant", said.Issuer, p.name)
	}
	var keys *url.URL
	for _, of := range []struct{ name, address string }{
		{"authorization_endpoint", said.Authorization}, {"token_endpoint", said.Token}, {"jwks_uri", said.Keys},
	} {
		if keys, err = url.Parse(of.address); err != nil || !isWeb(keys) || !host.MatchString(keys.Host) || p.keys.url.Scheme == "https" && keys.Scheme != "https" {
			return nil, fmt.Errorf("the provider's %s is %q", of.name, of.address)
		}
	}
	p.endpoints.Store(&endpoints{said.Authorization, said.Token})
	return keys, nil
}

// Endpoints returns the authorization endpoint and the token endpoint of the OpenID
// provider, as it last gave them. ok is false where it has not answered yet. Then it is
// asked again soon.
func (v *Verifier) Endpoints() (authorization, token string, ok bool) {
	found := v.provider.endpoints.Load()
	if found == nil {
		v.provider.keys.wake()
		return "", "", false
	}
	return found.authorization, found.token, true
}
