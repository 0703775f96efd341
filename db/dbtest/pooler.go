package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// poolers are the usual places of pgbouncer, which PATH often lacks.
var poolers = []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer", "/usr/local/bin/pgbouncer"}

// pooler returns the program pgbouncer.
func pooler(tb testing.TB) string {
	tb.Helper()
	for _, place := range poolers {
		if path, err := exec.LookPath(place); err == nil {
			return path
		}
	}
	tb.Fatal("this test needs the package pgbouncer: run make postgres, which installs it (macOS: brew install " +
		"pgbouncer); go test -short does without")
	return ""
}

// PoolerPrepares reports whether the setting max_prepared_statements is known, which pgbouncer has since 1.21.
func PoolerPrepares(tb testing.TB) bool {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), pooler(tb), "--version").Output()
	var major, minor int
	if _, scanned := fmt.Sscanf(string(out), "PgBouncer %d.%d", &major, &minor); err != nil || scanned != nil {
		tb.Fatalf("pgbouncer --version: %q, %v", out, errors.Join(err, scanned))
	}
	return major > 1 || minor >= 21
}

// Pooler starts pgbouncer in transaction mode before the cluster, with a number of connections to
// each database. It loses prepared statements, unless a setting says otherwise. It returns the URL
// through it of a database of the cluster. pgbouncer ends with the test.
func (c *Cluster) Pooler(tb testing.TB, direct string, size int, settings ...string) string {
	tb.Helper()
	if PoolerPrepares(tb) {
		settings = append([]string{"max_prepared_statements = 0"}, settings...)
	}
	dir, err := os.MkdirTemp(c.dir, "pooler-")
	if err != nil {
		tb.Fatal(err)
	}
	config := fmt.Sprintf(
		"[databases]\n* = host=%s port=5432\n[pgbouncer]\nlisten_addr =\nlisten_port = 5432\nunix_socket_dir = %s\n"+
			"auth_type = trust\nauth_file = users\npool_mode = transaction\ndefault_pool_size = %d\n%s\n", c.dir, dir,
		size, strings.Join(settings, "\n"))
	for name, content := range map[string]string{"users": `"postgres" ""`, "pgbouncer.ini": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Chown(dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
		tb.Fatal(err)
	}
	// The shell ends pgbouncer when its input closes, also if the test binary is killed.
	cmd := exec.Command("/bin/sh", "-c", `"$0" -q pgbouncer.ini & read -r line; kill -KILL $!`, pooler(tb))
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.owner}
	alive, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		alive.Close()
		_ = cmd.Wait()
	})
	u, err := url.Parse(direct)
	if err != nil {
		tb.Fatal(err)
	}
	query := u.Query()
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	awaitPooler(tb, u.String())
	return u.String()
}

// awaitPooler waits until the pooler accepts connections.
func awaitPooler(tb testing.TB, url string) {
	tb.Helper()
	program, err := sql.Open("postgres", url)
	if err != nil {
		tb.Fatal(err)
	}
	defer program.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for err = program.PingContext(ctx); err != nil; err = program.PingContext(ctx) {
		select {
		case <-again.C:
		case <-ctx.Done():
			tb.Fatal("pgbouncer accepted no connections within a minute: ", err)
		}
	}
}
