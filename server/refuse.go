package server

import (
	"net/http"
	"strings"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/sru"
	"library-catalogue/web"
)

// refusal writes the error of a refused request.
type refusal = func(w http.ResponseWriter, r *http.Request, err error)

// refuse writes an error in the format of the request's endpoint. The forms of the pages have the format of /api.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if endpoint := endpointOf(r); endpoint == telemetry.REST ||
		endpoint == telemetry.Other && r.Method == http.MethodPost {
		envelope.WriteError(w, r, err)
		return
	}
	graphqlhttp.WriteError(w, r, err)
}

// refuseWith returns refuse, but SRU has its own format, and browsers get a page outside /graphql and /api, also for
// a form without scripts.
func refuseWith(pages *web.Pages) refusal {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if r.URL.Path == sru.Path {
			sru.Refuse(w, r, err)
			return
		}
		isForm := r.Method == http.MethodPost && strings.Contains(r.Header.Get("Accept"), "text/html")
		if endpointOf(r) == telemetry.Other && (isForm || web.WantsPage(r)) {
			pages.Fail(w, r, err)
			return
		}
		refuse(w, r, err)
	}
}
