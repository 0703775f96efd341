package language

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template/parse"

	"golang.org/x/text/feature/plural"

	"library-catalogue/graph/model"
)

// found are the keys in use with a place that uses them. A plural has plural forms.
type found map[string]struct {
	place    string
	isPlural bool
}

// add adds a key, unless it is no text but the place of one.
func (f found) add(key, place string, isPlural bool) {
	if strings.Trim(verb.ReplaceAllString(key, ""), ". ") == "" {
		return
	}
	use := f[key]
	use.place, use.isPlural = place, use.isPlural || isPlural
	f[key] = use
}

// inTemplates adds the keys of calls of t, th and n.
func (f found) inTemplates(t *testing.T) {
	paths, err := filepath.Glob("../templates/*.html")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		trees := map[string]*parse.Tree{}
		tree := parse.New(path)
		tree.Mode = parse.SkipFuncCheck
		if _, err := tree.Parse(string(source), "", "", trees); err != nil {
			t.Fatal(err)
		}
		trees[path] = tree
		for _, tree := range trees {
			f.inNode(t, path, tree.Root)
		}
	}
}

func (f found) inNode(t *testing.T, path string, node parse.Node) {
	list := func(lists ...*parse.ListNode) {
		for _, l := range lists {
			if l != nil {
				for _, child := range l.Nodes {
					f.inNode(t, path, child)
				}
			}
		}
	}
	switch node := node.(type) {
	case *parse.ListNode:
		list(node)
	case *parse.IfNode:
		f.inNode(t, path, node.Pipe)
		list(node.List, node.ElseList)
	case *parse.RangeNode:
		f.inNode(t, path, node.Pipe)
		list(node.List, node.ElseList)
	case *parse.WithNode:
		f.inNode(t, path, node.Pipe)
		list(node.List, node.ElseList)
	case *parse.TemplateNode:
		if node.Pipe != nil {
			f.inNode(t, path, node.Pipe)
		}
	case *parse.ActionNode:
		f.inNode(t, path, node.Pipe)
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			f.inNode(t, path, command)
		}
	case *parse.CommandNode:
		for _, arg := range node.Args {
			f.inNode(t, path, arg)
		}
		name, isName := node.Args[0].(*parse.IdentifierNode)
		if !isName || len(node.Args) < 2 || !slices.Contains([]string{"t", "th", "n"}, name.Ident) {
			return
		}
		if text, ok := node.Args[1].(*parse.StringNode); ok {
			f.add(text.Text, path, name.Ident == "n")
		}
	}
}

// scriptKey matches a call of t or n with its key in a script.
var scriptKey = regexp.MustCompile(`[^\w.]([tn])\(\s*'((?:[^'\\]|\\.)*)'`)

// inScripts adds the keys of calls of t and n.
func (f found) inScripts(t *testing.T) {
	paths, err := filepath.Glob("../static/*.js")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range scriptKey.FindAllStringSubmatch(string(source), -1) {
			f.add(strings.NewReplacer(`\'`, `'`, `\\`, `\`, `\u202f`, "\u202f").Replace(match[2]), path, match[1] == "n")
		}
	}
}

// messages are the packages whose errors the pages show.
var messages = []string{"./accounts", "./db", "./db/changes", "./db/fault", "./edge/admission", "./edge/auth", "./edge/ratelimit", "./graph/model", "./importer/...", "./lookup", "./resolvers", "./server", "./server/accounthttp", "./server/imports", "./web/...", "./webhooks"}

// formats are the functions of graph/model that make messages, with the place of the format among their arguments.
var formats = map[string]int{"Errorf": 1, "Messagef": 0, "NewFieldError": 1, "Add": 1}

// inGo adds the constants of the types Key and PluralKey, and the formats of messages.
func (f found) inGo(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, messages...)...)
	list.Dir, list.Stderr = "../..", os.Stderr
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type pkg struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports, own := map[string]string{}, []pkg{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var p pkg
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			own = append(own, p)
		}
	}
	set := token.NewFileSet()
	config := types.Config{Importer: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })}
	for _, p := range own {
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			syntax = append(syntax, file)
		}
		info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
		if _, err := config.Check(p.ImportPath, set, syntax, &info); err != nil {
			t.Fatal(err)
		}
		for _, file := range syntax {
			ast.Inspect(file, func(node ast.Node) bool {
				var format ast.Expr
				switch node := node.(type) {
				case *ast.CallExpr:
					if len(node.Args) == 0 {
						return true
					}
					name, _ := node.Fun.(*ast.Ident)
					if selector, ok := node.Fun.(*ast.SelectorExpr); ok {
						name = selector.Sel
					}
					called := nameOf(name, info)
					if i, ok := formats[called]; ok {
						format = node.Args[i]
					}
					if field := info.Types[node.Args[0]].Value; called == "Add" && field != nil {
						f.add(words(constant.StringVal(field)), set.Position(node.Pos()).Filename, false)
					}
				case *ast.KeyValueExpr:
					if name, ok := node.Key.(*ast.Ident); ok && nameOf(name, info) == "Message" {
						format = node.Value
					}
				}
				if value := info.Types[format].Value; format != nil && value != nil {
					f.add(constant.StringVal(value), set.Position(format.Pos()).Filename, false)
				}
				return true
			})
		}
		for expression, value := range info.Types {
			if text := constantOf(value); fieldMessage.MatchString(text) {
				f.add(text, set.Position(expression.Pos()).Filename, false)
			}
			if named, ok := value.Type.(*types.Named); ok && value.Value != nil && value.Value.Kind() == constant.String {
				switch name := named.String(); name {
				case "library-catalogue/web/language.Key", "library-catalogue/web/language.PluralKey":
					if key := constant.StringVal(value.Value); key != "" {
						f.add(key, set.Position(expression.Pos()).Filename, strings.HasSuffix(name, ".PluralKey"))
					}
				}
			}
		}
	}
}

// fieldMessage matches messages about fields, which not all stand in calls.
var fieldMessage = regexp.MustCompile(`^The (%s field|selected %s) [^%]+( %[ds].*)?\.$`)

// constantOf returns a constant text, or "".
func constantOf(value types.TypeAndValue) string {
	if value.Value == nil || value.Value.Kind() != constant.String {
		return ""
	}
	return constant.StringVal(value.Value)
}

// words returns a field as messages name it.
func words(field string) string { return strings.ReplaceAll(field, "_", " ") }

// nameOf returns the name of an object of graph/model, or "".
func nameOf(name *ast.Ident, info types.Info) string {
	if object := info.Uses[name]; object != nil && object.Pkg() != nil && object.Pkg().Path() == "library-catalogue/graph/model" {
		return object.Name()
	}
	return ""
}

// inModel adds the labels of fields and the names of roles.
func (f found) inModel() {
	for _, field := range model.BookFields {
		if field.Writable && field.Kind != model.KindID {
			f.add(field.Label, "model.BookFields", false)
		}
		if field.Writable {
			f.add(words(field.Key), "model.BookFields", false)
		}
	}
	for _, noun := range []string{"Book", "Genre", "Category"} {
		f.add(noun, "db/fault", false)
	}
	for _, key := range model.ImportFields {
		f.add(model.ImportField(key).Label, "model.ImportFields", false)
	}
	for role := range model.Roles {
		f.add(string(role), "model.Roles", false)
	}
}

var (
	verb   = regexp.MustCompile(`%(?:\[\d\])?[sdq]`)
	markup = regexp.MustCompile(`</?[a-z][^>]*>`)
)

// parts returns the verbs and the tags of a text in order of the alphabet. A verb has its number.
func parts(text string) []string {
	all := markup.FindAllString(text, -1)
	for i, v := range verb.FindAllString(text, -1) {
		if !strings.Contains(v, "[") {
			v = "%[" + string(rune('1'+i)) + "]" + v[1:]
		}
		all = append(all, v)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestKeys compares the keys of each file with those in use. -update adds the missing ones without a text.
func TestKeys(t *testing.T) {
	f := found{}
	f.inTemplates(t)
	f.inScripts(t)
	f.inGo(t)
	f.inModel()
	for _, l := range All() {
		if l.Tag == Pseudo {
			continue
		}
		var texts map[string]any
		if err := json.Unmarshal(l.JSON, &texts); err != nil {
			t.Fatal(err)
		}
		known := maps.Clone(texts)
		needed := map[plural.Form]bool{}
		for n := range 200 {
			needed[plural.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)] = true
		}
		for key, use := range f {
			delete(known, key)
			if l.Tag == "en" && !use.isPlural {
				continue
			}
			formats := map[string]any{"other": texts[key]}
			if use.isPlural {
				formats, _ = texts[key].(map[string]any)
			}
			for name, form := range forms {
				text, _ := formats[name].(string)
				switch {
				case needed[form] && (use.isPlural || form == plural.Other) && text == "":
					if texts[key] == nil {
						texts[key] = ""
					}
					if use.isPlural {
						if formats == nil {
							formats = map[string]any{}
						}
						formats[name], texts[key] = "", formats
					}
					t.Errorf("%s has no text for %q, form %s (%s)", l.Tag, key, name, use.place)
				case text != "" && form == plural.Other && !slices.Equal(parts(text), parts(key)):
					t.Errorf("%s: %q has the parts %q, want %q of %q", l.Tag, text, parts(text), parts(key), key)
				}
			}
		}
		for key := range known {
			delete(texts, key)
			t.Errorf("%s has a text for %q, which no page uses", l.Tag, key)
		}
		if flag.Lookup("update").Value.String() == "true" { // of dbtest
			var out bytes.Buffer
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			if err := encoder.Encode(texts); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("texts/"+l.Tag+".json", out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
