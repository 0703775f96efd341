package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/cmd/catalogue/cli"
)

// TestGlossary refuses the words to avoid of docs/glossary.md in help, errors, the schema, openapi.yaml and
// the documentation.
func TestGlossary(t *testing.T) {
	t.Parallel()
	const glossary = "docs/glossary.md"
	texts := map[string]string{}
	var avoid []string
	for _, p := range pages(t) {
		if p.name != glossary {
			texts[p.name] = p.text
			continue
		}
		for line := range strings.Lines(p.text) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
			column, hasWords := map[int]int{2: 0, 3: 2}[len(cells)] // another table is for translators
			if !hasWords || strings.HasPrefix(cells[0], "-") || cells[0] == " term " || cells[0] == " instead of " {
				continue
			}
			for word := range strings.SplitSeq(cells[column], ",") {
				if word = strings.TrimSpace(word); word != "" {
					avoid = append(avoid, regexp.QuoteMeta(word))
				}
			}
		}
	}
	if len(avoid) < 10 {
		t.Fatalf("%s has the words to avoid %q", glossary, avoid)
	}
	for _, pattern := range []string{"graph/*.graphqls", "rest/openapi.yaml"} {
		found, err := filepath.Glob("../../" + pattern)
		must(t, err)
		for _, path := range found {
			text, err := os.ReadFile(path)
			must(t, err)
			texts[path] = string(text)
		}
	}
	addHelp(t, texts)
	addErrors(t, texts)
	pattern := regexp.MustCompile(`(?i)\b(` + strings.Join(avoid, "|") + `)\b`)
	for name, text := range texts {
		for line := range strings.Lines(text) {
			if word := pattern.FindString(line); word != "" {
				t.Errorf("%s has %q, which %s says to avoid: %s", name, word, glossary, line)
			}
		}
	}
}

// addHelp adds the help of each command.
func addHelp(t *testing.T, texts map[string]string) {
	t.Helper()
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	for _, command := range parser.Model.Leaves(true) {
		text := command.Help + "\n"
		for _, flag := range command.Flags {
			text += flag.Help + "\n"
		}
		for _, argument := range command.Positional {
			text += argument.Help + "\n"
		}
		texts[command.FullPath()+" --help"] = text
	}
}

// addErrors adds the strings in calls of errors.New, fmt.Errorf and functions of such names, and in fields
// named Message.
func addErrors(t *testing.T, texts map[string]string) {
	t.Helper()
	for _, folder := range []string{"cmd", "db", "graph", "importer", "resolvers", "rest", "server", "web"} {
		err := filepath.WalkDir("../../"+folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".generated.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if field, isField := node.(*ast.KeyValueExpr); isField {
					key, _ := field.Key.(*ast.Ident)
					value, isLiteral := field.Value.(*ast.BasicLit)
					if key != nil && key.Name == "Message" && isLiteral {
						texts[path] += value.Value + "\n"
					}
					return true
				}
				call, isCall := node.(*ast.CallExpr)
				if !isCall {
					return true
				}
				name := ""
				switch function := call.Fun.(type) {
				case *ast.Ident:
					name = function.Name
				case *ast.SelectorExpr:
					name = function.Sel.Name
				}
				if !strings.HasSuffix(name, "Errorf") && name != "New" {
					return true
				}
				for _, argument := range call.Args {
					ast.Inspect(argument, func(node ast.Node) bool {
						if literal, isLiteral := node.(*ast.BasicLit); isLiteral && literal.Kind == token.STRING {
							texts[path] += literal.Value + "\n"
						}
						return true
					})
				}
				return true
			})
			return nil
		})
		must(t, err)
	}
}
