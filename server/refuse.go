package server

import (
	"net/http"

	"library-catalogue/edge/envelope"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/web"
)

// refuse writes an error in the format of the request's endpoint.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if endpointOf(r) == telemetry.REST {
		envelope.WriteError(w, r, err)
		return
	}
	graphqlhttp.WriteError(w, r, err)
}

// refuseWith returns refuse, but browsers get a page outside /graphql and /api.
func refuseWith(pages *web.Pages) func(http.ResponseWriter, *http.Request, error) {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if endpointOf(r) == telemetry.Other && web.WantsPage(r) {
			pages.Fail(w, r, err)
			return
		}
		refuse(w, r, err)
	}
}
