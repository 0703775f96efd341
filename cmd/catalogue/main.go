// Command catalogue is the library catalogue service and its tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// cli is the command line.
type cli struct {
	Serve       serveCmd       `cmd:"" help:"Serve GraphQL at /graphql and REST at /api."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database's schema up to date, or show where it stands."`
	Import      importCmd      `cmd:"" help:"Read books from a CSV or JSON Lines file."`
	Export      exportCmd      `cmd:"" help:"Write all books as CSV or JSON Lines."`
	Config      configCmd      `cmd:"" help:"Print every setting of serve, its value, and where that came from."`
	Token       tokenCmd       `cmd:"" help:"Print a token for writes."`
	Schema      schemaCmd      `cmd:"" help:"Print the GraphQL schema."`
	Healthcheck healthcheckCmd `cmd:"" help:"Ask the running server whether it is ready."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

// stdio is where a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// exitCode is an error that was reported already, with the code to end with.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// run runs one command and gives the exit code: 0, 1 for what a command gives
// it, 2 for an error.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) (code int) {
	parser, err := kong.New(new(cli),
		kong.Name("catalogue"),
		kong.Description("A catalogue of books, genres and categories, by GraphQL and REST."),
		kong.Writers(out, errOut),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Exit(func(n int) { panic(exitCode(n)) }), // --help; kong expects not to come back
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(stdio{in, out, errOut}),
	)
	if err != nil {
		panic(err) // the tags of cli are wrong
	}
	defer func() {
		if asked, ok := recover().(exitCode); ok {
			code = int(asked)
		}
	}()
	command, err := parser.Parse(args)
	if err == nil {
		err = command.Run()
	} else {
		err = fmt.Errorf("%w (catalogue --help shows all commands and flags)", err)
	}
	if reported, ok := errors.AsType[exitCode](err); ok {
		return int(reported)
	}
	if err != nil {
		fmt.Fprintf(errOut, "catalogue: %v\n", err)
		return 2
	}
	return 0
}
