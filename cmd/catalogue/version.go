package main

import (
	"fmt"
	"io"

	"library-catalogue/cmd/catalogue/cli"
)

type versionCmd struct{ cli.OutputFlags }

func (c versionCmd) Run(std cli.Stdio) error {
	build := cli.ReadBuild()
	return c.Print(std.Out, build, func(out io.Writer) error {
		_, err := fmt.Fprintln(out, build)
		return err
	})
}
