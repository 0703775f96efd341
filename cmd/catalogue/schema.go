package main

import (
	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/graph"
)

type schemaCmd struct{}

func (schemaCmd) Run(std cli.Stdio) error {
	_, err := std.Out.Write(graph.SDL())
	return err
}
