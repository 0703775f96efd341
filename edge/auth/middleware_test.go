package auth

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

// whoami is a handler that tells whom the middleware let it see.
var whoami = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	p, err := model.Authorise(r.Context())
	if err != nil {
		fmt.Fprint(w, "nobody")
		if refused := model.TokenErrorOf(r.Context()); refused != nil {
			fmt.Fprint(w, " ", refused.Code)
		}
		return
	}
	fmt.Fprint(w, "somebody "+p.Subject)
})

func TestMiddleware(t *testing.T) {
	t.Parallel()
	h := newTestVerifier(t, Config{Secret: secret}).Middleware(whoami)
	good := hs256(t, nil, nil)
	for name, tt := range map[string]struct {
		headers []string
		want    string
	}{
		"none":              {nil, "nobody"},
		"valid":             {[]string{"Bearer " + good}, "somebody ada"},
		"small letters":     {[]string{"bearer " + good}, "somebody ada"},
		"capitals":          {[]string{"BEARER " + good}, "somebody ada"},
		"more spaces":       {[]string{"Bearer   " + good}, "somebody ada"},
		"no subject":        {[]string{"Bearer " + hs256(t, nil, object{"sub": nil})}, "somebody "},
		"empty":             {[]string{""}, "nobody TOKEN_INVALID"},
		"scheme alone":      {[]string{"Bearer"}, "nobody TOKEN_INVALID"},
		"no token":          {[]string{"Bearer "}, "nobody TOKEN_INVALID"},
		"no scheme":         {[]string{good}, "nobody TOKEN_INVALID"},
		"Basic":             {[]string{"Basic YWRhOmFkYQ=="}, "nobody TOKEN_INVALID"},
		"wrong scheme":      {[]string{"Token " + good}, "nobody TOKEN_INVALID"},
		"longer scheme":     {[]string{"Bearers " + good}, "nobody TOKEN_INVALID"},
		"tab":               {[]string{"Bearer\t" + good}, "nobody TOKEN_INVALID"},
		"quoted":            {[]string{`Bearer "` + good + `"`}, "nobody TOKEN_INVALID"},
		"line break":        {[]string{"Bearer " + good + "\n"}, "nobody TOKEN_INVALID"},
		"space after":       {[]string{"Bearer " + good + " "}, "nobody TOKEN_INVALID"},
		"two headers":       {[]string{"Bearer " + good, "Bearer " + good}, "nobody TOKEN_INVALID"},
		"two, one empty":    {[]string{"Bearer " + good, ""}, "nobody TOKEN_INVALID"},
		"joined by a proxy": {[]string{"Bearer " + good + ", Bearer " + good}, "nobody TOKEN_INVALID"},
		"other secret":      {[]string{"Bearer " + must(Sign(otherSecret, "ada", "", "", time.Hour, time.Now()))}, "nobody TOKEN_INVALID"},
		"100 kB of dots":    {[]string{"Bearer " + strings.Repeat(".", 100_000)}, "nobody TOKEN_INVALID"},
		"8 KiB of spaces":   {[]string{"Bearer " + strings.Repeat(" ", maxCredentialBytes) + good}, "nobody TOKEN_INVALID"},
		"expired":           {[]string{"Bearer " + hs256(t, nil, object{"exp": 1})}, "nobody TOKEN_EXPIRED"},
		"expired, forged":   {[]string{"Bearer " + token(t, jwt.SigningMethodHS256, otherSecret, nil, object{"exp": 1})}, "nobody TOKEN_INVALID"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header["Authorization"] = tt.headers
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Body.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if told := strings.HasPrefix(w.Header().Get("WWW-Authenticate"), `Bearer error="invalid_token", error_description="`); told != strings.Contains(tt.want, "TOKEN") {
				t.Errorf("WWW-Authenticate: %q", w.Header()["Www-Authenticate"])
			}
		})
	}
}

// A refused token may be good for another server, so the log must not have it.
func TestMiddlewareLogsTheCauseAlone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h := newTestVerifier(t, Config{Secret: secret, Logger: logger}).Middleware(whoami)
	for want, token := range map[string]string{
		"token is expired":    hs256(t, nil, object{"exp": 1}),
		"in the header: crit": hs256(t, object{"crit": []string{"x"}}, nil),
		"number of segments":  "two-of.them",
	} {
		log.Reset()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		h.ServeHTTP(httptest.NewRecorder(), r)

		got := log.String()
		if !strings.Contains(got, "level=DEBUG") || !strings.Contains(got, want) {
			t.Errorf("the log says %q, want %q at debug level", got, want)
		}
		for part := range strings.SplitSeq(token, ".") {
			if strings.Contains(got, part) {
				t.Errorf("the log has a part of the token: %q", got)
			}
		}
	}
}
