package web

import (
	"cmp"
	"net/http"
	"regexp"

	"library-catalogue/web/view"
)

// plainHost matches a host that is safe to paste into a shell.
var plainHost = regexp.MustCompile(`^([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?$`)

// developers returns the introduction to the APIs.
func (p *Pages) developers(r *http.Request) (*view.Page, error) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	host := r.Host
	if !plainHost.MatchString(host) {
		host = "localhost"
	}
	return &view.Page{Name: "developers.html", Title: "API", Section: "developers", Path: "/developers",
		Main: cmp.Or(p.publicURL, scheme+"://"+host)}, nil
}
