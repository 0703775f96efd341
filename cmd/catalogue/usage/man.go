package usage

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
)

// ManCommand is catalogue man.
type ManCommand struct{}

// Run implements the command.
func (ManCommand) Run(command *kong.Context, std cli.Stdio) error {
	_, err := io.WriteString(std.Out, manPage(command.Model))
	return err
}

// manPage returns the manual page, in the macros of man(7).
func manPage(model *kong.Application) string {
	build := cli.ReadBuild()
	date, _, _ := strings.Cut(build.Date, "T")
	var page strings.Builder
	line := func(macro, text string) {
		if page.WriteString(macro); macro != "" {
			page.WriteString(" ")
		}
		page.WriteString(roff(text) + "\n")
	}
	fmt.Fprintf(&page, ".TH CATALOGUE 1 %q %q\n", date, roff(model.Name+" "+build.Version))
	line(".SH", "NAME")
	line("", model.Name+" - "+strings.ToLower(model.Help[:1])+strings.TrimSuffix(model.Help[1:], "."))
	line(".SH", "SYNOPSIS")
	line(".B", model.Name)
	line("", "COMMAND [FLAGS]")
	line(".SH", "DESCRIPTION")
	line("", "A flag goes before its environment variable, which goes before the default. catalogue help COMMAND shows the flags of one command.")
	line(".SH", "COMMANDS")
	for _, command := range model.Leaves(true) {
		line(".SS", command.Summary())
		line("", command.Help)
		for _, argument := range command.Positional {
			line(".TP\n.I", argument.Name)
			line("", argument.Help)
		}
		for _, flag := range command.Flags {
			line(".TP\n.B", flag.String())
			line("", helpOf(flag))
		}
	}
	line(".SH", "EXIT STATUS")
	for _, status := range exitStatus {
		line(".TP\n.B", status.code)
		line("", status.meaning)
	}
	return page.String()
}

// exitStatus is what the program may end with.
var exitStatus = []struct{ code, meaning string }{
	{"0", "The command did what it should."},
	{"1", "The command did it, and found what needs a look: rows that are rejected, a server that is not ready."},
	{"2", "The command did not do it, and says why, and what to do."},
}

// helpOf returns the help of a flag with its variable.
func helpOf(flag *kong.Flag) string {
	if len(flag.Envs) == 0 {
		return flag.Help
	}
	return flag.Help + " Environment: " + flag.Envs[0] + "."
}

// roff returns a text as troff reads it.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
