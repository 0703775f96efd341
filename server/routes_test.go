package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

// documented matches a route in the documentation or in the links of /.
var documented = regexp.MustCompile("[`\"](?:(GET|POST|PUT|DELETE) )?(/[a-z][a-z0-9/._-]*)[`\"]")

// elsewhere matches paths that are no routes of the public address: files, routes of the operators' address, the
// prefix of REST.
var elsewhere = regexp.MustCompile(`^/((etc|var|proc|dev|metrics|debug)\b|api$)`)

// TestDocumentedRoutes wants the server to have each route that a page of documentation or / names.
func TestDocumentedRoutes(t *testing.T) {
	t.Parallel()
	c, _ := servertest.ServeAccounts(t, catalogtest.SQLite(t), func(cfg *server.Config) {
		cfg.SRU, cfg.PublicURL = true, "https://books.example"
		cfg.GraphQL.Introspection = graphqlhttp.IntrospectionOn
	})
	c.Shelves(t)
	pages, err := filepath.Glob("../docs/*.md")
	servertest.Must(t, err)
	text := c.Do("GET", "/", "", "Accept: application/json").Body.String()
	for _, page := range append(pages, "../README.md") {
		content, err := os.ReadFile(page)
		servertest.Must(t, err)
		text += string(content)
	}
	found := map[string]bool{}
	for _, match := range documented.FindAllStringSubmatch(text, -1) {
		method, path := match[1], match[2]
		if elsewhere.MatchString(path) || found[method+path] {
			continue
		}
		found[method+path] = true
		if method == "" {
			method = "GET"
		}
		body := c.Do(method, path, "", "Accept: */*").Body.String()
		if strings.Contains(body, "could not be found") || strings.Contains(body, "There is no page at this address") {
			t.Errorf("%s %s: %.200s", method, path, body)
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d routes in the documentation", len(found))
	}
}
