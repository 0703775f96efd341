package graph

import (
	"bytes"
	"fmt"

	"github.com/vektah/gqlparser/v2/formatter"
)

// The parser declares @defer, but no transport here sends a response in parts. GraphQL (September 2025) has no @defer.
func init() { delete(parsedSchema.Directives, "defer") }

// SDL returns the schema in the schema definition language.
func SDL() []byte {
	schema := parsedSchema
	var text bytes.Buffer
	if schema.Description != "" { // which the formatter omits
		fmt.Fprintf(&text, "%q\nschema {\n  query: Query\n  mutation: Mutation\n  subscription: Subscription\n}\n",
			schema.Description)
	}
	formatter.NewFormatter(&text, formatter.WithIndent("  ")).FormatSchema(schema)
	return text.Bytes()
}
