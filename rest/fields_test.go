package rest_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph/model"
)

// TestFieldsInSchema wants each field where GraphQL's schema needs it. What the
// database needs is verified by Migrate.
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
				has("Upsert"+name+"Input", f.Name, !f.Nullable)
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
		var shown, given, required []string
		for _, f := range entity.Fields {
			if !f.Is(model.InREST) {
				continue
			}
			shown = append(shown, f.Key)
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
			shown = append(shown, "genre_id") // its own id
		}
		if nested[name] != "" {
			shown = append(shown, nested[name])
		}
		for _, part := range []struct {
			what      string
			want, got []string
		}{
			{name, shown, slices.Collect(maps.Keys(answer.Properties))},
			{name + ".required", shown, answer.Required},
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
