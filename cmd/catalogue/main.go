// Command catalogue is the library catalogue service and its tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/cmd/catalogue/serve"
	"library-catalogue/cmd/catalogue/usage"
	"library-catalogue/graph/model"
	"library-catalogue/importer"
	"library-catalogue/importer/source"
	"library-catalogue/task"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	task.OnDone(ctx, stop) // a second signal ends the process
	os.Exit(report(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr), os.Stderr))
}

type commands struct {
	Version kong.VersionFlag `help:"Print the version."`

	Serve          serve.Command       `cmd:"" help:"Serve GraphQL at /graphql and REST at /api."`
	Import         importCmd           `cmd:"" help:"Import books from a file."`
	Export         exportCmd           `cmd:"" help:"Export all books as CSV or JSON."`
	Lookup         lookupCmd           `cmd:"" help:"Look up books by ISBN in other libraries."`
	Archive        archiveCmd          `cmd:"" help:"Create, restore or copy a whole catalogue."`
	DB             dbCmd               `cmd:"" name:"db" help:"Migrate, back up, restore or examine the database."`
	Webhook        webhookCmd          `cmd:"" help:"Send changes to other services by HTTP."`
	User           userCmd             `cmd:"" help:"Manage the people who sign in."`
	Config         serve.ConfigCommand `cmd:"" help:"Print every setting of serve, with its value and source."`
	Token          tokenCmd            `cmd:"" help:"Print a token for writes."`
	Schema         schemaCmd           `cmd:"" help:"Print the GraphQL schema."`
	Healthcheck    healthcheckCmd      `cmd:"" help:"Check that the running server is ready."`
	VersionCommand versionCmd          `cmd:"" name:"version" help:"Print the version, its commit and date."`

	Completion usage.CompletionCommand `cmd:"" help:"Print a script that completes commands and flags in bash, zsh or fish."`
	Man        usage.ManCommand        `cmd:"" help:"Print the manual page."`
	Help       helpCmd                 `cmd:"" help:"Show the commands, or the flags of one."`
	Complete   usage.CompleteCommand   `cmd:"" name:"__complete" passthrough:"" hidden:""`
}

// report writes the error of run to stderr and returns the exit code: 0, 1 for a problem that a command found,
// or 2 for an error.
func report(err error, stderr io.Writer) int {
	if code, ok := errors.AsType[cli.ExitCode](err); ok {
		return int(code)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "catalogue: %v\n", err)
	if _, ok := errors.AsType[cli.Found](err); ok {
		return 1
	}
	return 2
}

func run(ctx context.Context, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) error {
	env, std := cli.NewGetenv(environ), cli.Stdio{In: stdin, Out: stdout, Err: stderr}
	parser, err := newParser(env, std, kong.BindTo(ctx, (*context.Context)(nil)))
	if err != nil {
		return err
	}
	answered := false // by --help or --version, after which kong expects an exit
	parser.Exit = func(int) { answered = true }
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	command, err := parser.Parse(args)
	switch {
	case answered:
		return nil
	case err != nil:
		return usage.Explain(err, parser.Model)
	}
	log := std.Log()
	if own, ok := command.Selected().Target.Addr().Interface().(interface {
		Logger(io.Writer, cli.Getenv) *slog.Logger
	}); ok {
		log = own.Logger(std.Err, env)
	}
	for _, sentence := range usage.UnknownVariables(parser.Model, environ) {
		log.Warn(sentence)
	}
	return command.Run()
}

// helpCmd lists the command; run reads catalogue help COMMAND as catalogue COMMAND --help.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command."`
}

// newParser returns the parser of the command line. Flags that are not given come from env.
func newParser(env cli.Getenv, std cli.Stdio, options ...kong.Option) (*kong.Kong, error) {
	parser, err := kong.New(new(commands), append(options,
		kong.Name("catalogue"),
		kong.Description("A catalogue of books, genres and categories, by GraphQL and REST."),
		kong.Vars{
			"version": cli.ReadBuild().String(), "fields": strings.Join(model.ImportFields, ", "),
			"formats": strings.Join(importer.Formats, ","),
			"dates":   strings.Join(importer.DateOrders, ","), "decimals": strings.Join(importer.Decimals, ","),
			"encodings":  "auto," + strings.Join(source.Encodings, ","),
			"duplicates": strings.Join(importer.DuplicateRules, ","),
		},
		kong.Writers(std.Out, std.Err),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(usage.Help),
		kong.Resolvers(kong.ResolverFunc(fromEnvironment(env))),
		kong.Bind(std, env),
	)...)
	if err != nil {
		return nil, err
	}
	return parser, kong.Visit(parser.Model.Node, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			flag.Tag.Envs = nil // kong would read the environment of the process
		}
		return next(nil)
	})
}

// fromEnvironment returns a resolver that reads flags from env.
func fromEnvironment(env cli.Getenv) func(*kong.Context, *kong.Path, *kong.Flag) (any, error) {
	return func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		for _, name := range flag.Envs {
			text := env(name)
			if text == "" {
				continue
			}
			// kong parses the value too, but its error does not name the variable.
			scanner := kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: text})
			if err := flag.Parse(scanner, reflect.New(flag.Target.Type()).Elem()); err != nil {
				return nil, fmt.Errorf("%w (from the environment variable %s=%q)", err, name, text)
			}
			return text, nil
		}
		return nil, nil
	}
}
