package serve

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"library-catalogue/accounts"
	"library-catalogue/cmd/catalogue/cli"
)

// printBanner writes the addresses of the server, and commands that work in its folder and environment.
// secret reports whether tokens are signed with the server's own secret.
func (c *Command) printBanner(w io.Writer, url string, secret bool, command *kong.Context) {
	home := "Catalogue "
	if !c.Page {
		home = "Links     "
	}
	fmt.Fprintf(w, `
Library Catalogue is running. Ctrl-C stops it.

  %[2]s  %[1]s/
  Playground  %[1]s/playground    GraphQL at /graphql
  Reference   %[1]s/api/docs      REST at /api

Try it:
  curl -s '%[1]s/api/books?per_page=3'
`, url, home)
	if c.TrustedDocuments == "" {
		fmt.Fprintf(w, `  curl -s %s/graphql -H 'Content-Type: application/json' -d '{"query":"{ books(first: 3) { nodes { name genre { name category { name } } } } }"}'
`, url)
	}
	switch {
	case secret:
		condition := ""
		if c.JWTSecret != "" {
			condition = ", signed with the server's secret in CATALOGUE_JWT_SECRET"
		}
		fmt.Fprintf(w, `
Writes need a token%[3]s:
  TOKEN=$(%[2]s)
  curl -s %[1]s/api/categories -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"Poetry"}'

`, url, c.tokenCommand(command), condition)
	case c.OIDCClientID != "" && c.Page:
		fmt.Fprintf(w, "\nWrites need a token of %s: log in at the pages.\n\n", c.OIDCIssuer)
	case c.Accounts == "on":
		fmt.Fprintf(w, "\nWrites need an account: %s user add NAME --role=editor\nPrograms use a token: -H \"Authorization: Bearer $TOKEN\"\n\n", program())
	default:
		fmt.Fprint(w, "\nWrites need a token of your issuer: -H \"Authorization: Bearer $TOKEN\"\n\n")
	}
}

// logFirstAccount logs how to make an account if there is none.
func logFirstAccount(ctx context.Context, service *accounts.Service, log *slog.Logger) {
	list, err := service.List(accounts.WithCommandLine(ctx))
	if err == nil && len(list) == 0 { // requests report an error
		log.Info("no account yet: run `" + fromOutside(os.DirFS("/")) + " user add NAME --role=admin`")
	}
}

// fromOutside returns the command that runs this program from the host of its container, which files of root show.
func fromOutside(root fs.FS) string {
	host, _ := os.Hostname() // the id of a container, or the name of a pod
	for _, container := range []struct{ file, command string }{
		{"var/run/secrets/kubernetes.io", "kubectl exec " + host + " --"},
		{".dockerenv", "docker exec " + host},
		{"run/.containerenv", "podman exec " + host},
	} {
		if _, err := fs.Stat(root, container.file); err == nil {
			return container.command + " " + os.Args[0]
		}
	}
	return "catalogue"
}

// printFirstLink prints the link that makes the first admin of an SQLite catalogue. It prints it on a terminal only,
// because logs are kept and read by others. Otherwise the log says how to make an account.
func (c *Command) printFirstLink(ctx context.Context, w io.Writer, url string, service *accounts.Service, log *slog.Logger) error {
	if _, local := c.SQLiteFile(); !local || c.LogFormat == "json" || !cli.IsTerminal(w) {
		logFirstAccount(ctx, service, log)
		return nil
	}
	secret, err := service.FirstLink(accounts.WithCommandLine(ctx))
	if err == nil && secret != "" {
		fmt.Fprintf(w, "Make the first account, in the browser:\n  %s/welcome#%s\n\n", url, secret)
	}
	return err
}

// tokenCommand returns the command that prints a token for this server, with the server's settings for
// tokens, except the secret.
func (c *Command) tokenCommand(command *kong.Context) string {
	text := program() + " token"
	for _, flag := range command.Selected().Flags {
		switch flag.Name {
		case "database-url":
			if c.Keys() != nil {
				continue // the key is not derived from the database
			}
		case "jwt-secret-file", "jwt-issuer", "jwt-audience":
		default:
			continue
		}
		if value := flag.Target.String(); value != "" {
			text += " --" + flag.Name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	return text
}

// program returns the command that started this program.
func program() string {
	if strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		return "go run ./cmd/catalogue"
	}
	return os.Args[0]
}
