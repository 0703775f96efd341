// Package soak tests the program as processes: they serve honest clients under attack, and while their database fails.
// It is a separate module, because a run takes minutes and needs the whole machine.
package soak

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
)

const (
	drillBooks = 60_000
	drillTime  = 3 * time.Second // duration of each measurement
	// programsVariable lists programs to test in turn instead of the one built here, separated as in PATH.
	programsVariable = "CATALOGUE_DRILL_PROGRAMS"
)

// TestDrill fails if an honest client gets a wrong response under attack. It prints times and does not check them.
func TestDrill(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8")
	}
	programs := filepath.SplitList(os.Getenv(programsVariable))
	if len(programs) == 0 {
		programs = []string{build(t)}
	}
	engines := map[string]func(testing.TB) string{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres}
	for engine, database := range engines {
		t.Run(engine, func(t *testing.T) {
			var targets []*target
			for _, program := range programs {
				s := startTarget(t, program, database(t))
				targets = append(targets, s)
				s.measure(t, 2*time.Second) // warms up
				t.Logf("no attack, %s: %s", program, s.measure(t, drillTime))
			}
			for which, a := range attacks {
				for _, clients := range []int{1, 20} {
					for _, s := range targets {
						stop := s.attack(t, which, clients)
						time.Sleep(2 * time.Second)
						times := s.measure(t, drillTime)
						t.Logf("%s by %d, %s: %s; attackers: %s", a.name, clients, s.Path, times, stop())
						s.settle(t)
					}
				}
			}
		})
	}
}

// build builds the program with the flags of a release.
func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "catalogue")
	cmd := exec.Command("go", "build", "-C", "..", "-pgo=off", "-buildvcs=false", "-o", program, "./cmd/catalogue")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// target is a process that serves.
type target struct {
	*exec.Cmd
	public, operators string
	goroutines        int             // at the start
	people            [20]http.Client // honest clients, each with its own address
	token             string
	asked             atomic.Int64 // number of the last request
	begun, created    atomic.Int64 // requested and confirmed creations of books
	listed            int64        // value of created at the last request for a whole list
}

// startTarget imports books into a database and serves it with default settings.
func startTarget(t *testing.T, program, database string) *target {
	t.Helper()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "CATALOGUE_DATABASE_URL="+database, "CATALOGUE_LOG_FORMAT=json",
			"CATALOGUE_JWT_SECRET="+strings.Repeat("s", 32), "CATALOGUE_ADDR=127.0.0.1:0",
			"CATALOGUE_OPS_ADDR=127.0.0.1:0")
		return cmd
	}
	var books bytes.Buffer
	books.WriteString("name,description,pages,published_at,author,price,genre,category\n")
	for n := 1; n <= drillBooks; n++ {
		fmt.Fprintf(&books, "%s,%s,%d,%d-01-02,Author %d,%d.99,%s,%s\n",
			bookName(n), strings.Repeat("lorem ipsum ", 16), n%950+1, 1950+n%70, n*31%4_999, n%100,
			genreName(n), categoryName(n))
	}
	load := command("import", "-")
	load.Stdin = &books
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := &target{Cmd: command("serve")}
	for i := range s.people {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))}}
		transport := http.Transport{DialContext: dialer.DialContext, DisableCompression: true}
		s.people[i] = http.Client{Timeout: time.Minute, Transport: &transport}
	}
	token, err := command("token").Output()
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	s.public, s.operators = serve(t, s.Cmd)
	s.goroutines = s.running(t)
	return s
}

// serve starts a server that logs JSON, until the test ends, and returns its addresses.
func serve(t *testing.T, server *exec.Cmd) (public, operators string) {
	t.Helper()
	log, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(log); public == "" && lines.Scan(); {
		var line struct{ Msg, URL string }
		_ = json.Unmarshal(lines.Bytes(), &line)
		switch line.Msg {
		case "operators":
			operators = line.URL
		case "listening":
			public = line.URL
		}
	}
	ended := make(chan error)
	go func() {
		_, _ = io.Copy(io.Discard, log)
		ended <- server.Wait()
	}()
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGTERM) // fails if the process has ended
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
	})
	return public, operators
}

const shelves = 977

func bookName(id int) string     { return fmt.Sprintf("Book %d of the shelf %d", id, id%shelves) }
func genreName(id int) string    { return fmt.Sprint("Genre ", id%400) }
func categoryName(id int) string { return fmt.Sprint("Category ", id%20) }

// running returns the number of goroutines of the server.
func (s *target) running(t *testing.T) (n int) {
	t.Helper()
	response, err := http.Get(s.operators + "/debug/pprof/goroutine?debug=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := fmt.Fscanf(response.Body, "goroutine profile: total %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// settle waits until the server has as many goroutines as at its start, because each connection and each request
// has one.
func (s *target) settle(t *testing.T) {
	t.Helper()
	for i := range s.people {
		s.people[i].CloseIdleConnections()
	}
	for deadline := time.Now().Add(time.Minute); s.running(t) > s.goroutines+20; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines a minute after the attack, %d at the start", s.running(t), s.goroutines)
		}
	}
}

// attack starts the attackers as a process of low priority, because real ones run on other machines. stop ends
// them and returns their counts.
func (s *target) attack(t *testing.T, which, clients int) (stop func() string) {
	t.Helper()
	address := strings.TrimPrefix(s.public, "http://")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nice", "-n", "19",
		self, attackersCommand, address, fmt.Sprint(which), fmt.Sprint(clients))
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		_ = input.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return out.String()
	}
}

// measure sends requests of all kinds for a duration. It returns the count, p50 and p99 of each kind, and fails the
// test if a response is wrong.
func (s *target) measure(t *testing.T, duration time.Duration) string {
	t.Helper()
	lines := make([]string, len(kinds))
	end := time.Now().Add(duration)
	var asking sync.WaitGroup
	for i, k := range kinds {
		asking.Go(func() {
			var took []time.Duration
			var wrong []error
			for time.Now().Before(end) {
				d, err := s.ask(k, int(s.asked.Add(1)))
				took = append(took, d)
				if err != nil {
					wrong = append(wrong, err)
				}
				time.Sleep(min(k.every-d, time.Until(end)))
			}
			if len(wrong) > 0 {
				t.Errorf("%s: %d of %d wrong, first: %v", k.name, len(wrong), len(took), wrong[0])
			}
			slices.Sort(took)
			n := len(took)
			lines[i] = fmt.Sprintf("%s %d %d/%d ms", k.name, n, took[n/2].Milliseconds(), took[n*99/100].Milliseconds())
		})
	}
	asking.Wait()
	return strings.Join(lines, ", ")
}

// ask sends the i-th request. It returns the time to the end of the response, and an error for a wrong one.
func (s *target) ask(k kind, i int) (took time.Duration, err error) {
	n := 100 + i*7_919%800
	method, status := http.MethodGet, http.StatusOK
	path, text := k.request(s, n)
	if text != "" {
		method, status = http.MethodPost, http.StatusCreated
	}
	request, err := http.NewRequest(method, s.public+path, strings.NewReader(text))
	if err != nil {
		return 0, err
	}
	if text != "" {
		request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + s.token}}
	}
	start := time.Now()
	response, err := s.people[i%len(s.people)].Do(request)
	if err != nil {
		return time.Since(start), err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	took = time.Since(start)
	if err == nil && response.StatusCode != status {
		err = errors.New(response.Status)
	}
	if err == nil {
		err = k.check(s, n, body)
	}
	if err != nil {
		err = fmt.Errorf("%w: %.200s", err, body)
	}
	return took, err
}
