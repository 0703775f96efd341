package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

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
	database          string // its file; "" with PostgreSQL
}

// startTarget fills a catalogue and serves it, without a limit of rate.
func startTarget(t *testing.T, program, database string) *target {
	t.Helper()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "CATALOGUE_DATABASE_URL="+database, "CATALOGUE_JWT_SECRET="+strings.Repeat("s", 32),
			"CATALOGUE_RATE=0", "CATALOGUE_LOG_FORMAT=json", "CATALOGUE_ADDR=127.0.0.1:0", "CATALOGUE_OPS_ADDR=127.0.0.1:0")
		return cmd
	}
	var books bytes.Buffer
	books.WriteString("name,description,pages,published_at,author,price,genre,category\n")
	for n := range 5_000 {
		fmt.Fprintf(&books, "Book %d,%s,%d,2000-01-02,Author %d,9.99,Genre %d,Category\n", n, strings.Repeat("lorem ipsum ", 16), n+1, n%99, n%40)
	}
	load := command("import", "-")
	load.Stdin = &books
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := &target{Cmd: command("serve")}
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
	go io.Copy(io.Discard, log)
	t.Cleanup(func() {
		_ = s.Process.Signal(syscall.SIGTERM)
		if err := s.Wait(); err != nil {
			t.Errorf("the server ended: %v", err)
		}
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

// ask sends a plain query over a connection of its own.
func (s *target) ask(t *testing.T) {
	t.Helper()
	const query = `{ books(first: 20) { nodes { id name genre { name category { name } } } } }`
	request, err := http.NewRequest(http.MethodGet, "http://"+s.public+"/graphql?query="+url.QueryEscape(query), nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Close = true
	request.Header.Set("Cache-Control", "no-cache")
	response, err := http.DefaultClient.Do(request)
	for range 9 { // clients ask again where the attackers were quicker
		if err == nil {
			break
		}
		response, err = http.DefaultClient.Do(request)
	}
	if err != nil {
		t.Error("a plain query: ", err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.HasPrefix(body, []byte(`{"data":{"books":`)) {
		t.Errorf("a plain query: status %d, %v: %.300s", response.StatusCode, err, body)
	}
}

// attackers is the name under which the test's program is the attackers.
const attackers = "catalogue-attackers"

// attackAll does some of the attacks to an address until it is interrupted. Its
// arguments are the address, the first of the attacks, and the one after the last.
func attackAll() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	from, _ := strconv.Atoi(os.Args[2])
	to, _ := strconv.Atoi(os.Args[3])
	attacks := attack.All()[from:to] // which takes a while
	fmt.Println("attacking")
	attack.Run(ctx, os.Args[1], attacks)
}

// attack begins some of the attacks, by a process of their own.
func (s *target) attack(t *testing.T, from, to int) (stop func()) {
	t.Helper()
	cmd := exec.Command(linkSelf(t, attackers), s.public, strconv.Itoa(from), strconv.Itoa(to))
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

// TestAttacks attacks the program in every way, with the bodies all at once and the
// others one after another, and at last with everything. Plain queries are answered
// meanwhile, its memory stays bounded, and when it is over, all connections and
// goroutines are gone. Without a soak only every tenth of the others has its turn,
// and the memory of the test's own program is not looked at.
func TestAttacks(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells how much memory a process held")
	}
	const maxMemory = 100 << 20
	step, queries := 1, 100
	if !dbtest.Soak {
		step, queries = 10, 10
	}
	program := targetProgram(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		s := startTarget(t, program, database)
		s.ask(t)
		s.left(t) // which opens the connection of the checks
		goroutines, files := s.left(t)
		for range 10 { // the connection of the query is on its way out
			time.Sleep(100 * time.Millisecond)
			g, f := s.left(t)
			goroutines, files = min(g, goroutines), min(f, files)
		}
		during := func(from, to, queries int) {
			stop := s.attack(t, from, to)
			defer stop()
			for range queries {
				s.ask(t)
			}
		}
		all := attack.All()
		others := len(all) - len(attack.Bodies())
		for i := 0; i < others; i += step {
			during(i, i+1, 30)
			t.Logf("%5.1f MB: %s", float64(s.peak(t))/(1<<20), all[i].Name)
		}
		during(others, len(all), queries)
		t.Logf("%5.1f MB: all bodies", float64(s.peak(t))/(1<<20))
		during(0, len(all), queries)
		peak := s.peak(t)
		t.Logf("%5.1f MB: all at once", float64(peak)/(1<<20))
		if dbtest.Soak && peak > maxMemory {
			t.Errorf("%d bytes of memory were held, more than %d", peak, maxMemory)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			g, f := s.left(t)
			if g <= goroutines && f <= files {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines and %d files are left, of %d and %d before", g, f, goroutines, files)
			}
		}
	})
}
