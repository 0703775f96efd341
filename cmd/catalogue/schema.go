package main

import (
	"github.com/vektah/gqlparser/v2/formatter"

	"library-catalogue/graph"
)

type schemaCmd struct{}

// Run implements the command.
func (schemaCmd) Run(std stdio) error {
	formatter.NewFormatter(std.out, formatter.WithIndent("  ")).
		FormatSchema(graph.NewExecutableSchema(graph.Config{}).Schema())
	return nil
}
