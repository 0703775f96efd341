package server

import (
	"net/http"

	"library-catalogue/rest"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/telemetry"
)

// refuse answers in place of a handler, in the way of the endpoint that a request is
// for.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if endpointOf(r) == telemetry.REST {
		rest.WriteError(w, r, err)
		return
	}
	graphqlhttp.WriteError(w, r, err)
}
