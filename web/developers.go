package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
)

// plainHost matches a host that is safe to paste into a shell.
var plainHost = regexp.MustCompile(`^([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?$`)

// developers returns the introduction to the APIs.
func (p *Pages) developers(r *http.Request) (*page, error) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	host := r.Host
	if !plainHost.MatchString(host) {
		host = "localhost"
	}
	return &page{name: "developers.html", Title: "API", Section: "developers", Main: cmp.Or(p.publicURL, scheme+"://"+host)}, nil
}

// playgroundURL returns the URL of the playground with a request.
func playgroundURL(document string, v variables) string {
	query := url.Values{"query": {document}}
	if len(v) > 0 {
		text, err := json.MarshalIndent(v, "", "  ")
		if err == nil { // always
			query.Set("variables", string(text))
		}
	}
	return "/playground?" + query.Encode()
}
