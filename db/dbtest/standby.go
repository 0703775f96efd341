package dbtest

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/lib/pq"
)

// Standby starts a synchronous standby of the cluster. From then on, commits wait for it.
func (c *Cluster) Standby(tb testing.TB) *Cluster {
	tb.Helper()
	standby := c.Replica(tb)
	c.execute(tb, `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	for synchronous := false; !synchronous; {
		const query = `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync') AND current_setting('synchronous_standby_names') = '*'`
		if err := c.admin.QueryRowContext(tb.Context(), query).Scan(&synchronous); err != nil {
			tb.Fatal(err)
		}
	}
	return standby
}

// Replica starts a standby of the cluster that commits do not wait for.
func (c *Cluster) Replica(tb testing.TB) *Cluster {
	tb.Helper()
	replica, err := fillCluster(place(), func(replica *Cluster) *exec.Cmd {
		return replica.command("pg_basebackup", "--pgdata=data", "--host="+c.dir, "--username=postgres",
			"--checkpoint=fast", "--write-recovery-conf", "--no-sync")
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := replica.stop(); err != nil {
			tb.Error(err)
		}
	})
	return replica
}

// Promote makes a standby a primary.
func (c *Cluster) Promote(tb testing.TB) {
	tb.Helper()
	c.execute(tb, `SELECT pg_promote()`)
}

// On returns the URL on this cluster of a database of another cluster.
func (c *Cluster) On(tb testing.TB, url string) string {
	tb.Helper()
	name, _, _ := strings.Cut(url[strings.LastIndex(url, "/catalogue_test_")+1:], "?")
	return c.urlOf(name)
}

// Freeze stops every process of the server until Thaw. The kernel still accepts connections, but
// the server does not respond.
func (c *Cluster) Freeze(tb testing.TB) {
	tb.Helper()
	tb.Cleanup(func() { c.Thaw(tb) })
	conn, err := c.admin.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	_ = c.postgres.Signal(syscall.SIGSTOP) // it starts no more processes, so the list is complete
	var pids pq.Int64Array
	if err := conn.QueryRowContext(tb.Context(),
		`SELECT array_agg(pid) FROM pg_stat_activity`).Scan(&pids); err != nil {
		tb.Fatal(err)
	}
	c.frozen = pids
	c.signal(syscall.SIGSTOP)
}

// Thaw continues a frozen server.
func (c *Cluster) Thaw(tb testing.TB) {
	tb.Helper()
	if err := c.postgres.Signal(syscall.SIGCONT); err == nil { // otherwise it has ended
		c.signal(syscall.SIGCONT)
	}
}

func (c *Cluster) signal(signal syscall.Signal) {
	for _, pid := range c.frozen {
		_ = syscall.Kill(int(pid), signal) // it may have ended
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
