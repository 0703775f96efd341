package soak

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// site is the site of docs/high-availability.md on one machine, with the files of docs/deploy/ha as they are.
// Each program has namespaces of its own for processes and mounts, as if it ran on its own host.
type site struct {
	dir, program string
	page         string            // text of docs/high-availability.md
	hosts        map[string]string // process id of the first process of each host
	restart      map[string]func() // resets a host
}

// names are the hosts of the site.
const names = `127.0.0.1 localhost
127.0.4.1 db1
127.0.4.2 db2
127.0.4.3 db3
127.0.4.11 app1
127.0.4.12 app2
127.0.4.20 proxy
`

// boot mounts the folder $1 of a host over the folders of this machine, and runs a program as the user $2. It creates
// folders that this machine lacks.
const boot = `set -e
mount --bind "$1/../hosts" /etc/hosts
for d in /etc/catalogue /etc/patroni /etc/pgbouncer /var/lib/etcd /var/lib/postgresql /var/run/postgresql; do
	mkdir -p $d
	mount --bind "$1$d" $d
done
user=$2; shift 2
HOME=/var/lib/postgresql setpriv --reuid="$user" --regid="$user" --init-groups "$@"
exit $? # the shell stays, because a program of another user would outlive unshare`

// prepared are the roles and the database of docs/postgres.md.
const prepared = `CREATE ROLE catalogue_owner LOGIN PASSWORD 'owner';
CREATE ROLE catalogue_server LOGIN PASSWORD 'server';
CREATE DATABASE catalogue;
\connect catalogue
CREATE EXTENSION pg_trgm;
GRANT CREATE ON DATABASE catalogue TO catalogue_owner;
GRANT USAGE, CREATE ON SCHEMA public TO catalogue_owner;
GRANT USAGE ON SCHEMA public TO catalogue_server;
ALTER DEFAULT PRIVILEGES FOR ROLE catalogue_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO catalogue_server;
ALTER DEFAULT PRIVILEGES FOR ROLE catalogue_owner GRANT SELECT, USAGE, UPDATE ON SEQUENCES TO catalogue_server;`

const pooledURL = "postgres://catalogue_server@localhost:6432/catalogue?sslmode=disable&pooler=transaction"

// newSite starts three hosts of PostgreSQL, HAProxy and pgbouncer, and two servers of the catalogue: app1 connects
// through pgbouncer, app2 by a URL with three hosts. It waits until all of them are ready.
func newSite(t *testing.T) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has namespaces")
	}
	for _, program := range []string{"unshare", "setpriv", "etcd", "patroni", "haproxy", "pgbouncer"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			t.Fatal("this drill needs root on Debian and the packages etcd-server, patroni, haproxy and pgbouncer: " +
				"run make soak, which installs them")
		}
	}
	page, err := os.ReadFile("../docs/high-availability.md")
	must(t, err)
	s := &site{dir: t.TempDir(), program: build(t), page: string(page), hosts: map[string]string{},
		restart: map[string]func(){}}
	write(t, filepath.Join(s.dir, "hosts"), names)
	output(t, s.shell(s.block(t, "openssl req -x509 -newkey")))
	databases := []string{"db1", "db2", "db3"}
	for i, db := range databases {
		etcd := strings.NewReplacer("--name=db1", "--name="+db, "urls=http://db1:", "urls=http://"+db+":", "10.0.0.1",
			fmt.Sprint("127.0.4.", i+1))
		s.start(t, "etcd-"+db, "etcd", nil, "sh", "-c", etcd.Replace(s.block(t, "etcd --name")))
	}
	for _, db := range databases {
		certify := strings.ReplaceAll(s.block(t, "openssl req -x509 -CA"), "db1", db)
		output(t, s.shell(fmt.Sprintf("%s\nmkdir -p %s/etc/patroni; mv server.* %[2]s/etc/patroni", certify, db)))
		env := strings.Split(strings.ReplaceAll(s.block(t, "PATRONI_NAME"), "db1", db), "\n")
		s.start(t, db, "postgres", env, "patroni", "/etc/patroni/config.yml")
	}
	s.start(t, "proxy", "root", nil, "haproxy", "-db", "-f", "/etc/patroni/haproxy.cfg")
	// pgbouncer 1.18 ends with "bad client state" when a client cancels a login to a server that hangs.
	s.start(t, "pooler", "postgres", nil, "sh", "-c",
		"while true; do pgbouncer /etc/pgbouncer/pgbouncer.ini; sleep 1; done")
	s.settle(t)
	psql := s.on(t, "proxy", "psql", "--host=proxy", "--port=5000", "--username=postgres", "--set=ON_ERROR_STOP=1")
	psql.Stdin = strings.NewReader(prepared)
	output(t, psql)
	path := "PATH=" + filepath.Dir(s.program) + ":" + os.Getenv("PATH")
	output(t, s.on(t, "pooler", "env", "PGPASSWORD=owner", path, "sh", "-c", s.block(t, "catalogue db migrate")))
	for app, url := range map[string]string{
		"app1": pooledURL,
		"app2": "postgres://catalogue_server@db1,db2,db3/catalogue?sslmode=verify-full&sslrootcert=/etc/catalogue/ca.crt&target_session_attrs=read-write",
	} {
		if !strings.Contains(s.page, "`"+url+"`") {
			t.Errorf("docs/high-availability.md lacks the URL %s", url)
		}
		s.start(t, app, "root", []string{
			"CATALOGUE_DATABASE_URL=" + url, s.block(t, "CATALOGUE_REPLICA_URL"), "PGPASSWORD=server",
			"CATALOGUE_ADDR=" + app + ":8080", "CATALOGUE_RATE=0",
			"CATALOGUE_JWT_SECRET=" + secret, "CATALOGUE_LOG_FORMAT=json", "CATALOGUE_WEBHOOK_PRIVATE=true",
		}, s.program, "serve")
	}
	s.await(t, "two servers behind the proxy", func() bool {
		for _, address := range []string{"127.0.4.11:8080", "127.0.4.12:8080", "127.0.4.20:8080"} {
			if !ready("http://" + address + "/readyz") {
				return false
			}
		}
		return true
	})
	return s
}

// block returns the block of the page that begins with a text.
func (s *site) block(t *testing.T, start string) string {
	t.Helper()
	_, rest, found := strings.Cut(s.page, "\n"+start)
	text, _, ended := strings.Cut(rest, "\n```")
	if !found || !ended {
		t.Fatalf("docs/high-availability.md lacks a block that begins with %s", start)
	}
	return start + text
}

// shell returns a command of the administrator, who has the key of the CA.
func (s *site) shell(command string) *exec.Cmd {
	cmd := exec.Command("sh", "-ec", command)
	cmd.Dir = s.dir
	return cmd
}

// start starts a host with one program. The host ends with the test, also if the test is killed.
func (s *site) start(t *testing.T, host, user string, env []string, args ...string) {
	t.Helper()
	folder := filepath.Join(s.dir, host)
	for _, d := range []string{"etc/catalogue", "etc/patroni", "etc/pgbouncer", "var/lib/etcd",
		"var/lib/postgresql/archive", "var/lib/postgresql/15", "var/run/postgresql"} {
		must(t, os.MkdirAll(filepath.Join(folder, d), 0o755))
	}
	const deploy = "../docs/deploy/ha/"
	for from, to := range map[string]string{
		deploy + "patroni.yml": "etc/patroni/config.yml", deploy + "haproxy.cfg": "etc/patroni/haproxy.cfg",
		deploy + "pgbouncer.ini": "etc/pgbouncer/pgbouncer.ini", filepath.Join(s.dir, "ca.crt"): "etc/catalogue/ca.crt",
	} {
		text, err := os.ReadFile(from)
		must(t, err)
		write(t, filepath.Join(folder, to), string(text))
	}
	write(t, filepath.Join(folder, "etc/pgbouncer/users.txt"), `"catalogue_server" "server"`)
	output(t, exec.Command("chown", "--recursive", user+":", folder))
	log, err := os.OpenFile(filepath.Join(s.dir, host+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	must(t, err)
	cmd := exec.Command("unshare",
		append([]string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", boot, "sh", folder,
			user}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, cmd.Start())
	end := sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
	})
	s.restart[host] = func() {
		end()
		s.start(t, host, user, env, args...)
	}
	t.Cleanup(func() {
		end()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s: …%s", host, text[max(0, len(text)-3000):])
		}
	})
	children := fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid)
	s.await(t, host, func() bool {
		pid, _ := os.ReadFile(children)
		s.hosts[host] = strings.TrimSpace(string(pid))
		return s.hosts[host] != ""
	})
}

// on returns a command on a host, with the password of the superuser.
func (s *site) on(t *testing.T, host string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "nsenter",
		append([]string{"--target=" + s.hosts[host], "--mount", "--pid"}, args...)...)
	cmd.Env = append(os.Environ(), "PGPASSWORD=one secret", "PGSSLMODE=verify-full",
		"PGSSLROOTCERT=/etc/catalogue/ca.crt")
	return cmd
}

// is returns the host that has a role according to Patroni: primary, sync or async. It returns "" if there is none.
func (s *site) is(role string) string {
	for i := range 3 {
		if ready(fmt.Sprintf("http://127.0.4.%d:8008/%s", i+1, role)) {
			return fmt.Sprint("db", i+1)
		}
	}
	return ""
}

// settle waits until there is a primary with a synchronous standby and a replica.
func (s *site) settle(t *testing.T) {
	t.Helper()
	s.await(t, "a primary, a synchronous standby and a replica", func() bool {
		return s.is("primary") != "" && s.is("sync") != "" && s.is("async") != ""
	})
}

// await waits until a condition holds.
func (s *site) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after two minutes there is not: %s", what)
		}
	}
}

// ready reports whether a URL answers 200.
func ready(url string) bool {
	client := http.Client{Timeout: 2 * time.Second}
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// output runs a command, which must succeed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}
