package usage

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
)

const precedence = "A flag overrides its environment variable, which overrides the default. " +
	"catalogue help COMMAND shows the flags of one command."

var exitStatus = []string{
	"0", "The command succeeded.",
	"1", "The command succeeded and found a problem, like a rejected row or a server that is not ready.",
	"2", "The command failed. The last line of standard error says why, and what to do.",
}

// ManCommand is catalogue man.
type ManCommand struct{}

// Run implements the command.
func (ManCommand) Run(command *kong.Context, std cli.Stdio) error {
	var p page
	built, _, _ := strings.Cut(cli.ReadBuild().Date, "T")
	p.line(`.TH CATALOGUE 1 "` + built + `" catalogue`)
	p.line(".SH NAME", "catalogue - "+command.Model.Help)
	p.line(".SH SYNOPSIS", "catalogue COMMAND [ARGUMENTS] [FLAGS]")
	p.line(".SH DESCRIPTION", precedence)
	p.line(".SH OPTIONS")
	p.flags(command.Model.Flags)
	p.line(".SH COMMANDS")
	for _, leaf := range command.Model.Leaves(true) {
		p.term(strings.TrimPrefix(leaf.Summary(), "catalogue "), leaf.Help)
		if len(leaf.Positional)+len(leaf.Flags) == 0 {
			continue
		}
		p.line(".RS")
		for _, argument := range leaf.Positional {
			p.term(argument.Summary(), argument.Help)
		}
		p.flags(leaf.Flags)
		p.line(".RE")
	}
	p.line(".SH EXIT STATUS")
	for i := 0; i < len(exitStatus); i += 2 {
		p.term(exitStatus[i], exitStatus[i+1])
	}
	_, err := io.WriteString(std.Out, p.String())
	return err
}

// page is a manual page in man(7).
type page struct{ strings.Builder }

// escape keeps troff from reading text as requests. A plain - would become a hyphen, which no shell reads.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// line adds a request and lines of text.
func (p *page) line(request string, text ...string) {
	p.WriteString(request + "\n")
	for _, t := range text {
		p.WriteString(escape.Replace(t) + "\n")
	}
}

// term adds a term in bold and its description.
func (p *page) term(name, help string) { p.line(".TP\n\\fB"+escape.Replace(name)+`\fP`, help) }

func (p *page) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if !flag.Hidden {
			p.term(flag.Summary(), Help(flag.Value))
		}
	}
}

// Help returns the help of a flag with its environment variable.
func Help(value *kong.Value) string {
	if value.Flag == nil || len(value.Flag.Envs) == 0 {
		return value.Help
	}
	return strings.TrimSuffix(value.Help, ".") + " ($" + value.Flag.Envs[0] + ")."
}
