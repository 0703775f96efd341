package auth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"library-catalogue/graph/model"
)

// Cookies authenticates requests by the cookie of a session.
type Cookies struct {
	accounts   Accounts
	verifier   *Verifier
	protection *http.CrossOriginProtection
	name       string
	insecure   bool
}

// The names of the cookie. Browsers take the first only from the host itself, by https or from localhost.
const (
	secureName   = "__Host-catalogue-session"
	insecureName = "catalogue-session"
)

// ErrOtherOrigin is the error of a write or a stream by a cookie that a page of another origin sent.
var ErrOtherOrigin = model.Errorf(model.Forbidden,
	"This request comes from another origin. Behind a proxy set CATALOGUE_PUBLIC_URL to the address of the pages.")

// Cookies returns the cookies of the Accounts. publicURL is the origin that browsers see; empty means the request's
// Host. insecure gives cookies by http too.
func (v *Verifier) Cookies(publicURL string, insecure bool) (*Cookies, error) {
	c := &Cookies{v.accounts, v, http.NewCrossOriginProtection(), secureName, insecure}
	if insecure {
		c.name = insecureName
	}
	if publicURL == "" {
		return c, nil
	}
	return c, c.protection.AddTrustedOrigin(publicURL)
}

// Set sets the cookie of a session.
func (c *Cookies) Set(w http.ResponseWriter, secret string, expires time.Time) {
	http.SetCookie(w, &http.Cookie{
		Name: c.name, Value: secret, Path: "/", Expires: expires, MaxAge: int(time.Until(expires).Seconds()),
		Secure: !c.insecure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// Clear removes the cookie.
func (c *Cookies) Clear(w http.ResponseWriter) {
	http.SetCookie(w,
		&http.Cookie{Name: c.name, Path: "/", MaxAge: -1, Secure: !c.insecure, HttpOnly: true,
			SameSite: http.SameSiteLaxMode})
}

// Check returns ErrOtherOrigin for a request that a page of another origin sent. Its method does not count.
func (c *Cookies) Check(r *http.Request) error {
	write := *r
	write.Method = http.MethodPost
	if c.protection.Check(&write) != nil {
		return ErrOtherOrigin
	}
	return nil
}

// Usable returns an error if the browser would drop the cookie, because its page came by http.
func (c *Cookies) Usable(r *http.Request) error {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if c.insecure || err != nil || origin.Scheme != "http" {
		return nil
	}
	if host := origin.Hostname(); host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		net.ParseIP(host).IsLoopback() {
		return nil
	}
	return model.Errorf(model.Forbidden, "Signing in needs https, or http://localhost. On a network that you trust "+
		"the operator can allow http with CATALOGUE_INSECURE_COOKIES=true.")
}

// Has reports whether a request has the cookie. Its session may have ended.
func (c *Cookies) Has(r *http.Request) bool {
	return r.Header["Cookie"] != nil && len(r.CookiesNamed(c.name)) > 0
}

// Middleware calls next with the caller of a session by its cookie, if the request has no Authorization header. Without
// a session the request continues without a caller. A page of another origin cannot write or open a stream by the
// cookie: refuse gets ErrOtherOrigin. Its reads have no caller. serves reports whether cookies count.
func (c *Cookies) Middleware(
	serves func(*http.Request) bool, refuse func(http.ResponseWriter, *http.Request, error),
) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !c.Has(r) || r.Header["Authorization"] != nil || !serves(r) {
				next.ServeHTTP(w, r)
				return
			}
			if err := c.Check(r); err != nil && (!isRead(r) || isStream(r)) {
				refuse(w, r, err)
				return
			} else if err != nil && r.Header["Origin"] != nil { // a link from another site has none
				next.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, c.authenticate(r))
		})
	}
}

func (c *Cookies) authenticate(r *http.Request) *http.Request {
	ctx := r.Context()
	cookies := r.CookiesNamed(c.name)
	if len(cookies) > 1 { // another host of the domain may have set one
		return r
	}
	look := func(ctx context.Context) (model.Caller, error) {
		return looked(c.accounts.Cookie(ctx, cookies[0].Value))
	}
	caller, err := look(ctx)
	switch {
	case err == nil:
		ctx = withCaller(ctx, caller, look)
	case errors.Is(err, errUnchecked):
		ctx = model.WithTokenError(ctx, c.verifier.refuse(ctx, err))
	}
	return r.WithContext(ctx)
}

// isRead reports whether a page of another origin may send a request. QUERY may not, because no link or form sends it.
func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// isStream reports whether a request opens a WebSocket or an event stream.
func isStream(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header["Accept"], ","))
	return r.Header["Upgrade"] != nil || strings.Contains(accept, "text/event-stream") ||
		strings.Contains(accept, "text/*")
}
