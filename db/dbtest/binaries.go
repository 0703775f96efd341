package dbtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// installed is where PostgreSQL's server is commonly put: Debian, Red Hat,
// Homebrew on either processor, Postgres.app, its own Makefile.
var installed = []string{
	"/usr/lib/postgresql/[1-9][0-9]/bin",
	"/usr/pgsql-[1-9][0-9]/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/[1-9][0-9]/bin",
	"/usr/local/pgsql/bin",
}

var errNoServer = errors.New("these tests need PostgreSQL: install its server (Debian: apt-get install postgresql; " +
	"macOS: brew install postgresql), or set " + serverVariable +
	" to the URL of a server in which databases may be created")

// binaries gives the folder that holds both initdb and postgres: the one on
// PATH, else pg_config's, else the newest of the folders that patterns match.
// Where there is none, Debian's is installed if the caller may do that.
func binaries(patterns ...string) (string, error) {
	dir, err := find(patterns)
	if err == nil {
		return dir, nil
	}
	apt, missing := exec.LookPath("apt-get")
	if missing != nil || os.Geteuid() != 0 {
		return "", err
	}

	// The test binaries of several packages come here at the same moment.
	lock, err := os.Open("/var/lib/dpkg")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", err
	}
	if dir, err := find(patterns); err == nil {
		return dir, nil
	}
	if err := install(apt); err != nil {
		return "", fmt.Errorf("%w (tried: %w)", errNoServer, err)
	}
	return find(patterns)
}

func find(patterns []string) (string, error) {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		dirs = append(dirs, filepath.Dir(path))
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range patterns {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		slices.Reverse(matches)
		dirs = append(dirs, matches...)
	}
	for _, dir := range dirs {
		_, noInitdb := exec.LookPath(filepath.Join(dir, "initdb"))
		_, noPostgres := exec.LookPath(filepath.Join(dir, "postgres"))
		if noInitdb == nil && noPostgres == nil {
			return dir, nil
		}
	}
	return "", errNoServer
}

// install installs Debian's package, without the running cluster that comes
// with it by default.
func install(apt string) error {
	const settings = "/etc/postgresql-common/createcluster.conf"
	if err := os.MkdirAll(filepath.Dir(settings), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(settings, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = file.WriteString("create_main_cluster = false\n")
		err = errors.Join(err, file.Close())
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	for _, arguments := range [][]string{
		{"update"},
		{"install", "--yes", "--no-install-recommends", "postgresql"},
	} {
		cmd := exec.Command(apt, append([]string{"-o", "DPkg::Lock::Timeout=600"}, arguments...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w\n%s", arguments[0], err, out)
		}
	}
	return nil
}
