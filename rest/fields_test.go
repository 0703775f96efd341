package rest_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// TestFieldsInSchema wants each field where GraphQL's schema needs it. The inputs of upserts follow from the patches, and
// -update writes them. What the database needs is verified by Migrate.
func TestFieldsInSchema(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../graph/*.graphqls")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	var sources []*ast.Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		sources = append(sources, &ast.Source{Name: file, Input: string(text)})
	}
	schema, err := gqlparser.LoadSchema(sources...)
	must(t, err)
	const upserts = "../graph/upsert.graphqls"
	text, err := os.ReadFile(upserts)
	must(t, err)
	dbtest.Golden(t, upserts, withInputs(schema, string(text)))
	// has wants a field in a type, to be given or not.
	has := func(typename, field string, nonNull bool) {
		t.Helper()
		switch f := schema.Types[typename].Fields.ForName(field); {
		case f == nil:
			t.Errorf("graph/*.graphqls: %s has no field %s", typename, field)
		case f.Type.NonNull != nonNull:
			t.Errorf("graph/*.graphqls: %s.%s is %s", typename, field, f.Type)
		}
	}
	for name, entity := range model.Entities {
		for _, f := range entity.Fields {
			has(name, f.Name, !f.Nullable)
			if f.Is(model.Filterable) {
				has(name+"Filter", f.Name, false)
			}
			if f.Writable {
				// A new row's parent can be given in another way.
				has("Create"+name+"Input", f.Name, !f.Nullable && f.Kind != model.KindID)
				has(name+"Patch", f.Name, false)
			}
		}
		var orders []string
		for _, value := range schema.Types[name+"OrderField"].EnumValues {
			orders = append(orders, value.Name)
		}
		if diff := gocmp.Diff(entity.OrderNames(), orders); diff != "" {
			t.Errorf("graph/*.graphqls: %sOrderField (-fields +enum):\n%s", name, diff)
		}
	}
}

// TestFieldsInOpenAPI wants each field where openapi.yaml needs it. TestOpenAPIRoutes
// looks at sort.
func TestFieldsInOpenAPI(t *testing.T) {
	t.Parallel()
	doc, err := described()
	must(t, err)
	nested := map[string]string{"Book": "genre", "Genre": "category"}
	for name, entity := range model.Entities {
		answer, input := doc.Components.Schemas[name].Value, doc.Components.Schemas[name+"Input"].Value
		var shown, always, given, required []string
		for _, f := range entity.Fields {
			if f.Use&(model.InREST|model.OnInclude) == 0 {
				continue
			}
			shown = append(shown, f.Key)
			if f.Is(model.InREST) {
				always = append(always, f.Key)
			}
			if property := answer.Properties[f.Key]; property != nil && property.Value.Type.Includes("null") != f.Nullable {
				t.Errorf("openapi.yaml: %s.%s is nullable: %v", name, f.Key, !f.Nullable)
			}
			if f.Writable {
				given = append(given, f.Key)
				if !f.Nullable {
					required = append(required, f.Key)
				}
			}
		}
		if name == "Genre" {
			shown, always = append(shown, "genre_id"), append(always, "genre_id") // its own id
		}
		if nested[name] != "" {
			shown, always = append(shown, nested[name]), append(always, nested[name])
		}
		for _, part := range []struct {
			what      string
			want, got []string
		}{
			{name, shown, slices.Collect(maps.Keys(answer.Properties))},
			{name + ".required", always, answer.Required},
			{name + "Input", given, slices.Collect(maps.Keys(input.Properties))},
			{name + "Input.required", required, input.Required},
		} {
			want, got := slices.Sorted(slices.Values(part.want)), slices.Sorted(slices.Values(part.got))
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("openapi.yaml: %s (-fields +document):\n%s", part.what, diff)
			}
		}
	}
}

// withInputs replaces the inputs of upserts in a text of the schema. Their fields are those of the patches.
func withInputs(schema *ast.Schema, text string) string {
	for name, entity := range model.Entities {
		var lines strings.Builder
		for _, field := range schema.Types[name+"Patch"].Fields {
			f := entity.Field(field.Name)
			says, kind := field.Description, field.Type.Name()+"!"
			if f.Nullable {
				says, kind = says+" If absent, an existing "+strings.ToLower(name)+" keeps its "+f.Name+".", field.Type.Name()
			}
			fmt.Fprintf(&lines, "  %q\n  %s: %s\n", says, f.Name, kind)
		}
		input := regexp.MustCompile(`(?s)(input Upsert` + name + `Input \{\n[^\n]*\n  id: ID\n).*?(  "The version )`)
		text = input.ReplaceAllString(text, "${1}"+strings.ReplaceAll(lines.String(), "$", "$$")+"${2}")
	}
	return text
}

// withFields adds the fields that a text of openapi.yaml lacks.
func withFields(text string) string {
	lists := map[string]string{"Book": "Books", "Genre": "Genres", "Category": "Categories"}
	for name, entity := range model.Entities {
		var shown, always, given, required []string
		for _, f := range entity.Fields {
			if f.Use&(model.InREST|model.OnInclude) == 0 {
				continue
			}
			shown = append(shown, f.Key)
			if f.Is(model.InREST) {
				always = append(always, f.Key)
			}
			if f.Writable {
				given = append(given, f.Key)
			}
			if f.Writable && !f.Nullable {
				required = append(required, f.Key)
			}
		}
		text = withProperties(text, entity, name, "", shown, always)
		text = withProperties(text, entity, name+"Input", "Input", given, required)
		var sorts []string
		for _, order := range entity.OrderNames() {
			sorts = append(sorts, strings.ToLower(order))
		}
		enum := regexp.MustCompile(`(?s)(\n    ` + lists[name] + `Sort:\n.*?\n            \[).*?\]`)
		text = enum.ReplaceAllString(text, "${1}"+strings.Join(sorts, ", ")+",\n             -"+strings.Join(sorts, ", -")+"]")
	}
	return text
}

// withProperties adds properties to a schema of openapi.yaml, each after the one before it.
func withProperties(text string, entity *model.Entity, schema, suffix string, keys, required []string) string {
	block := regexp.MustCompile(`(\n    ` + schema + `:\n      type: object\n      required: \[)(.*?)(\](?:\n      example: .*)?\n      properties:\n)((?:        .*\n)+)`)
	parts := block.FindStringSubmatch(text)
	must := strings.Split(parts[2], ", ")
	must = withMissing(must, required)
	lines := strings.SplitAfter(parts[4], "\n")
	var properties, names []string // each with its further lines
	for _, line := range lines {
		switch {
		case line == "":
		case strings.HasPrefix(line, "         "):
			properties[len(properties)-1] += line
		default:
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			properties, names = append(properties, line), append(names, name)
		}
	}
	for _, name := range withMissing(names, keys) {
		if !slices.Contains(names, name) {
			f := entity.Fields[slices.IndexFunc(entity.Fields, func(f model.FieldInfo) bool { return f.Key == name })]
			at := slices.Index(withMissing(names, keys), name)
			names, properties = slices.Insert(names, at, name), slices.Insert(properties, at, "        "+name+": "+property(&f, suffix)+"\n")
		}
	}
	return strings.Replace(text, parts[0], parts[1]+strings.Join(must, ", ")+parts[3]+strings.Join(properties, ""), 1)
}

// withMissing adds to a list what it lacks of another, each after the one before it.
func withMissing(have, want []string) []string {
	have = slices.Clone(have)
	for i, name := range want {
		if !slices.Contains(have, name) {
			at := 0
			if i > 0 {
				at = slices.Index(have, want[i-1]) + 1
			}
			have = slices.Insert(have, at, name)
		}
	}
	return have
}

// property returns the schema of a field. A suffix of Input names the schemas of what a client may send.
func property(f *model.FieldInfo, suffix string) string {
	named := map[model.Kind]string{model.KindID: "Id", model.KindDate: "Day", model.KindCents: "Price", model.KindTimestamp: "Moment"}
	text := fmt.Sprintf("{type: integer, minimum: %d, maximum: %d}", f.Min, f.Max)
	switch name, isNamed := named[f.Kind]; {
	case f.Kind == model.KindText && f.Nullable:
		return fmt.Sprintf("{type: [string, 'null'], maxLength: %d}", f.Max)
	case f.Kind == model.KindText:
		text = fmt.Sprintf("{type: string, minLength: 1, maxLength: %d}", f.Max)
	case isNamed:
		text = "{$ref: '#/components/schemas/" + name + suffix + "'}"
	case suffix != "":
		text = "{oneOf: [" + text + `, {type: string, pattern: '^\s*[0-9]+\s*$'}]}`
	}
	if f.Nullable {
		return "{oneOf: [" + text + ", {type: 'null'}]}"
	}
	return text
}
