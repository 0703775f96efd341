package servertest

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"sync"
)

// Log collects the log of a server.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger returns a logger that writes to l.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Has reports whether the log contains text.
func (l *Log) Has(text string) bool {
	return strings.Contains(l.String(), text)
}

// Find returns the lines that match a regular expression.
func (l *Log) Find(pattern string) string {
	return strings.Join(regexp.MustCompile(`(?m)^.*`+pattern+`.*$`).FindAllString(l.String(), -1), "\n")
}

// String returns the whole log.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
