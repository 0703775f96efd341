package db

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

const sqlitePrefix = "sqlite:"

// CheckURL tells what is wrong with the form of a database URL, or that there is no
// folder for the file of an SQLite one. It connects to nothing, and no error has a
// part of the URL in it that may be a password.
func CheckURL(text string) error {
	if path, ok := strings.CutPrefix(text, sqlitePrefix); ok {
		if path == "" || path == ":memory:" {
			return errors.New("the database URL must name a file: sqlite:catalogue.db")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return fmt.Errorf("the folder %s does not exist: make it first", filepath.Dir(path))
		}
		return nil
	}
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return errors.New("the database URL must begin with sqlite: or postgres://, for example sqlite:catalogue.db")
	}
	if u, err := url.Parse(text); err != nil || strings.Contains(u.EscapedPath(), "@") { // a / of the password ends the host
		return errors.New("the database URL is not a URL: write postgres://USER:PASSWORD@HOST:5432/NAME, with special characters percent-encoded")
	}
	return nil
}
