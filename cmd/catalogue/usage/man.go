package usage

import (
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"

	"library-catalogue/cmd/catalogue/cli"
)

const precedence = "A flag overrides its environment variable, which overrides the default. " +
	"catalogue help COMMAND shows the flags of one command."

const exitStatus = `* 0: The command succeeded.
* 1: The command succeeded and found a problem, like a rejected row or a server that is not ready.
* 2: The command failed.
The last line of standard error says why, and what to do.`

// ManCommand is catalogue man.
type ManCommand struct{}

// Run implements the command.
func (ManCommand) Run(command *kong.Context, std cli.Stdio) error {
	for _, leaf := range command.Model.Leaves(true) {
		for _, argument := range leaf.Positional { // mango-kong omits them
			leaf.Help += " " + argument.Summary() + ": " + argument.Help
		}
		for _, flag := range leaf.Flags {
			flag.Help = Help(flag.Value)
		}
	}
	page := mangokong.NewManPage(1, command.Model).WithLongDescription(precedence).WithSection("Exit status", exitStatus)
	heading, text, _ := strings.Cut(page.Build(&document{Document: roff.NewDocument()}), "\n")
	text = strings.ReplaceAll(text, "-", `\-`) // else troff prints hyphens, which no shell reads
	_, err := io.WriteString(std.Out, heading+"\n"+text)
	return err
}

// document is a manual page with the date of the build, and with each flag in a paragraph.
type document struct {
	*roff.Document
	bold string // the last text in bold
}

// Heading implements mango.Builder.
func (d *document) Heading(section uint, title, _ string, _ time.Time) {
	built, _ := time.Parse(time.RFC3339, cli.ReadBuild().Date)
	d.Document.Heading(section, title, "", built)
}

// TextBold implements mango.Builder.
func (d *document) TextBold(text string) {
	d.bold = text
	d.Document.TextBold(text)
}

// Indent implements mango.Builder.
func (d *document) Indent(n int) {
	d.Document.Indent(n)
	if d.bold == "OPTIONS" || d.bold == "COMMANDS" {
		d.TaggedParagraph(-1)
	}
}

// Help returns the help of a flag with its environment variable.
func Help(value *kong.Value) string {
	if value.Flag == nil || len(value.Flag.Envs) == 0 {
		return value.Help
	}
	return strings.TrimSuffix(value.Help, ".") + " ($" + value.Flag.Envs[0] + ")."
}
