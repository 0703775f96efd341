package main

import (
	"github.com/vektah/gqlparser/v2/formatter"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/graph"
)

type schemaCmd struct{}

func (schemaCmd) Run(std cli.Stdio) error { //nolint:unparam // kong needs an error
	formatter.NewFormatter(std.Out, formatter.WithIndent("  ")).
		FormatSchema(graph.NewExecutableSchema(graph.Config{}).Schema())
	return nil
}
