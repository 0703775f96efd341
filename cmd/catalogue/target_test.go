package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/server/attack"
)

// targetProgram returns the program to attack: in a soak the binary as it is
// shipped, else the test's own, which needs no building and takes more memory.
func targetProgram(t *testing.T) (path string) {
	t.Helper()
	if !dbtest.Soak {
		return linkSelf(t, "catalogue")
	}
	path = filepath.Join(t.TempDir(), "catalogue")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// linkSelf returns a link to the test's program under a name that TestMain knows.
func linkSelf(t *testing.T, name string) (link string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link = filepath.Join(t.TempDir(), name)
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// target is the service as a process of its own.
type target struct {
	*exec.Cmd
	public, operators string
	database          string        // its file; "" with PostgreSQL
	exited            chan struct{} // closed when it has ended
}

// targetSecret signs the tokens that a target takes.
var targetSecret = strings.Repeat("s", 32)

// startTarget fills a catalogue with so many books and serves it, with settings
// written "NAME=value".
func startTarget(t *testing.T, program, database string, count int, settings ...string) *target {
	t.Helper()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = slices.Concat(os.Environ(), []string{"CATALOGUE_DATABASE_URL=" + database, "CATALOGUE_JWT_SECRET=" + targetSecret,
			"CATALOGUE_LOG_FORMAT=json", "CATALOGUE_ADDR=127.0.0.1:0", "CATALOGUE_OPS_ADDR=127.0.0.1:0"}, settings)
		return cmd
	}
	var books bytes.Buffer
	books.WriteString("name,description,pages,published_at,author,price,genre,category\n")
	for n := range count {
		fmt.Fprintf(&books, "Book %d of the shelf %d,%s,%d,%d-01-02,Author %d,%d.99,Genre %d,Category %d\n",
			n, n%977, strings.Repeat("lorem ipsum ", 16), n%950+1, 1950+n%70, n*31%4_999, n%100, n%400, n%400%20)
	}
	load := command("import", "-")
	load.Stdin = &books
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := &target{Cmd: command("serve"), exited: make(chan struct{})}
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		s.database = path
	}
	log, err := s.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for s.public == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		address := strings.TrimPrefix(line.URL, "http://")
		switch line.Msg {
		case "operators":
			s.operators = address
		case "listening":
			s.public = address
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, log)
		if err := s.Wait(); err != nil {
			t.Errorf("the server ended: %v", err)
		}
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = s.Process.Signal(syscall.SIGTERM) // it may have ended
		<-s.exited
	})
	return s
}

// peak returns the most memory that the process held, in bytes.
func (s *target) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, err := strconv.Atoi(string(regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// operator returns what is said at the operators' address.
func (s *target) operator(t *testing.T, path string) string {
	t.Helper()
	response, err := http.Get("http://" + s.operators + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// metric returns a figure of /metrics, the sum over its labels.
func (s *target) metric(t *testing.T, name string) (sum int) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^`+name+`(?:\{.*\})? (\d+)$`).FindAllStringSubmatch(s.operator(t, "/metrics"), -1)
	if found == nil {
		t.Fatalf("no metric %s", name)
	}
	for _, line := range found {
		value, err := strconv.Atoi(line[1])
		if err != nil {
			t.Fatal(err)
		}
		sum += value
	}
	return sum
}

// left returns how many goroutines run and how many files are open, without those
// of the database's connections, which stay open.
func (s *target) left(t *testing.T) (goroutines, files int) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	// The checks that go with the metrics are not in the profile, but the connection
	// that they have opened is.
	if _, err := fmt.Sscanf(s.operator(t, "/debug/pprof/goroutine?debug=1"), "goroutine profile: total %d", &goroutines); err != nil {
		t.Fatal(err)
	}
	folder := fmt.Sprintf("/proc/%d/fd", s.Process.Pid)
	open, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	ofDatabase := 0
	for _, file := range open {
		name, _ := os.Readlink(filepath.Join(folder, file.Name())) // it may be closed by now
		if s.database != "" && strings.HasPrefix(name, s.database) {
			ofDatabase++
		} else {
			files++
		}
	}
	if s.database == "" {
		return goroutines, files - s.metric(t, "go_sql_open_connections")
	}
	// SQLite keeps the database's file of a closed connection for the next one while
	// another connection holds a lock. Each has the log besides, and all have one index.
	connections := s.metric(t, "go_sql_max_open_connections") + 1 // the checks' one is not in the metric
	if ofDatabase == 0 || ofDatabase > 2*connections+1 {
		t.Errorf("the database's files are open %d times, by at most %d connections", ofDatabase, connections)
	}
	return goroutines, files
}

// attackers is the name under which the test's program is the attackers.
const attackers = "catalogue-attackers"

// runAttackers does some of the attacks until it is interrupted. Its arguments are
// the address, the first of the attacks, the one after the last, how many clients
// attack, and the address that they come from, if it is one.
func runAttackers() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	number := func(i int) int {
		n, _ := strconv.Atoi(os.Args[i])
		return n
	}
	attacks := attack.All()[number(2):number(3)] // which takes a while
	fmt.Println("attacking")
	attack.Run(ctx, os.Args[1], attacks, attack.Crowd{Clients: number(4), Address: os.Args[5]})
}

// attack begins some of the attacks, by a process of their own that runs where
// nobody else wants to: in the field attackers are on machines of their own.
func (s *target) attack(t *testing.T, from, to int, crowd attack.Crowd) (stop func()) {
	t.Helper()
	cmd := exec.Command("nice", "-n", "19", linkSelf(t, attackers), s.public, strconv.Itoa(from), strconv.Itoa(to), strconv.Itoa(crowd.Clients), crowd.Address)
	cmd.Stderr = os.Stderr
	begun, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(begun).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}
