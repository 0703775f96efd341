package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

// TestSchemaFile reads /schema.graphql as callers who may read the schema, and as others, for whom it is no path.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	const path, unknown, json = "/schema.graphql", "/schemas.graphql", "Accept: application/json"
	for _, tt := range []struct {
		introspection graphqlhttp.Introspection
		token         string
		method        string
		mayRead       bool
	}{
		{graphqlhttp.IntrospectionOn, "", http.MethodGet, true},
		{graphqlhttp.IntrospectionOn, "", http.MethodHead, true},
		{graphqlhttp.IntrospectionOn, "", http.MethodPost, false},
		{graphqlhttp.IntrospectionTokens, "Bearer " + c.Token, http.MethodGet, true},
		{graphqlhttp.IntrospectionTokens, "Bearer x", http.MethodGet, false},
		{graphqlhttp.IntrospectionTokens, "", http.MethodGet, false},
		{graphqlhttp.IntrospectionTokens, "", http.MethodHead, false},
		{graphqlhttp.IntrospectionOff, "Bearer " + c.Token, http.MethodGet, false},
	} {
		c.Reconfigure(t, server.Config{
			CacheBytes: 1 << 20, GraphQL: graphqlhttp.Options{Introspection: tt.introspection},
		})
		authorization := "Authorization: " + tt.token
		w := c.Do(tt.method, path, "", authorization, json)
		tag := w.Header().Get("ETag")
		again := c.Do(tt.method, path, "", authorization, json, "If-None-Match: "+tag)
		if tt.mayRead {
			if w.Code != http.StatusOK || w.Body.String() != string(graph.SDL()) || tag == "" ||
				w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || w.Header().Get("Cache-Control") != "no-cache" {
				t.Errorf("%+v: status %d, %v: %.100s", tt, w.Code, w.Header(), w.Body)
			}
			if again.Code != http.StatusNotModified {
				t.Errorf("%+v: status %d for its tag", tt, again.Code)
			}
			continue
		}
		other := c.Do(tt.method, unknown, "", authorization, json)
		wantBody := strings.ReplaceAll(other.Body.String(), unknown, path)
		for _, w := range []*httptest.ResponseRecorder{w, again} {
			if w.Code != other.Code || w.Body.String() != wantBody || w.Header().Get("ETag") != other.Header().Get("ETag") ||
				w.Header().Get("Cache-Control") != other.Header().Get("Cache-Control") || strings.Join(w.Header()["Vary"], ",") != strings.Join(other.Header()["Vary"], ",") {
				t.Errorf("%+v: status %d, %v: %.100s; an unknown path has %d, %v", tt, w.Code, w.Header(), w.Body, other.Code, other.Header())
			}
		}
	}
}
