package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rs/cors"

	"library-catalogue/graph/model"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/ratelimit"
)

// anyOrigin stands for all origins in a list of those that are allowed.
const anyOrigin = "*"

// preflightSeconds is how long a browser may remember what is allowed.
const preflightSeconds = 600

// exposed are the headers of an answer that pages of other origins may read.
var exposed = []string{
	"ETag", "Idempotency-Replayed", "Link", "Location", "RateLimit", "RateLimit-Policy", "Retry-After",
	"Server-Timing", "X-Request-Id", "X-Total-Count",
}

// ParseOrigins checks a list of web origins (RFC 6454, section 6.2), such as
// https://app.example or http://localhost:3000, and writes them as browsers do.
// "*" stands for all origins.
func ParseOrigins(list []string) ([]string, error) {
	var origins []string
	for _, given := range list {
		origin := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(given), "/"))
		u, err := url.Parse(origin)
		if origin != anyOrigin && (err != nil || u.Scheme != "http" && u.Scheme != "https" ||
			origin != u.Scheme+"://"+u.Host || u.Hostname() == "" || strings.Contains(u.Host, "*")) {
			return nil, fmt.Errorf("%q is no origin: write it like https://app.example, or * for all", given)
		}
		origins = append(origins, origin)
	}
	return origins, nil
}

var errOrigin = model.Errorf(model.Forbidden,
	"Pages of this origin may not write here. Whoever runs the service can allow it with CATALOGUE_CORS_ORIGINS.")

// crossOrigin lets pages of the given origins use the service, as ParseOrigins
// gives them (CORS: fetch.spec.whatwg.org, section 3.2), and refuses what pages
// of others would change (CSRF). Who is not a web page is not concerned.
func crossOrigin(origins []string, next http.Handler) http.Handler {
	if slices.Contains(origins, anyOrigin) {
		return sharing(origins, next)
	}
	protection := http.NewCrossOriginProtection()
	for _, origin := range origins {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			panic(err) // they were not parsed
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, errOrigin)
	}))
	next = protection.Handler(next)
	if len(origins) == 0 {
		return next
	}
	return sharing(origins, next)
}

func sharing(origins []string, next http.Handler) http.Handler {
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders: []string{"*"}, // whom we let in may send what it likes
		ExposedHeaders: exposed,
		MaxAge:         preflightSeconds,
	}).Handler(next)
}

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// protect sets the headers that keep an answer from being taken for another: no
// one stores it, but the answer of a read whose handler says how, and no browser
// guesses its type.
func protect(header http.Header, method string, status int) {
	header["X-Content-Type-Options"] = noSniff
	if !reads(method) || status >= http.StatusBadRequest || header["Cache-Control"] == nil {
		header["Cache-Control"] = noStore
	}
}

// reads tells whether a method asks for what is there: HEAD is GET whose content
// net/http keeps back.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

// inAPI tells whether a request is one for the REST face.
func inAPI(r *http.Request) bool {
	return r.URL.Path == "/api" || strings.HasPrefix(r.URL.Path, "/api/")
}

// refusals are the statuses of what is not looked at any further.
var refusals = map[model.Code]int{
	model.Forbidden:   http.StatusForbidden,
	model.RateLimited: http.StatusTooManyRequests,
	model.Unavailable: http.StatusServiceUnavailable,
}

// refuse answers a request that is not looked at any further, in the way of the
// endpoint that it is for.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if !inAPI(r) {
		graphqlhttp.WriteError(w, r, err)
		return
	}
	e := model.AsError(err)
	status := refusals[e.Code]
	if e == ratelimit.ErrExceeded {
		e = errTooManyAttempts
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	body := model.AppendString([]byte(`{"success":false,"message":`), e.Message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, `,"data":null}`...)) // a client that has gone needs no answer
}

// errTooManyAttempts is ratelimit.ErrExceeded in the words of /api.
var errTooManyAttempts = model.Errorf(model.RateLimited, "Too Many Attempts.")
