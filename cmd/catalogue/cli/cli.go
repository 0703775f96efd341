// Package cli is what the commands of catalogue share: where they read and write, the
// flags that more than one of them has, and the version.
package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// Stdio is where a command reads and writes.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Log returns the log of a command that is no server: text beside its errors.
func (s Stdio) Log() *slog.Logger { return slog.New(slog.NewTextHandler(s.Err, nil)) }

// Getenv returns the value of an environment variable; "" is not set.
type Getenv func(name string) string

// NewGetenv returns the variables of environ, as of os.Environ. Of several of one name it
// is the last.
func NewGetenv(environ []string) Getenv {
	return func(name string) string {
		for _, variable := range slices.Backward(environ) {
			if value, ok := strings.CutPrefix(variable, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

// OutputFlags say how a command prints its data.
type OutputFlags struct {
	JSON bool `help:"Print JSON."`
}

// Print writes value as JSON where that is wanted, else what text writes.
func (f OutputFlags) Print(out io.Writer, value any, text func(io.Writer) error) error {
	if !f.JSON {
		return text(out)
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// ExitCode is an error that was reported already, with the code to end with.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Found is an error of what a command looked at, and not of the command.
type Found struct{ Err error }

func (f Found) Error() string { return f.Err.Error() }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
