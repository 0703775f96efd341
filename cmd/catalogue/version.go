package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

// Run implements the command.
func (versionCmd) Run(std stdio) error {
	fmt.Fprintln(std.out, readBuild())
	return nil
}

// build is what the Go linker knows about this program.
type build struct {
	version  string // the tag, or a pseudo-version of the commit
	commit   string // "" where git was not asked
	date     string // of the commit
	modified bool   // the tree had changes besides
	compiler string // the version of Go
}

func readBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build{version: "unknown"}
	}
	b := build{version: info.Main.Version, compiler: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = s.Value
		case "vcs.time":
			b.date = s.Value
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// String returns the version on one line.
func (b build) String() string {
	text := "catalogue " + b.version
	if b.commit != "" {
		text += ", commit " + b.commit
		if b.modified {
			text += " with changes"
		}
		text += " of " + b.date
	}
	return text + ", " + b.compiler
}
