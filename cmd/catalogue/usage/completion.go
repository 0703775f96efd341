// Package usage documents the command line from its model: shell completion, the manual page, and warnings
// about unknown variables.
package usage

import (
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
)

//go:embed completion
var scripts embed.FS

// CompletionCommand is catalogue completion.
type CompletionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run implements the command.
func (c *CompletionCommand) Run(std cli.Stdio) error {
	script, err := scripts.ReadFile("completion/" + c.Shell)
	if err != nil {
		return err
	}
	_, err = std.Out.Write(script)
	return err
}

// CompleteCommand prints the candidates for the last word, one a line, each followed by a tab and its help. The
// completion scripts run it, and complete file names if it prints nothing. kong-completion would lose the help,
// the --no- flags and the arguments of help, and its scripts name the path of the program that printed them,
// which no package can install.
type CompleteCommand struct {
	Words []string `arg:"" optional:""`
}

// Run implements the command.
func (c *CompleteCommand) Run(command *kong.Context, std cli.Stdio) error {
	_, err := io.WriteString(std.Out, candidates(command.Model.Node, joinValues(c.Words)))
	return err
}

// joinValues joins words that bash splits at =.
func joinValues(words []string) (joined []string) {
	for i, word := range words {
		if n := len(joined); n > 0 && (word == "=" || i > 0 && words[i-1] == "=") {
			joined[n-1] += word
		} else {
			joined = append(joined, word)
		}
	}
	return joined
}

// candidates returns the lines for the last of words, below a node.
func candidates(node *kong.Node, words []string) string {
	if len(words) == 0 {
		return ""
	}
	last := words[len(words)-1]
	var value *kong.Value // of the flag before, if the word is its value
	arguments := 0
	flags := slices.Clone(node.Flags)
	for i, word := range words[:len(words)-1] {
		name, isFlag := strings.CutPrefix(word, "--")
		switch {
		case value != nil:
			value = nil
		case isFlag:
			if flag := findFlag(flags, name); flag != nil && !flag.IsBool() {
				value = flag.Value
			}
		case i == 0 && word == "help":
		default:
			child := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word })
			if child < 0 {
				arguments++
				continue
			}
			node = node.Children[child]
			flags = append(flags, node.Flags...)
		}
	}
	var lines strings.Builder
	add := func(word, help string) {
		if strings.HasPrefix(word, last) {
			help, _, _ = strings.Cut(help, "\n")
			lines.WriteString(word + "\t" + help + "\n")
		}
	}
	addValues := func(prefix string, value *kong.Value) {
		if value.Enum == "" {
			return
		}
		for _, word := range value.EnumSlice() {
			if word != "" {
				add(prefix+word, "")
			}
		}
	}
	name, _, hasValue := strings.Cut(last, "=")
	switch {
	case value != nil:
		addValues("", value)
	case strings.HasPrefix(last, "--") && hasValue:
		if flag := findFlag(flags, name[len("--"):]); flag != nil {
			addValues(name+"=", flag.Value)
		}
	case strings.HasPrefix(last, "-"):
		for _, flag := range flags {
			if flag.Hidden {
				continue
			}
			add("--"+flag.Name, flag.Help)
			if flag.Tag.Negatable != "" {
				add("--no-"+flag.Name, flag.Help)
			}
		}
	case arguments < len(node.Positional):
		addValues("", node.Positional[arguments])
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				add(child.Name, child.Help)
			}
		}
	}
	return lines.String()
}

func findFlag(flags []*kong.Flag, name string) *kong.Flag {
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return flags[i]
}
