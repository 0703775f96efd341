package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

// printBanner writes where the server is and what to try first. secret says that
// the server signs tokens itself, by tokenCommand.
func printBanner(w io.Writer, url string, secret bool, tokenCommand string) {
	fmt.Fprintf(w, `
Library Catalogue is running. Ctrl-C stops it.

  Catalogue   %[1]s/
  Playground  %[1]s/playground    GraphQL at /graphql
  Reference   %[1]s/api/docs      REST at /api

Try it:
  curl -s %[1]s/api/books/1
  curl -s %[1]s/graphql -H 'Content-Type: application/json' -d '{"query":"{ books(first: 3) { nodes { name genre { name category { name } } } } }"}'

`, url)
	if !secret {
		fmt.Fprintf(w, "Writes need a token of your issuer: -H \"Authorization: Bearer $TOKEN\"\n\n")
		return
	}
	fmt.Fprintf(w, "Writes need a token:\n  TOKEN=$(%s)\n  curl -s %s/api/categories -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{\"name\":\"Poetry\"}'\n\n",
		tokenCommand, url)
}

// tokenCommand returns the command that makes a token for this server, with those
// of the server's flags that decide about tokens. A secret is left out.
func (c *serveCmd) tokenCommand(command *kong.Context) string {
	text := program() + " token"
	for _, flag := range command.Selected().Flags {
		value := flag.Target.String()
		switch flag.Name {
		case "database-url":
			if c.keys() != nil {
				continue // the key is not beside it
			}
		case "jwt-secret":
			value = flag.PlaceHolder
		case "jwt-secret-file", "jwt-issuer", "jwt-audience":
		default:
			continue
		}
		if sourceOf(command, flag) == "flag" {
			text += " --" + flag.Name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	return text
}

// program returns how the user called this program.
func program() string {
	if strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		return "go run ./cmd/catalogue"
	}
	return os.Args[0]
}
