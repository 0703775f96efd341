package server

import (
	"net/http"

	"library-catalogue/rest"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/telemetry"
)

// refuse writes an error in the format of the request's endpoint.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	if endpointOf(r) == telemetry.REST {
		rest.WriteError(w, r, err)
		return
	}
	graphqlhttp.WriteError(w, r, err)
}
