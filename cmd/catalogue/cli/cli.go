// Package cli has what the commands of catalogue share: standard streams, common flags and the version.
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

// Stdio holds the standard streams of a command.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Log returns the log of a command other than serve: text on standard error.
func (s Stdio) Log() *slog.Logger { return slog.New(slog.NewTextHandler(s.Err, nil)) }

// Getenv returns the value of an environment variable; "" is not set.
type Getenv func(name string) string

// NewGetenv returns a Getenv for environ, which has the form of os.Environ. The last value of a name wins.
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

// OutputFlags choose the format of a command's output.
type OutputFlags struct {
	JSON bool `help:"Print JSON."`
}

// Print writes value as JSON with --json, and else calls text.
func (f OutputFlags) Print(out io.Writer, value any, text func(io.Writer) error) error {
	if !f.JSON {
		return text(out)
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// ExitCode is an error that was already reported. Its value is the exit code.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Found is an error of the thing that a command examined, and not of the command. Its exit code is 1.
type Found struct{ Err error }

func (f Found) Error() string { return f.Err.Error() }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
