package graph_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// scalar is a value of a custom scalar.
type scalar interface {
	graphql.Unmarshaler
	graphql.Marshaler
}

var (
	chapter = regexp.MustCompile(`(?m)^## (\w+)\n`)
	example = regexp.MustCompile("(?m)^\\| `(.+)` \\| (.+) \\|$")
)

// scalarChapters returns the chapters of docs/scalars.md by scalar.
func scalarChapters(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../docs/scalars.md")
	if err != nil {
		t.Fatal(err)
	}
	chapters, texts := map[string]string{}, chapter.Split(string(page), -1)
	for i, match := range chapter.FindAllStringSubmatch(string(page), -1) {
		chapters[match[1]] = texts[i+1]
	}
	return chapters
}

// TestScalars reads and writes the examples of docs/scalars.md.
func TestScalars(t *testing.T) {
	t.Parallel()
	values := map[string]func() scalar{
		"Date": func() scalar { return new(model.Date) }, "DateTime": func() scalar { return new(model.Timestamp) },
		"Decimal": func() scalar { return new(model.Cents) }, "BigInt": func() scalar { return new(model.BigInt) },
	}
	for name, text := range scalarChapters(t) {
		examples := example.FindAllStringSubmatch(text, -1)
		if len(examples) < 3 || !strings.Contains(text, "**Range.**") {
			t.Errorf("%s has %d examples", name, len(examples))
		}
		for _, e := range examples {
			decoder := json.NewDecoder(strings.NewReader(e[1]))
			decoder.UseNumber()
			var request any
			if err := decoder.Decode(&request); err != nil {
				t.Fatal(err)
			}
			value, response := values[name](), new(bytes.Buffer)
			got := "refused"
			if value.UnmarshalGQL(request) == nil {
				value.MarshalGQL(response)
				got = "`" + response.String() + "`"
			}
			if got != e[2] {
				t.Errorf("%s: %s is answered as %s, want %s", name, e[1], got, e[2])
			}
		}
	}
}
