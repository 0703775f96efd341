package graph_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestSchemaIsServed reads the whole schema as tools do: each thing that a client
// sees has a description and a name of its kind, and each scalar says where it is
// specified.
func TestSchemaIsServed(t *testing.T) {
	t.Parallel()
	type named struct{ Name, Description string }
	const document = `{ __schema { types { kind name description specifiedByURL fields(includeDeprecated: true) { name description args { name description } }
		inputFields { name description } enumValues(includeDeprecated: true) { name description } } } }`
	const rfc3339, specification = "https://www.rfc-editor.org/rfc/rfc3339#section-5.6", "https://spec.graphql.org/October2021/#sec-Scalars"
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		var served struct {
			Schema struct {
				Types []struct {
					named
					Kind           string
					SpecifiedByURL string
					Fields         []struct {
						named
						Args []named
					}
					InputFields, EnumValues []named
				}
			} `json:"__schema"`
		}
		servertest.Unmarshal(t, c.Get(t, document, ""), &served)
		check := func(of, pattern string, n named) {
			if n.Description == "" || !regexp.MustCompile(pattern).MatchString(n.Name) {
				t.Errorf("%s%s is described as %q", of, n.Name, n.Description)
			}
		}
		const typename, field, value = `^[A-Z][a-zA-Z]*$`, `^[a-z][a-zA-Z]*$`, `^[A-Z]+(_[A-Z]+)*$`
		specified := map[string]string{}
		for _, of := range served.Schema.Types {
			if strings.HasPrefix(of.Name, "__") {
				continue
			}
			check("", typename, of.named)
			if of.SpecifiedByURL != "" {
				specified[of.Name] = of.SpecifiedByURL
			}
			for _, f := range of.Fields {
				check(of.Name+".", field, f.named)
				for _, argument := range f.Args {
					check(of.Name+"."+f.Name+".", field, argument)
				}
			}
			for _, f := range of.InputFields {
				check(of.Name+".", field, f)
			}
			for _, v := range of.EnumValues {
				check(of.Name+".", value, v)
			}
		}
		want := map[string]string{"Date": rfc3339, "DateTime": rfc3339, "Decimal": specification, "BigInt": specification}
		if diff := cmp.Diff(want, specified); diff != "" {
			t.Errorf("where scalars are specified (-want +got):\n%s", diff)
		}
	})
}
