package graph_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// schema is the schema as clients read it.
type schema struct {
	Description string
	Types       []struct {
		named
		Kind           string
		SpecifiedByURL string
		Fields         []struct {
			named
			Args []argument
		}
		InputFields []argument
		EnumValues  []named
	}
}

type named struct{ Name, Description string }

type argument struct {
	named
	Type         struct{ Kind string }
	DefaultValue *string
}

// introspect reads the whole schema as tools do.
func introspect(t *testing.T, url string) (s schema) {
	t.Helper()
	const document = `{ __schema { description types { kind name description specifiedByURL
		fields(includeDeprecated: true) { name description args { ...argument } }
		inputFields { ...argument } enumValues(includeDeprecated: true) { name description } } } }
		fragment argument on __InputValue { name description type { kind } defaultValue }`
	var served struct {
		Schema schema `json:"__schema"`
	}
	servertest.Unmarshal(t, servertest.Serve(t, url).Get(t, document, ""), &served)
	return served.Schema
}

// TestSchemaIsServed checks that each thing that a client sees has a description and a name of its
// kind, and that each custom scalar leads to its chapter of docs/scalars.md.
func TestSchemaIsServed(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		check := func(of, pattern string, n named) {
			if n.Description == "" || !regexp.MustCompile(pattern).MatchString(n.Name) {
				t.Errorf("%s%s is described as %q", of, n.Name, n.Description)
			}
		}
		const typename, field, value = `^[A-Z][a-zA-Z]*$`, `^[a-z][a-zA-Z]*$`, `^[A-Z]+(_[A-Z]+)*$`
		served, specified := introspect(t, url), map[string]string{}
		if served.Description == "" {
			t.Error("the schema is not described")
		}
		for _, of := range served.Types {
			if strings.HasPrefix(of.Name, "__") {
				continue
			}
			check("", typename, of.named)
			if of.Kind == "SCALAR" && !slices.Contains([]string{"ID", "Int", "Float", "String", "Boolean"}, of.Name) {
				specified[of.Name] = of.SpecifiedByURL
			}
			for _, f := range of.Fields {
				check(of.Name+".", field, f.named)
				for _, a := range f.Args {
					check(of.Name+"."+f.Name+".", field, a.named)
				}
			}
			for _, f := range of.InputFields {
				check(of.Name+".", field, f.named)
			}
			for _, v := range of.EnumValues {
				check(of.Name+".", value, v)
			}
		}
		checkDefaults(t, served)
		want := map[string]string{}
		for name := range maps.Keys(scalarChapters(t)) {
			want[name] = "https://w3id.org/library-catalogue/scalars#" + strings.ToLower(name)
		}
		if diff := cmp.Diff(want, specified); diff != "" {
			t.Errorf("where scalars are specified (-want +got):\n%s", diff)
		}
	})
}

// checkDefaults checks where the sizes of pages have their defaults: in the schema, but for a list with last, whose
// first must not have a value of its own.
func checkDefaults(t *testing.T, s schema) {
	t.Helper()
	ofConnection := map[string]string{
		"first":  "Number of rows from the start: 20 by default, at most 1,000.",
		"last":   "Number of rows from the end, in place of first.",
		"offset": "Number of rows to skip.",
	}
	for _, of := range s.Types {
		for _, f := range of.Fields {
			isConnection := slices.ContainsFunc(f.Args, func(a argument) bool { return a.Name == "last" })
			for _, a := range f.Args {
				sentence, isSize := ofConnection[a.Name]
				hasDefault := a.Type.Kind == "NON_NULL" && a.DefaultValue != nil
				switch {
				case !isSize:
				case isConnection && (a.DefaultValue != nil || a.Type.Kind != "SCALAR" || a.Description != sentence):
					t.Errorf("%s.%s(%s) has a default, or is described as %q", of.Name, f.Name, a.Name, a.Description)
				case !isConnection && (!hasDefault || strings.Contains(a.Description, "default")):
					t.Errorf("%s.%s(%s) has no default, or is described as %q", of.Name, f.Name, a.Name, a.Description)
				}
			}
		}
	}
}
