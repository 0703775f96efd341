package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "library-catalogue/"

// mayImport says which packages of this module a package may import, from the
// bottom up. "server/..." is server and all below it.
var mayImport = map[string][]string{
	"graph/model/collate":  {},
	"graph/model":          {"graph/model/collate", "graph/model/author", "graph/model/isbn", "graph/model/lang"},
	"graph/model/isbn":     {},
	"graph/model/textline": {},
	"graph/model/lang":     {"graph/model/collate"},
	"graph/model/author":   {"graph/model/collate"},
	"graph/model/bookfile": {"graph/model"},
	"graph/model/citation": {"graph/model", "graph/model/author", "graph/model/marc", "graph/model/textline"},
	"graph/model/marc":     {"graph/model", "graph/model/author", "graph/model/isbn", "graph/model/textline"},
	"task":                 {"graph/model"},
	"lru":                  {},
	"graph":                {"graph/model", "graph/plan"},
	"graph/cost":           {"graph/model"},
	"graph/plan":           {"graph/model"},
	"graph/reads":          {"graph/model"},

	"db/stats":      {},
	"db/postgres":   {"task"},
	"db/fault":      {"graph/model", "db/postgres", "db/stats"},
	"db/stmt":       {"graph/model", "db/fault"},
	"db/sqlite":     {"graph/model/collate"},
	"db/dialect":    {"graph/model"},
	"db/query":      {"graph/model/...", "db/dialect"},
	"db/search":     {"graph/model/...", "db/dialect", "db/query", "db/changes"},
	"db/batch":      {"task"},
	"db/schema":     {"graph/model", "graph/model/collate", "db/dialect", "db/fault", "db/query", "db/search"},
	"db/changes":    {"graph/model", "db/dialect", "db/fault", "db/query", "db/stats", "task"},
	"db/replica":    {"graph/model", "db/stats", "db/postgres", "task"},
	"db/facetcount": {"graph/model/...", "db/changes", "db/dialect", "lru"},
	"db/account":    {"graph/model"},
	"db":            {"db/account", "graph/model/...", "db/stats", "db/postgres", "db/sqlite", "db/dialect", "db/query", "db/search", "db/batch", "db/replica", "db/facetcount", "db/fault", "db/schema", "db/changes", "db/stmt", "task"},

	"db/archive":            {"graph/model", "db"},
	"db/doctor":             {"db", "db/changes", "db/dialect", "db/schema"},
	"db/dbtest":             {},
	"db/dbtest/catalogtest": {"db", "db/dbtest"},

	"accounts": {"graph/model/...", "db/account", "lru"},

	"resolvers/loader": {"graph/model", "db", "db/stats", "lru", "task"},
	"resolvers":        {"accounts", "graph", "graph/model", "graph/model/collate", "graph/model/isbn", "db", "db/changes", "resolvers/loader", "task"},

	// edge/telemetry and the spool import db/stats alone of db: the record of a request's statements, for the response.
	"rest":                      {"graph", "graph/model/...", "graph/cost", "graph/reads", "rest/spool", "edge/envelope", "edge/httpcond", "edge/live", "edge/pipeline", "edge/eventstream"},
	"rest/spool":                {"graph/model", "db/stats", "task"},
	"edge/auth":                 {"graph/model", "edge/telemetry", "lru", "task"},
	"edge/telemetry":            {"graph/model", "db/stats", "task"},
	"edge/caller":               {"graph/model"},
	"edge/ratelimit":            {"graph/model", "edge/caller", "lru"},
	"edge/admission":            {"graph/cost", "graph/model", "edge/caller"},
	"edge/respcache":            {"graph/model", "edge/telemetry", "lru"},
	"edge/envelope":             {"edge/httpcond", "graph/model"},
	"edge/httpcond":             {"graph/model"},
	"edge/outbound":             {},
	"edge/eventstream":          {"graph/model", "edge/admission", "edge/caller", "edge/telemetry", "task"},
	"edge/live":                 {"graph/model", "graph/reads", "edge/caller", "edge/pipeline", "edge/ratelimit", "edge/respcache", "edge/telemetry", "task"},
	"edge/pipeline":             {"graph/cost", "graph/model", "edge/admission", "edge/httpcond", "edge/ratelimit", "edge/respcache", "edge/telemetry"},
	"server/graphqlhttp":        {"graph", "graph/model", "graph/plan", "graph/cost", "graph/reads", "edge/telemetry", "edge/caller", "edge/ratelimit", "edge/admission", "edge/envelope", "edge/httpcond", "edge/live", "edge/pipeline", "edge/eventstream", "lru", "task"},
	"server/graphqlhttp/socket": {"graph/model", "edge/caller", "edge/eventstream", "edge/ratelimit", "server/graphqlhttp", "edge/telemetry", "task"},
	"web/view":                  {"graph/model"},
	"web/language":              {"graph/model", "lru"},
	"web/people":                {"accounts", "graph/model", "web/language", "web/view"},
	"web/list":                  {"graph/model/...", "web/language", "web/view"},
	"web/book":                  {"graph/model/...", "web/language", "web/view"},
	"web":                       {"accounts", "graph/model/...", "web/book", "web/language", "web/list", "web/people", "web/view"},
	"server/servertest":         {"accounts", "edge/caller", "graph", "graph/model", "db", "db/dbtest/...", "resolvers", "server", "edge/auth", "server/graphqlhttp", "edge/telemetry", "webhooks"},
	"webhooks":                  {"edge/outbound", "graph/model", "task"},
	"lookup":                    {"edge/outbound", "graph/model", "graph/model/author", "graph/model/isbn", "graph/model/marc", "importer/value", "lru", "task"},
	"server/accounthttp":        {"accounts", "graph/model", "edge/auth", "edge/envelope"},
	"server/sru":                {"graph/model", "graph/model/author", "graph/model/collate", "graph/model/isbn", "graph/model/lang", "graph/model/marc", "edge/envelope"},
	"server/imports":            {"graph/model", "importer/...", "edge/caller", "edge/envelope", "edge/httpcond", "task"},
	"server":                    {"accounts", "graph", "graph/model", "graph/cost", "rest", "web", "edge/...", "server/...", "task"},

	"importer/value":         {"graph/model", "graph/model/collate", "graph/model/isbn", "graph/model/marc", "importer/source"},
	"importer/survey":        {"graph/model", "graph/model/collate", "importer/value"},
	"importer/source":        {"graph/model", "graph/model/citation", "graph/model/marc", "graph/model/textline", "task"},
	"importer":               {"graph/model", "graph/model/author", "graph/model/collate", "graph/model/marc", "importer/...", "task"},
	"cmd/catalogue/progress": {},
	"cmd/catalogue/cli":      {"db", "edge/auth"},
	"cmd/catalogue/usage":    {"cmd/catalogue/cli"},
	"cmd/catalogue/serve":    {"accounts", "cmd/catalogue/cli", "graph/model", "db", "db/fault", "db/sqlite", "lookup", "resolvers", "rest", "edge/...", "server/...", "webhooks", "task"},
	"cmd/catalogue":          {"accounts", "cmd/catalogue/...", "importer/...", "lookup", "graph/...", "db/...", "resolvers", "edge/...", "server/...", "webhooks", "task"},
	"examples/go":            {},
}

// layers are the packages from the top to the bottom. An import leads down, or stays in its folder.
var layers = [][]string{
	{"cmd/...", "examples/go"},
	{"server/servertest"},
	{"server"},
	{"server/...", "rest/...", "web/...", "webhooks", "lookup"},
	{"edge/...", "importer/..."},
	{"resolvers/..."},
	{"graph"},
	{"graph/plan", "graph/cost", "graph/reads"},
	{"accounts"},
	{"db/..."},
	{"task", "lru"},
	{"graph/model/..."},
}

// TestArrows holds the table of imports to the layers, so that a line of it can not allow an arrow up.
func TestArrows(t *testing.T) {
	t.Parallel()
	layer := func(name string) int {
		name = strings.TrimSuffix(name, "/...")
		i := slices.IndexFunc(layers, func(layer []string) bool { return permits(layer, name) })
		if i < 0 {
			t.Errorf("%s has no layer", name)
		}
		return i
	}
	for name, allowed := range mayImport {
		for _, imported := range allowed {
			from, to := layer(name), layer(imported)
			folder, _, _ := strings.Cut(imported, "/")
			if to < from || to == from && !permits([]string{folder + "/..."}, name) {
				t.Errorf("%s is not above %s and must not import it", name, imported)
			}
		}
	}
}

// keptTo says which packages alone may import what comes from outside.
var keptTo = map[string][]string{
	"github.com/jmoiron/sqlx":                {"db/..."},
	"github.com/lib/pq":                      {"db/..."},
	"modernc.org/sqlite":                     {"db/..."},
	"github.com/pressly/goose/v3":            {"db/schema"},
	"github.com/graph-gophers/dataloader/v7": {"resolvers/loader"},
	"net/http":                               {"rest", "edge/...", "server/...", "webhooks", "lookup", "web/...", "cmd/...", "examples/go"},
	"github.com/golang-jwt/jwt/v5":           {"accounts", "edge/auth"},
	"github.com/standard-webhooks/standard-webhooks/libraries/go": {"webhooks"},
	"github.com/rs/cors":                             {"server"},
	"github.com/coder/websocket":                     {"server/graphqlhttp/socket"},
	"github.com/swaggest/swgui/v5emb":                {"web"},
	"github.com/klauspost/compress/gzhttp":           {"edge/...", "server/...", "webhooks"},
	"github.com/prometheus/client_golang/prometheus": {"edge/...", "server/...", "webhooks"},
	"go.opentelemetry.io/otel/trace":                 {"server", "edge/telemetry"},
	"github.com/99designs/gqlgen/graphql":            {"graph/...", "edge/...", "server/..."}, // of graph/model for Omittable alone
	"github.com/vektah/gqlparser/v2/gqlerror":        {"graph", "graph/plan", "edge/...", "server/..."},
	"github.com/alecthomas/kong":                     {"cmd/..."},
	"github.com/xuri/excelize/v2":                    {}, // tests write spreadsheets
	"golang.org/x/text/encoding/charmap":             {"importer/source"},
}

// permits reports whether a package is one of patterns.
func permits(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		tree, below := strings.CutSuffix(pattern, "/...")
		return name == tree || below && strings.HasPrefix(name, tree+"/")
	})
}

// TestImports holds the packages to the tables above.
func TestImports(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	must(t, err)
	found := map[string]bool{}
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
		found[name] = true
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("%s is new: say in the table what it may import", name)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok && !permits(allowed, ours) {
				t.Errorf("%s must not import %s", name, ours)
			}
			if keepers, ok := keptTo[imported]; ok && !permits(keepers, name) {
				t.Errorf("%s must not import %s: only %s may", name, imported, strings.Join(keepers, ", "))
			}
		}
	}
	for name := range mayImport {
		if !found[name] {
			t.Errorf("%s is in the table and not in the module", name)
		}
	}
}

const (
	maxFiles = 20  // in a folder: more is two folders
	maxLines = 400 // of a file: more is two files
)

// roomy are the folders with more files, because their parts refer to each other.
var roomy = map[string]int{
	"db":          25, // methods of one Store: a file for each noun and for each thing that is done with it
	"graph/model": 26, // a file for each noun and each notion of the domain; its package comment has their order
}

// TestSizes keeps the folders and files of code small enough to find one's way in;
// tests and generated code are not counted.
func TestSizes(t *testing.T) {
	t.Parallel()
	const root = "../.."
	files := map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (path != root && strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".generated.go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, more than %d", path, n, maxLines)
		}
		files[filepath.Dir(path)]++
		return nil
	})
	must(t, err)
	for folder, n := range files {
		folder, _ = filepath.Rel(root, folder)
		if most := max(maxFiles, roomy[folder]); n > most {
			t.Errorf("%s has %d files of code, more than %d", folder, n, most)
		}
	}
}
