package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"

	"library-catalogue/edge/auth"
	"library-catalogue/edge/httpcond"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/server/graphqlhttp/socket"
)

// anyOrigin in a list allows all origins.
const anyOrigin = "*"

// preflightSeconds is the time for which a browser may cache the response to a preflight request.
const preflightSeconds = 600

// exposedHeaders are the response headers that pages of other origins may read.
var exposedHeaders = []string{
	"Accept-Query", "Catalogue-Position", "Content-Disposition", "ETag", "Idempotency-Replayed", "Link", "Location",
	"RateLimit", "RateLimit-Policy", "Retry-After", "Server-Timing", "WWW-Authenticate", "X-Catalogue-Source",
	"X-Request-Id", "X-Total-Count",
}

// ParseOrigins normalizes a list of web origins (RFC 6454, section 6.2), such as https://app.example or
// http://localhost:3000. "*" means all origins.
func ParseOrigins(list []string) ([]string, error) {
	var origins []string
	for _, item := range list {
		origin := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(item), "/"))
		u, err := url.Parse(origin)
		if origin != anyOrigin && (err != nil || u.Scheme != "http" && u.Scheme != "https" ||
			origin != u.Scheme+"://"+u.Host || u.Hostname() == "" || strings.Contains(u.Host, "*")) {
			return nil, fmt.Errorf("%q is not an origin: use the form https://app.example, or * for all", item)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

// ParsePublicURL normalizes the origin of absolute addresses. It may be empty.
func ParsePublicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	origins, err := ParseOrigins([]string{text})
	if err != nil || origins[0] == anyOrigin || strings.ContainsAny(text, `<>&"'`) {
		return "", fmt.Errorf("%q is not a public URL: use the form https://books.example, without a path", text)
	}
	return origins[0], nil
}

var errOrigin = model.Errorf(model.Forbidden, "%s CATALOGUE_CORS_ORIGINS allows pages of other origins.",
	auth.ErrOtherOrigin.Message)

// crossOrigin returns middleware that enforces the policy for web pages of other origins. The given origins, as
// ParseOrigins returns them, may use the service (CORS: fetch.spec.whatwg.org, section 3.2). Writes from other
// origins are refused (CSRF). Clients other than browsers are not affected. credentials allows cookies, HTTP
// authentication and client certificates. publicURL is the own origin behind a proxy that changes Host; empty: the
// origin of Host. refuse writes the error of a refused request.
func crossOrigin(
	origins []string, publicURL string, credentials bool, log *slog.Logger, refuse refusal,
) (middleware, error) {
	share := allowOrigins(origins, credentials)
	if slices.Contains(origins, anyOrigin) {
		return share, nil
	}
	protection := http.NewCrossOriginProtection()
	own := origins
	if publicURL != "" {
		own = append(slices.Clone(origins), publicURL)
	}
	for _, origin := range own {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	deny := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := errOrigin
		if endpointOf(r) == telemetry.Other { // the forms of the pages are for no other origin
			err = auth.ErrOtherOrigin
		}
		log.InfoContext(r.Context(), "request refused. "+err.Message,
			"origin", telemetry.Truncate(r.Header.Get("Origin")), "host", telemetry.Truncate(r.Host), "path",
			telemetry.Truncate(r.URL.Path),
			"request_id", telemetry.RequestOf(r.Context()).ID)
		refuse(w, r, err)
	})
	protection.SetDenyHandler(deny)
	return func(next http.Handler) http.Handler {
		next = protectSockets(protection, deny, protection.Handler(next))
		if len(origins) > 0 {
			next = share(next)
		}
		return logPreflights(origins, log, next)
	}, nil
}

// protectSockets refuses WebSockets that a page of another origin opens, as if the handshake were a write, because CORS
// does not apply to them.
func protectSockets(protection *http.CrossOriginProtection, deny, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if socket.IsUpgrade(r) {
			write := *r
			write.Method = http.MethodPost
			if protection.Check(&write) != nil {
				deny.ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// logPreflights logs refused preflight requests, because browsers hide the reason from pages.
func logPreflights(origins []string, log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if r.Method == http.MethodOptions && origin != "" && r.Header.Get("Access-Control-Request-Method") != "" &&
			!slices.Contains(origins, strings.ToLower(origin)) {
			log.InfoContext(r.Context(), "cross-origin request refused; CATALOGUE_CORS_ORIGINS can allow this origin",
				"origin", telemetry.Truncate(origin), "path", telemetry.Truncate(r.URL.Path), "request_id",
				telemetry.RequestOf(r.Context()).ID)
		}
		next.ServeHTTP(w, r)
	})
}

// allowOrigins returns middleware that lets pages of the given origins use the service.
func allowOrigins(origins []string, credentials bool) middleware {
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, httpcond.MethodQuery, http.MethodPost, http.MethodPut,
			http.MethodDelete},
		AllowedHeaders:   []string{"*"}, // an allowed page may send any header
		ExposedHeaders:   exposedHeaders,
		AllowCredentials: credentials,
		MaxAge:           preflightSeconds,
	}).Handler
}
