// Package cli is what the commands of catalogue share: where they read and write, the
// flags that more than one of them has, and the version.
package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"

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

// ExitCode is an error that was reported already, with the code to end with.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
