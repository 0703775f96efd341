package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// synonyms are names of commands and flags by those that other programs use.
var synonyms = map[string][]string{
	"rm": {"remove", "purge"}, "del": {"remove", "purge"}, "delete": {"remove", "purge"}, "ls": {"list"},
	"show": {"list", "config"},
	"new":  {"add", "create"}, "create": {"add"}, "add": {"create"}, "invite": {"add"}, "passwd": {"password"},
	"reset": {"password"},
	"start": {"serve"}, "run": {"serve"}, "server": {"serve"}, "load": {"import"}, "dump": {"export", "backup"},
	"check":    {"doctor", "healthcheck"},
	"settings": {"config"}, "upgrade": {"migrate"}, "update": {"migrate"}, "init": {"migrate"},
	"-v": {"--version"}, "-V": {"--version"}, "-p": {"--addr"}, "--port": {"--addr"}, "--host": {"--addr"},
	"--listen": {"--addr"}, "--bind": {"--addr"},
	"--db": {"--database-url"}, "--database": {"--database-url"},
}

// Explain adds to an error of the command line what may be meant, and the command that shows more. kong suggests names
// at an edit distance of two, so it takes every short flag for -h.
func Explain(err error, app *kong.Application) error {
	node := app.Node
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		node = parse.Context.Selected()
	}
	text, near, _ := strings.Cut(err.Error(), ", did you mean ")
	argument, isArgument := strings.CutPrefix(text, "unexpected argument ")
	flag, isFlag := strings.CutPrefix(text, "unknown flag ")
	var meant []string
	switch {
	case isArgument && len(node.Children) > 0:
		if meant = commandsNamed(node, synonyms[argument]); meant == nil && near == "" {
			meant = commandsNamed(app.Node, append([]string{argument}, synonyms[argument]...))
		}
	case isFlag:
		for _, f := range slices.Concat(node.AllFlags(true)...) {
			if slices.Contains(synonyms[flag], "--"+f.Name) {
				meant = append(meant, fmt.Sprintf("%q", "--"+f.Name))
			}
		}
	}
	switch {
	case len(meant) == 1:
		text += ", did you mean " + meant[0] + "?"
	case len(meant) > 1:
		text += ", did you mean one of " + strings.Join(meant, ", ") + "?"
	case near != "" && (!isFlag || strings.HasPrefix(flag, "--")):
		text += ", did you mean " + near
	case isArgument && len(node.Children) > 0:
		text += ", expected one of " + strings.Join(childNames(node), ", ")
	}
	return fmt.Errorf("%s (%s --help shows all commands and flags)", text, node.FullPath())
}

// commandsNamed returns the paths of the commands below a node that have one of the names, quoted.
func commandsNamed(node *kong.Node, names []string) (paths []string) {
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		if slices.Contains(names, child.Name) {
			paths = append(paths, fmt.Sprintf("%q", child.FullPath()))
		}
		paths = append(paths, commandsNamed(child, names)...)
	}
	return paths
}

func childNames(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		if !child.Hidden {
			names = append(names, child.Name)
		}
	}
	return names
}
