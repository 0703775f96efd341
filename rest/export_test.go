package rest

import (
	"net/http"
	"slices"
)

// Routes gives the methods of each path that a handler answers, "/api/books/{id}"
// for one.
func Routes(h http.Handler) map[string][]string {
	routes := map[string][]string{}
	for name := range h.(*handler).resources {
		for method := range collection {
			routes["/api/"+name] = append(routes["/api/"+name], method)
		}
		for method := range item {
			routes["/api/"+name+"/{id}"] = append(routes["/api/"+name+"/{id}"], method)
		}
	}
	return routes
}

// ListParameters gives the parameters of a list by their names, with the names
// that sort takes.
func ListParameters(h http.Handler, list string) (names, sorts []string) {
	of := h.(*handler).resources[list]
	for _, c := range of.conditions {
		names = append(names, c.parameter)
	}
	return append(names, "q", "sort", "per_page", "page", "after"), slices.Clone(of.sorts)
}
