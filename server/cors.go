package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"

	"library-catalogue/graph/model"
	"library-catalogue/server/telemetry"
)

// anyOrigin stands for all origins in a list of those that are allowed.
const anyOrigin = "*"

// preflightSeconds is how long a browser may remember what is allowed.
const preflightSeconds = 600

// exposed are the headers of an answer that pages of other origins may read.
var exposed = []string{
	"Content-Disposition", "ETag", "Idempotency-Replayed", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After",
	"Server-Timing", "WWW-Authenticate", "X-Request-Id", "X-Total-Count",
}

// ParseOrigins checks a list of web origins (RFC 6454, section 6.2), such as
// https://app.example or http://localhost:3000, and writes them as browsers do.
// "*" stands for all origins.
func ParseOrigins(list []string) ([]string, error) {
	var origins []string
	for _, item := range list {
		origin := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(item), "/"))
		u, err := url.Parse(origin)
		if origin != anyOrigin && (err != nil || u.Scheme != "http" && u.Scheme != "https" ||
			origin != u.Scheme+"://"+u.Host || u.Hostname() == "" || strings.Contains(u.Host, "*")) {
			return nil, fmt.Errorf("%q is no origin: write it like https://app.example, or * for all", item)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

var errOrigin = model.Errorf(model.Forbidden,
	"Pages of this origin may not write here. The operator of the service can allow it with CATALOGUE_CORS_ORIGINS.")

// crossOrigin lets pages of the given origins use the service, as ParseOrigins
// returns them (CORS: fetch.spec.whatwg.org, section 3.2), and refuses what pages
// of others would change (CSRF). Who is not a web page is not concerned. With
// credentials, browsers send what they know of their users, and let pages read the
// answer: cookies, passwords of HTTP, client certificates.
func crossOrigin(origins []string, credentials bool, log *slog.Logger) (middleware, error) {
	share := sharing(origins, credentials)
	if slices.Contains(origins, anyOrigin) {
		return share, nil
	}
	protection := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, errOrigin)
	}))
	return func(next http.Handler) http.Handler {
		next = protection.Handler(next)
		if len(origins) > 0 {
			next = share(next)
		}
		return logPreflights(origins, log, next)
	}, nil
}

// logPreflights logs the questions of browsers, whether a page of another origin may
// send a request, that are answered with no: the page itself is not told why.
func logPreflights(origins []string, log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if r.Method == http.MethodOptions && origin != "" && r.Header.Get("Access-Control-Request-Method") != "" && !slices.Contains(origins, strings.ToLower(origin)) {
			log.InfoContext(r.Context(), "a page of another origin may not use the service; CATALOGUE_CORS_ORIGINS can allow it",
				"origin", telemetry.Truncate(origin), "path", telemetry.Truncate(r.URL.Path), "request_id", telemetry.RequestOf(r.Context()).ID)
		}
		next.ServeHTTP(w, r)
	})
}

func sharing(origins []string, credentials bool) middleware {
	return cors.New(cors.Options{
		AllowedOrigins:   origins,
		AllowedMethods:   []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders:   []string{"*"}, // whom we let in may send what it likes
		ExposedHeaders:   exposed,
		AllowCredentials: credentials,
		MaxAge:           preflightSeconds,
	}).Handler
}
