package cli

import (
	"runtime/debug"
)

// Build describes the build of this program.
type Build struct {
	Version  string `json:"version"`  // the tag, or a pseudo-version of the commit
	Commit   string `json:"commit"`   // "" without git
	Date     string `json:"date"`     // the commit's, RFC 3339
	Modified bool   `json:"modified"` // the tree had uncommitted changes
	Compiler string `json:"compiler"` // the version of Go
}

// ReadBuild returns the build of the running program.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "unknown"}
	}
	b := Build{Version: info.Main.Version, Compiler: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String returns the version on one line.
func (b Build) String() string {
	text := "catalogue " + b.Version
	if b.Commit != "" {
		text += ", commit " + b.Commit
		if b.Modified {
			text += " with changes"
		}
		text += " of " + b.Date
	}
	return text + ", " + b.Compiler
}
