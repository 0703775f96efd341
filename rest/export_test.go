package rest

import (
	"net/http"
	"slices"
)

// Routes returns the methods of each path that a handler answers, "/api/books/{id}"
// for one.
func Routes(h http.Handler) map[string][]string {
	methods := map[string][]string{}
	for _, route := range h.(*handler).routes() {
		methods[route.pattern] = append(methods[route.pattern], route.method)
		if route.method == http.MethodGet {
			methods[route.pattern] = append(methods[route.pattern], http.MethodHead)
		}
	}
	return methods
}

// ListParameters returns the parameters of a list by their names, with the names
// that sort takes.
func ListParameters(h http.Handler, list string) (names, sorts []string) {
	res := h.(*handler).byPattern["/api/"+list][0].resource
	if res == nil { // changes take the conditions of each type
		names = []string{"types"}
		for _, c := range bookListing.conditions {
			names = append(names, c.parameter)
		}
		return append(names, "after", "limit", "format"), nil
	}
	for _, c := range res.conditions {
		names = append(names, c.parameter)
	}
	names = append(names, "q", "sort", "per_page", "page", "after")
	if res.formats != nil {
		names = append(names, "format", "include")
	}
	return names, slices.Clone(res.sortFields)
}
