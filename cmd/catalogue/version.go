package main

import (
	"fmt"

	"library-catalogue/cmd/catalogue/cli"
)

type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(std cli.Stdio) error {
	fmt.Fprintln(std.Out, cli.ReadBuild())
	return nil
}
