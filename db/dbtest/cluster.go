package dbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Cluster is a temporary PostgreSQL server of this test binary. It listens on a
// Unix socket in its own folder, so that no two can want the same port, and its
// time zone is not UTC, so that no test passes by that accident.
type Cluster struct {
	*server
	bin      string // where initdb and postgres are
	dir      string
	owner    *syscall.Credential
	settings []string

	janitor *exec.Cmd
	alive   *os.File // to the janitor's standard input
	held    *os.File // open in every process of the server

	postgres *os.Process
	frozen   []int64       // process ids of the server that Freeze stopped
	output   bytes.Buffer  // what postgres printed; read once it has exited
	exited   chan struct{} // closed when the last process of the server is gone
}

// Durable starts a cluster for one test, which keeps what it has committed when
// it is killed. It is always on this machine, whatever
// CATALOGUE_TEST_DATABASE_URL says.
func Durable(tb testing.TB) *Cluster {
	tb.Helper()
	if testing.Short() {
		tb.Skip("-short: SQLite only")
	}
	c, err := newCluster()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.stop(); err != nil {
			tb.Error(err)
		}
	})
	return c
}

// Database returns the URL of a fresh empty database, which goes with the cluster.
func (c *Cluster) Database(tb testing.TB) string {
	tb.Helper()
	name, err := c.create("template0")
	if err != nil {
		tb.Fatal(err)
	}
	return c.urlOf(name)
}

// Dumped returns the URL of a database that was restored from a dump of the one at url,
// which is of this cluster.
func (c *Cluster) Dumped(tb testing.TB, url string) string {
	tb.Helper()
	restored := c.Database(tb)
	for _, cmd := range []*exec.Cmd{
		c.command("pg_dump", "--format=custom", "--file=dump", url),
		c.command("pg_restore", "--exit-on-error", "--no-owner", "--dbname="+restored, "dump"),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%v: %s", err, out)
		}
	}
	return restored
}

// Kill ends the server by SIGKILL and comes back when its last process is gone.
func (c *Cluster) Kill(tb testing.TB) {
	tb.Helper()
	if err := c.postgres.Kill(); err != nil {
		tb.Fatal(err)
	}
	<-c.exited
}

// Start starts a killed server again, at the same URLs, and comes back when it
// has recovered and takes connections.
func (c *Cluster) Start(tb testing.TB) {
	tb.Helper()
	if err := c.start(); err != nil {
		tb.Fatal(err)
	}
}

// newCluster makes a cluster and starts it, with settings written "name=value".
func newCluster(settings ...string) (*Cluster, error) {
	return newClusterIn(place(), settings...)
}

func newClusterIn(folder string, settings ...string) (*Cluster, error) {
	return fillCluster(folder, initdb, settings...)
}

// fillCluster makes a cluster of the data that fill puts into it.
func fillCluster(folder string, fill func(*Cluster) *exec.Cmd, settings ...string) (_ *Cluster, err error) {
	c := &Cluster{settings: settings}
	if c.bin, err = binaries(installed...); err != nil {
		return nil, err
	}
	if c.owner, err = owner(); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp(folder, "catalogue-test-"); err != nil {
		return nil, err
	}
	if err := c.startJanitor(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	if err := os.Chown(c.dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
		return nil, err
	}
	query := url.Values{"host": {c.dir}, "port": {"5432"}, "user": {"postgres"}, "sslmode": {"disable"}}
	c.server, err = open(&url.URL{Scheme: "postgres", Path: "/postgres", RawQuery: query.Encode()})
	if err != nil {
		return nil, err
	}
	if out, err := fill(c).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the data of a cluster: %w\n%s", err, out)
	}
	return c, c.start()
}

// initdb makes an empty cluster. Text is ordered by bytes but its letters are
// Unicode's, as on a server made with C.UTF-8, a name that macOS does not know.
func initdb(c *Cluster) *exec.Cmd {
	ctype := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		ctype = "UTF-8"
	}
	return c.command("initdb", "--pgdata=data", "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--lc-ctype="+ctype, "--no-sync")
}

// place is the folder for clusters: memory where the machine has plenty, since a
// database is 300 files, which some disks take a quarter of a second to make.
// It is never os.TempDir, whose path may be too long for a socket and closed to
// the server's user.
func place() string {
	const memory, plenty = "/dev/shm", 4 << 30
	var space syscall.Statfs_t
	if err := syscall.Statfs(memory, &space); err == nil && space.Bavail*uint64(space.Bsize) >= plenty {
		return memory
	}
	return "/tmp"
}

// start starts the server and waits until it takes connections.
func (c *Cluster) start() error {
	arguments := []string{"-D", "data", "-k", c.dir, "-p", "5432"}
	for _, setting := range append([]string{
		"listen_addresses=", "max_connections=100", "shared_buffers=32MB", "max_wal_size=64MB",
		"timezone=Asia/Kolkata", "log_min_messages=fatal",
	}, c.settings...) {
		arguments = append(arguments, "-c", setting)
	}
	c.output.Reset()
	postgres := c.command("postgres", arguments...)
	postgres.Stdout, postgres.Stderr = &c.output, &c.output
	if err := postgres.Start(); err != nil {
		return err
	}
	fmt.Fprintln(c.alive, postgres.Process.Pid)
	exited := make(chan struct{})
	go func() {
		// Wait reads the output to its end, and every process of the server has
		// that open: it comes back when all of them are gone. Until then this
		// goroutine keeps c's pipes from being collected, which would close them.
		_ = postgres.Wait()
		fmt.Fprintln(c.alive)
		close(exited)
	}()
	c.postgres, c.exited = postgres.Process, exited
	return c.ready()
}

func (c *Cluster) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := c.admin.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-c.exited:
			return fmt.Errorf("postgres did not start:\n%s", &c.output)
		case <-ctx.Done():
			return fmt.Errorf("postgres takes no connections after a minute: %w", err)
		}
	}
}

// janitor is a shell script that clears a cluster away when the test binary
// ends, however that happens: returning, by a panic, or killed. Its input then
// ends, having had one line each time the server started (its process) or ended
// (empty). Descriptor 3 ends with the last process that writes in the folder.
const janitor = `
while read -r line; do postgres=$line; done
test -z "$postgres" || kill -QUIT "$postgres" && kill -CONT "$postgres"
read -r line <&3
rm -rf "$1"`

func (c *Cluster) startJanitor() error {
	input, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	c.alive = alive
	ended, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ended.Close()
	c.held = held

	c.janitor = exec.Command("/bin/sh", "-c", janitor, "janitor", c.dir)
	c.janitor.Stdin = input
	c.janitor.ExtraFiles = []*os.File{ended}
	c.janitor.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the tests alone
	return c.janitor.Start()
}

// stop has the janitor do its work now, and waits for it.
func (c *Cluster) stop() error {
	if c.server != nil {
		_ = c.admin.Close()
	}
	c.alive.Close()
	c.held.Close()
	return c.janitor.Wait()
}

// command is one of PostgreSQL's programs, to be run in the cluster's folder as
// its owner, with none of the PG… variables that the tests may be run with.
func (c *Cluster) command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), arguments...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.ExtraFiles = []*os.File{c.held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.owner}
	return cmd
}

// owner is whom PostgreSQL's programs run as: the caller, but for root, as whom
// they refuse to run.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid()), NoSetGroups: true}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres or nobody: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
