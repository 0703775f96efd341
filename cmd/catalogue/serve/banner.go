package serve

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"library-catalogue/accounts"
	"library-catalogue/cmd/catalogue/cli"
)

// printBanner prints the addresses of the server, and commands that work in its folder and environment.
func (p *process) printBanner(url string, command *kong.Context) {
	w := p.std.Out
	home := "Catalogue "
	if !p.Page {
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
	if p.TrustedDocuments == "" {
		fmt.Fprintf(
			w, `  curl -s %s/graphql -H 'Content-Type: application/json' -d '{"query":"{ books(first: 3) { nodes { name genre { name category { name } } } } }"}'
`, url)
	}
	switch {
	case p.tokens.Secret != nil: // the server's own secret signs tokens
		condition := ""
		if p.JWTSecret != "" {
			condition = ", signed with the server's secret in CATALOGUE_JWT_SECRET"
		}
		fmt.Fprintf(w, `
Writes need a token%[3]s:
  TOKEN=$(%[2]s)
  curl -s %[1]s/api/categories -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"name":"Poetry"}'

`, url, p.tokenCommand(command), condition)
	case p.OIDCClientID != "" && p.Page:
		fmt.Fprintf(w, "\nWrites need a token of %s: log in at the pages.\n\n", p.OIDCIssuer)
	case p.Accounts == "on":
		fmt.Fprintf(w, "\nWrites need an account: %s user add NAME --role=editor\nPrograms use a token: -H "+
			"\"Authorization: Bearer $TOKEN\"\n\n", program())
	default:
		fmt.Fprint(w, "\nWrites need a token of your issuer: -H \"Authorization: Bearer $TOKEN\"\n\n")
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
func (p *process) printFirstLink(ctx context.Context, url string) error {
	ctx = accounts.WithCommandLine(ctx)
	if _, local := p.SQLiteFile(); !local || p.LogFormat == "json" || !cli.IsTerminal(p.std.Out) {
		list, err := p.cfg.Accounts.List(ctx)
		if err == nil && len(list) == 0 { // requests report an error
			p.log.Info("no account yet: run `" + fromOutside(os.DirFS("/")) + " user add NAME --role=admin`")
		}
		return nil
	}
	secret, err := p.cfg.Accounts.FirstLink(ctx)
	if err == nil && secret != "" {
		fmt.Fprintf(p.std.Out, "Make the first account, in the browser:\n  %s/welcome#%s\n\n", url, secret)
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
