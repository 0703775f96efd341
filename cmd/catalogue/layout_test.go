package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "library-catalogue/"

// mayImport says which packages of this module a package may import.
var mayImport = map[string][]string{
	"graph/model":      {},
	"graph":            {"graph/model"},
	"db":               {"graph/model"},
	"db/dbtest":        {},
	"resolvers/loader": {"graph/model", "db"},
	"resolvers":        {"graph", "graph/model", "db", "resolvers/loader"},
	"rest":             {"graph", "graph/model"},
	"server/auth":      {"graph/model"},
	"graph/cost":       {"graph/model"},
	"graph/plan":       {"graph", "graph/model"},
	"server":           {"graph", "graph/cost", "graph/model", "graph/plan", "rest"},
	"server/attack":    {},
	"cmd/bench":        {"graph/model", "db", "db/dbtest", "server/attack"},
	"cmd/catalogue":    {"cmd/catalogue/importer", "graph", "graph/model", "db", "resolvers", "rest", "server", "server/auth"},

	"cmd/catalogue/importer": {"graph/model", "resolvers"},
}

// keptTo says which packages alone may import what comes from outside.
var keptTo = map[string][]string{
	"github.com/jmoiron/sqlx":                        {"db"},
	"github.com/lib/pq":                              {"db", "db/dbtest", "cmd/bench"},
	"modernc.org/sqlite":                             {"db"},
	"github.com/graph-gophers/dataloader/v7":         {"resolvers/loader"},
	"net/http":                                       {"rest", "server", "server/attack", "server/auth", "cmd/catalogue", "cmd/bench"},
	"github.com/golang-jwt/jwt/v5":                   {"server/auth"},
	"github.com/99designs/gqlgen/graphql":            {"graph", "graph/cost", "graph/model", "graph/plan", "db", "server"},
	"github.com/alecthomas/kong":                     {"cmd/catalogue", "cmd/bench"},
	"github.com/schollz/progressbar/v3":              {"cmd/catalogue/importer"},
	"github.com/klauspost/compress/gzhttp":           {"server"},
	"github.com/rs/cors":                             {"server"},
	"github.com/pressly/goose/v3":                    {"db"},
	"github.com/prometheus/client_golang/prometheus": {"server"},
	"go.opentelemetry.io/otel/trace":                 {"server"},
	"github.com/vektah/gqlparser/v2/gqlerror":        {"graph", "server"},
}

// TestImports holds the code to the table above: which layer may know which.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s is new: say in the table what it may import", name)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s must not import %s", name, ours)
			}
			if keepers, ok := keptTo[imported]; ok && !slices.Contains(keepers, name) {
				t.Errorf("%s must not import %s: only %s may", name, imported, strings.Join(keepers, ", "))
			}
		}
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("%s is in the table, but not in the module", name)
		}
	}
}
