package dbtest

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Standby starts a copy of the cluster, without which no commit is acknowledged from
// now on.
func (c *Cluster) Standby(tb testing.TB) *Cluster {
	tb.Helper()
	standby, err := fillCluster(place(), func(standby *Cluster) *exec.Cmd {
		return standby.command("pg_basebackup", "--pgdata=data", "--host="+c.dir, "--username=postgres",
			"--checkpoint=fast", "--write-recovery-conf", "--no-sync")
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := standby.stop(); err != nil {
			tb.Error(err)
		}
	})
	c.execute(tb, `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	for synchronous := false; !synchronous; {
		const query = `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync') AND current_setting('synchronous_standby_names') = '*'`
		if err := c.admin.QueryRowContext(tb.Context(), query).Scan(&synchronous); err != nil {
			tb.Fatal(err)
		}
	}
	return standby
}

// Promote makes a standby a server of its own, which has the other's databases.
func (c *Cluster) Promote(tb testing.TB) {
	tb.Helper()
	c.execute(tb, `SELECT pg_promote()`)
}

// On returns the URL of a database of another cluster as it is called on this one.
func (c *Cluster) On(tb testing.TB, url string) string {
	tb.Helper()
	name, _, _ := strings.Cut(url[strings.LastIndex(url, "/catalogue_test_")+1:], "?")
	return c.urlOf(name)
}

// Freeze stops every process of the server until Thaw: the kernel still takes
// connections, and nobody answers.
func (c *Cluster) Freeze(tb testing.TB) {
	tb.Helper()
	c.signal(tb, syscall.SIGSTOP)
	tb.Cleanup(func() { c.signal(tb, syscall.SIGCONT) })
}

// Thaw lets a frozen server go on.
func (c *Cluster) Thaw(tb testing.TB) { tb.Helper(); c.signal(tb, syscall.SIGCONT) }

func (c *Cluster) signal(tb testing.TB, signal syscall.Signal) {
	tb.Helper()
	if err := c.postgres.Signal(signal); err != nil {
		return // it has ended
	}
	children, err := exec.Command("pgrep", "-P", strconv.Itoa(c.postgres.Pid)).Output()
	if err != nil {
		tb.Error("pgrep: ", err)
		return
	}
	for _, child := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(child)
		if err != nil {
			tb.Error(err)
			return
		}
		_ = syscall.Kill(pid, signal) // it may have ended since
	}
}

func (c *Cluster) execute(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, statement := range statements {
		if _, err := c.admin.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatal(statement, ": ", err)
		}
	}
}
