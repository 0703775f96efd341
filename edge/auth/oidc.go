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

// OIDC is a trusted OpenID provider. Its discovery document (OpenID Connect Discovery 1.0) has the addresses of its
// keys and of its login. Each refresh of the keys reads the document again.
type OIDC struct {
	Issuer   string // issuer in the discovery document and iss of tokens
	Audience string // required aud of tokens
}

// endpoints are the URLs of the login and of the token endpoint.
type endpoints struct{ authorization, token string }

// provider reads the discovery document of an OpenID provider.
type provider struct {
	name      string
	keys      *keySet
	endpoints atomic.Pointer[endpoints]
}

const discoveryPath = "/.well-known/openid-configuration"

// newProvider returns a provider and its issuer, after a first fetch of its keys.
func newProvider(
	ctx context.Context, cfg OIDC, transport http.RoundTripper, log *slog.Logger,
) (*issuer, *provider, error) {
	document, err := url.Parse(strings.TrimSuffix(cfg.Issuer, "/") + discoveryPath)
	if err != nil {
		return nil, nil, fmt.Errorf("invalid issuer of the OpenID provider: %w", err)
	}
	if !isHTTP(document) || document.RawQuery != "" || document.Fragment != "" {
		return nil, nil, fmt.Errorf(
			"invalid issuer of the OpenID provider %q: use the form https://login.example/realms/books", cfg.Issuer)
	}
	if cfg.Audience == "" {
		return nil, nil, errors.New(
			"set the audience of the OpenID provider; without one, tokens for other applications would be accepted")
	}
	p := &provider{name: cfg.Issuer, keys: unreadKeySet(document, transport, log)}
	p.keys.discover = p.discover
	p.keys.start(ctx)
	return &issuer{name: cfg.Issuer, parser: newParser(cfg.Issuer, cfg.Audience, keyMethods...), key: p.keys.lookup,
		keys: p.keys}, p, nil
}

// policyHost matches hosts that a Content-Security-Policy can have.
var policyHost = regexp.MustCompile(`^[A-Za-z0-9.:\[\]_-]+$`)

// discover reads the discovery document and returns the URL of the keys.
func (p *provider) discover(ctx context.Context) (*url.URL, error) {
	body, err := p.keys.get(ctx, p.keys.url)
	if err != nil {
		return nil, err
	}
	var document struct {
		Issuer        string `json:"issuer"`
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
		Keys          string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, fmt.Errorf("the response is not a discovery document: %w", err)
	}
	if document.Issuer != p.name { // section 4.3
		return nil, fmt.Errorf("the provider's issuer is %q, not %q: set CATALOGUE_OIDC_ISSUER to exactly that "+
			"value, if you trust it", document.Issuer, p.name)
	}
	var keys *url.URL
	for _, member := range []struct{ name, address string }{
		{"authorization_endpoint", document.Authorization}, {"token_endpoint", document.Token},
		{"jwks_uri", document.Keys},
	} {
		if keys, err = url.Parse(member.address); err != nil || !isHTTP(keys) || !policyHost.MatchString(keys.Host) ||
			p.keys.url.Scheme == "https" && keys.Scheme != "https" {
			return nil, fmt.Errorf("the provider's %s is %q", member.name, member.address)
		}
	}
	p.endpoints.Store(&endpoints{document.Authorization, document.Token})
	return keys, nil
}

// Endpoints returns the authorization and token endpoints of the OpenID provider. ok is false until the discovery
// document was read; then Endpoints triggers a refresh.
func (v *Verifier) Endpoints() (authorization, token string, ok bool) {
	found := v.provider.endpoints.Load()
	if found == nil {
		v.provider.keys.wake()
		return "", "", false
	}
	return found.authorization, found.token, true
}
