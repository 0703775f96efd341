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

// Cluster is a temporary PostgreSQL server of this test binary. It listens on a Unix socket in its
// own folder, so that ports cannot collide. Its time zone is not UTC, so that tests cannot depend
// on UTC.
type Cluster struct {
	*server
	bin      string // folder of initdb and postgres
	dir      string
	kept     bool // the folder and its data stay when the server ends
	owner    *syscall.Credential
	settings []string

	janitor *exec.Cmd
	alive   *os.File // pipe to the janitor's standard input
	held    *os.File // pipe that every process of the server inherits

	postgres *os.Process
	frozen   []int64       // processes of the server that Freeze stopped
	output   bytes.Buffer  // output of postgres; read it after exited is closed
	exited   chan struct{} // closed after the last process of the server has ended
}

// Durable starts a cluster for one test that keeps its commits when it is killed. It ignores
// CATALOGUE_TEST_DATABASE_URL.
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

// Database returns the URL of a new empty database, which ends with the cluster.
func (c *Cluster) Database(tb testing.TB) string {
	tb.Helper()
	name, err := c.create("template0")
	if err != nil {
		tb.Fatal(err)
	}
	return c.urlOf(name)
}

// Dumped dumps a database of this cluster, restores it into a new one, and returns that URL.
func (c *Cluster) Dumped(tb testing.TB, url string) string {
	tb.Helper()
	return c.DumpedInto(tb, url, c)
}

// DumpedInto is Dumped, but restores the dump into another cluster.
func (c *Cluster) DumpedInto(tb testing.TB, url string, to *Cluster) string {
	tb.Helper()
	restored := to.Database(tb)
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

// Kill kills the server and waits for its last process.
func (c *Cluster) Kill(tb testing.TB) {
	tb.Helper()
	if err := c.postgres.Kill(); err != nil {
		tb.Fatal(err)
	}
	<-c.exited
}

// Start starts a killed server at the same URLs and waits until it has recovered.
func (c *Cluster) Start(tb testing.TB) {
	tb.Helper()
	if err := c.start(); err != nil {
		tb.Fatal(err)
	}
}

// newCluster creates and starts a cluster with settings "name=value".
func newCluster(settings ...string) (*Cluster, error) {
	return newClusterIn(place(), settings...)
}

func newClusterIn(folder string, settings ...string) (*Cluster, error) {
	return fillCluster(folder, initdb, settings...)
}

// fillCluster creates and starts a cluster in a new folder. fill creates its data.
func fillCluster(folder string, fill func(*Cluster) *exec.Cmd, settings ...string) (_ *Cluster, err error) {
	c := &Cluster{settings: settings}
	if c.bin, err = binaries(installed...); err != nil {
		return nil, err
	}
	if c.dir, err = os.MkdirTemp(folder, "catalogue-test-"); err != nil {
		return nil, err
	}
	return c, c.open(fill)
}

// open starts a cluster in its folder. fill creates its data, or is nil if they exist.
func (c *Cluster) open(fill func(*Cluster) *exec.Cmd) (err error) {
	if err := c.startJanitor(); err != nil {
		return errors.Join(err, c.remove())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.stop())
		}
	}()
	if c.owner, err = owner(); err != nil {
		return err
	}
	if err := os.Chown(c.dir, int(c.owner.Uid), int(c.owner.Gid)); err != nil {
		return err
	}
	query := url.Values{"host": {c.dir}, "port": {"5432"}, "user": {"postgres"}, "sslmode": {"disable"}}
	c.server, err = open(&url.URL{Scheme: "postgres", Path: "/postgres", RawQuery: query.Encode()})
	if err != nil {
		return err
	}
	if fill != nil {
		if out, err := fill(c).CombinedOutput(); err != nil {
			return fmt.Errorf("create the data of a cluster: %w\n%s", err, out)
		}
	}
	return c.start()
}

func (c *Cluster) remove() error {
	if c.kept {
		return nil
	}
	return os.RemoveAll(c.dir)
}

// initdb creates an empty cluster. Text is sorted by bytes, and letters are those of Unicode, as
// with C.UTF-8, a locale that macOS lacks.
func initdb(c *Cluster) *exec.Cmd {
	ctype := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		ctype = "UTF-8"
	}
	return c.command("initdb", "--pgdata=data", "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--lc-ctype="+ctype, "--no-sync")
}

// place returns the folder for clusters: in memory if there is enough, because a database has
// hundreds of files, which some disks create slowly. It is never os.TempDir, because that path may
// be too long for a socket and inaccessible to the server's user.
func place() string {
	const memory, plenty = "/dev/shm", 4 << 30
	var space syscall.Statfs_t
	if err := syscall.Statfs(memory, &space); err == nil && space.Bavail*uint64(space.Bsize) >= plenty {
		return memory
	}
	return "/tmp"
}

// start starts the server and waits until it accepts connections.
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
		// Wait reads the output until every process of the server has closed it, that is, until all
		// have ended. Until then this goroutine keeps c's pipes from being collected and closed.
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
			return fmt.Errorf("postgres accepted no connections within a minute: %w", err)
		}
	}
}

// janitor is a shell script that stops a cluster, and removes it unless it is kept, when the test binary ends for any
// reason, even if it is killed. That closes the script's input, which has a line for each start of the server
// (its process id) and for each end (empty). Descriptor 3 is closed when the last process that
// writes in the folder has ended.
const janitor = `
while read -r line; do postgres=$line; done
test -z "$postgres" || kill -QUIT "$postgres" && kill -CONT "$postgres"
read -r line <&3
test -z "$1" || rm -rf "$1"`

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

	removed := c.dir
	if c.kept {
		removed = ""
	}
	c.janitor = exec.Command("/bin/sh", "-c", janitor, "janitor", removed)
	c.janitor.Stdin = input
	c.janitor.ExtraFiles = []*os.File{ended}
	c.janitor.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must not stop the janitor
	return c.janitor.Start()
}

// stop makes the janitor work now and waits for it.
func (c *Cluster) stop() error {
	if c.server != nil {
		_ = c.admin.Close()
	}
	c.alive.Close()
	c.held.Close()
	return c.janitor.Wait()
}

// command returns one of PostgreSQL's programs, to run in the cluster's folder as its owner and
// without the PG… environment variables of the tests.
func (c *Cluster) command(name string, arguments ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.bin, name), arguments...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.ExtraFiles = []*os.File{c.held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.owner}
	return cmd
}

// owner returns the user for PostgreSQL's programs: the current user, or another one for root,
// which they refuse.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return &syscall.Credential{Uid: uint32(os.Geteuid()), Gid: uint32(os.Getegid()), NoSetGroups: true}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: create a user postgres or nobody: %w", err)
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
