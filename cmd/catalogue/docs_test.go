package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph"
)

// page is a page of the documentation.
type page struct {
	name   string // path from the repository's root
	text   string
	blocks []block
}

// block is a fenced block of a page.
type block struct{ info, text string }

var fence = regexp.MustCompile("(?ms)^ *```([^\n]*)\n(.*?)^ *```$")

// mermaidKeyword matches a node whose name is a keyword of Mermaid, which draws no picture then.
var mermaidKeyword = regexp.MustCompile(`\b(graph|flowchart|end|class|style|click)(\[| *-->)`)

// pages returns the documentation.
func pages(t *testing.T) (all []page) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md", "examples/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		must(t, err)
		for _, path := range found {
			text, err := os.ReadFile(path)
			must(t, err)
			p := page{name: strings.TrimPrefix(path, "../../"), text: string(text)}
			for _, match := range fence.FindAllStringSubmatch(p.text, -1) {
				p.blocks = append(p.blocks, block{match[1], match[2]})
			}
			all = append(all, p)
		}
	}
	return all
}

// TestExamples runs the commands and GraphQL operations of each page, from top to bottom, in a folder with the
// sample as catalogue.db. A server has that database open if the page asks one.
func TestExamples(t *testing.T) {
	t.Parallel()
	bin := filepath.Dir(linkSelf(t))
	must(t, os.Symlink(filepath.Join(bin, "catalogue"), filepath.Join(bin, "curl")))
	for _, p := range pages(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			var script strings.Builder
			var operations []string
			for _, b := range p.blocks {
				switch b.info {
				case "sh":
					script.WriteString(b.text)
				case "sh norun":
					shell := exec.Command("sh", "-n")
					shell.Stdin = strings.NewReader(b.text)
					if out, err := shell.CombinedOutput(); err != nil {
						t.Errorf("%v: %s\n%s", err, out, b.text)
					}
				case "graphql":
					operations = append(operations, b.text)
				case "mermaid":
					if found := mermaidKeyword.FindString(b.text); found != "" {
						t.Errorf("Mermaid takes %q as a keyword: give the node another name", found)
					}
				case "sql", "ini", "nginx", "caddyfile", "go", "json", "text", "ts", "yaml":
				default:
					t.Errorf("a block is marked %q: use sh, sh norun, graphql or the name of its language", b.info)
				}
			}
			if script.Len()+len(operations) == 0 {
				return
			}
			folder := t.TempDir()
			examples, err := filepath.Abs("../../examples")
			must(t, err)
			must(t, os.Symlink(examples, filepath.Join(folder, "examples")))
			must(t, os.Symlink(bin, filepath.Join(folder, "bin")))
			must(t, os.Mkdir(filepath.Join(folder, "backups"), 0o700))
			database := "--database-url=sqlite:" + filepath.Join(folder, "catalogue.db")
			url, _, stop := serving(t, io.Discard, database, "--sample", "--introspection=true", "--rate=0",
				"--lookup=http://127.0.0.1:1/?query={isbn}")
			catalogue(t, 0, "", "db", "backup", database, filepath.Join(folder, "backups", "catalogue-20261124T020000Z.db"))
			token := strings.TrimSpace(catalogue(t, 0, "", "token", database))
			for _, operation := range operations {
				body, err := json.Marshal(map[string]string{"query": operation})
				must(t, err)
				if answer := ask(t, url, token, string(body)); strings.Contains(answer, `"errors":`) {
					t.Errorf("%s\n%s", operation, answer)
				}
			}
			if !strings.Contains(script.String(), ":8080") {
				stop()
			}
			address := strings.TrimPrefix(url, "http://")
			shell := exec.Command("sh", "-eux")
			shell.Dir = folder
			shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "CATALOGUE_ADDR=" + address, "GORACE=atexit_sleep_ms=10"}
			shell.Stdin = strings.NewReader(strings.NewReplacer("localhost:8080", address, "127.0.0.1:8080", address,
				"/backups/", folder+"/backups/").Replace(script.String()))
			if out, err := shell.CombinedOutput(); err != nil || strings.Contains(string(out), `"errors":`) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// ask posts a GraphQL request and returns the response's body.
func ask(t *testing.T, url, token, body string) string {
	t.Helper()
	request, err := http.NewRequest(http.MethodPost, url+"/graphql", strings.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return string(text)
}

var (
	link    = regexp.MustCompile(`\]\(([^)#: ]*)(?:#([^)]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	signs   = regexp.MustCompile(`[^\pL\d _-]`)
	code    = regexp.MustCompile("`([a-z]+/[a-z_/]+\\.(?:go|graphqls|yaml))`")
)

// TestLinks checks that the files and headings behind relative links exist, and source files that pages name.
// docs/README.md must have a link to every page of docs.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	anchors := map[string][]string{}
	for _, p := range all {
		for _, match := range heading.FindAllStringSubmatch(p.text, -1) {
			anchor := strings.ReplaceAll(signs.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-")
			anchors[p.name] = append(anchors[p.name], anchor)
		}
	}
	var index []string
	for _, p := range all {
		for _, match := range code.FindAllStringSubmatch(p.text, -1) {
			if _, err := os.Stat("../../" + match[1]); err != nil {
				t.Errorf("%s names %s, which does not exist", p.name, match[1])
			}
		}
		for _, match := range link.FindAllStringSubmatch(p.text, -1) {
			target := p.name
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(p.name), match[1])
			}
			if _, err := os.Stat("../../" + target); err != nil {
				t.Errorf("%s has a link to %s, which does not exist", p.name, target)
			}
			if match[2] != "" && !slices.Contains(anchors[target], match[2]) {
				t.Errorf("%s has a link to %s#%s, which does not exist", p.name, target, match[2])
			}
			if p.name == "docs/README.md" {
				index = append(index, target)
			}
		}
	}
	for _, p := range all {
		if filepath.Dir(p.name) == "docs" && p.name != "docs/README.md" && !slices.Contains(index, p.name) {
			t.Errorf("docs/README.md has no link to %s", p.name)
		}
	}
}

// TestSettings checks that docs/settings.md lists each setting of serve once, with its default, and no other.
func TestSettings(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/settings.md")
	must(t, err)
	defaults := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(CATALOGUE_[A-Z_]+)` \\| [^|]+ \\| ([^|]*)\\|").FindAllStringSubmatch(string(text), -1) {
		if _, twice := defaults[row[1]]; twice {
			t.Errorf("%s is listed twice", row[1])
		}
		defaults[row[1]] = row[2]
	}
	for _, flag := range serveFlags(t) {
		got, listed := defaults[flag.Envs[0]]
		if !listed {
			t.Errorf("%s is not listed", flag.Envs[0])
		}
		if flag.HasDefault && flag.Default != "" && !strings.HasPrefix(got, "`"+flag.Default+"`") {
			t.Errorf("%s has the default %s, and is listed with %s", flag.Envs[0], flag.Default, got)
		}
		delete(defaults, flag.Envs[0])
	}
	for name := range defaults {
		t.Errorf("serve has no %s", name)
	}
}

// TestEmbeddedTypes compares the types in docs/app.md that Graphcache stores by no key with those of the schema.
func TestEmbeddedTypes(t *testing.T) {
	t.Parallel()
	var want []string
	for name, of := range graph.NewExecutableSchema(graph.Config{}).Schema().Types {
		isWritten := regexp.MustCompile("^(__.*|Query|Mutation|Subscription|Row.*Error|.*(Payload|Result))$").MatchString(name)
		isPage := regexp.MustCompile("^(PageInfo|.*(Connection|Edge))$").MatchString(name) // which Graphcache knows
		if of.Kind == ast.Object && !isWritten && !isPage && of.Fields.ForName("id") == nil {
			want = append(want, name)
		}
	}
	slices.Sort(want)
	text, err := os.ReadFile("../../docs/app.md")
	must(t, err)
	_, list, _ := strings.Cut(string(text), "const embedded = [")
	list, _, _ = strings.Cut(list, "]")
	if got := regexp.MustCompile(`\w+`).FindAllString(list, -1); !slices.Equal(got, want) {
		t.Errorf("docs/app.md has %v, want %v", got, want)
	}
}

// TestErrorCodes wants the table of codes in docs/graphql.md to have the values of the enum ErrorCode, each once.
// docs/app.md has some of them.
func TestErrorCodes(t *testing.T) {
	t.Parallel()
	var want []string
	for _, value := range graph.NewExecutableSchema(graph.Config{}).Schema().Types["ErrorCode"].EnumValues {
		want = append(want, value.Name)
	}
	slices.Sort(want)
	for page, isWhole := range map[string]bool{"graphql.md": true, "app.md": false} {
		text, err := os.ReadFile("../../docs/" + page)
		must(t, err)
		_, table, _ := strings.Cut(string(text), "\n| code |")
		table, _, _ = strings.Cut(table, "\n\n")
		var got []string
		for _, row := range strings.Split(table, "\n") {
			codes, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
			for _, code := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(codes, -1) {
				got = append(got, code[1])
			}
		}
		for _, code := range got {
			if !slices.Contains(want, code) {
				t.Errorf("docs/%s has the code %s, which ErrorCode has not", page, code)
			}
		}
		if slices.Sort(got); isWhole && !slices.Equal(got, want) {
			t.Errorf("docs/%s has the codes %v, want %v", page, got, want)
		}
	}
}
