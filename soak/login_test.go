package soak

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// logins is a server with people, each with a network of its own.
type logins struct {
	url    string
	client http.Client
}

// honestLogin is the time in which an honest login must pass, with one new try if it is refused.
const honestLogin = 5 * time.Second

const rightPassword = "correct horse"

// TestLogins fails if honest people cannot sign in while hostile networks guess passwords.
func TestLogins(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	programs := filepath.SplitList(os.Getenv(programsVariable))
	if len(programs) == 0 {
		programs = []string{build(t)}
	}
	const people = 15
	for _, program := range programs {
		for which, attack := range guesses {
			t.Run(attack.name, func(t *testing.T) {
				s := startLogins(t, program, people)
				stop := s.guess(t, which)
				for _, round := range []string{"from new networks", "again", "again, at once"} {
					times := s.logInAll(t.Context(), people, round == "again, at once")
					slices.Sort(times)
					t.Logf("%s, %s: median %s, last %s", program, round, times[people/2], times[people-1])
					if late := slices.IndexFunc(times, tooLong); late >= 0 {
						t.Errorf("%s: of %d logins %d took longer than %s", round, people, people-late, honestLogin)
					}
				}
				t.Logf("attackers: %s", stop())
			})
		}
	}
}

// guesses are networks that send wrong passwords, each one at a time.
var guesses = []struct {
	name    string
	clients int
	network func(client, attempt int) string
}{
	{"60 addresses", 60, func(i, _ int) string { return fmt.Sprint("10.0.0.", i) }},
	{"600 addresses", 600, func(i, _ int) string { return fmt.Sprint("10.0.", i/250, ".", i%250) }},
	{"a /48", 100, func(i, n int) string { return fmt.Sprintf("2001:db8:1:%x::1", 100*n+i) }},
}

// guessCommand is the argument that makes the test binary guess passwords.
const guessCommand = "guess"

// guess starts a process of low priority that guesses, and waits until each of its clients has failed once.
func (s *logins) guess(t *testing.T, which int) (stop func() string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nice", "-n", "19", self, guessCommand, s.url, fmt.Sprint(which))
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	lines.Scan()
	return func() string {
		_ = input.Close()
		lines.Scan()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		return lines.Text()
	}
}

// runGuesses guesses until standard input ends. It prints a line when each client has failed once, and the number of
// responses by status at the end.
func runGuesses() {
	s := &logins{url: os.Args[2]}
	s.client.Transport = &http.Transport{MaxIdleConnsPerHost: 1_000}
	which, _ := strconv.Atoi(os.Args[3])
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var failed, running sync.WaitGroup
	var counts [600]atomic.Int64 // by status
	for i := range guesses[which].clients {
		failed.Add(1)
		once := sync.OnceFunc(failed.Done)
		running.Go(func() {
			defer once()
			for n := 0; ctx.Err() == nil; n++ {
				status := s.logIn(ctx, guesses[which].network(i, n), fmt.Sprint("victim ", n), "wrong password")
				if counts[status].Add(1); status == http.StatusUnauthorized {
					once()
				}
			}
		})
	}
	failed.Wait()
	fmt.Println("all have failed")
	running.Wait()
	for status := range counts {
		if n := counts[status].Load(); n > 0 && status > 0 {
			fmt.Printf("%d × %d ", n, status)
		}
	}
}

func tooLong(d time.Duration) bool { return d > honestLogin }

// startLogins serves accounts behind a proxy, which names the networks.
func startLogins(t *testing.T, program string, people int) *logins {
	t.Helper()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "CATALOGUE_DATABASE_URL=sqlite:"+t.TempDir()+"/catalogue.db",
			"CATALOGUE_LOG_FORMAT=json",
			"CATALOGUE_ADDR=127.0.0.1:0", "CATALOGUE_OPS_ADDR=127.0.0.1:0", "CATALOGUE_TRUSTED_PROXIES=127.0.0.1",
			"CATALOGUE_MAX_CONNECTIONS=2000")
		return cmd
	}
	server := command("serve")
	s := &logins{}
	s.url, _ = serve(t, server)
	for i := range people {
		add := command("user", "add", fmt.Sprint("person ", i))
		add.Env = server.Env
		out, err := add.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_, secret, _ := strings.Cut(strings.TrimSpace(string(out)), "#")
		body := fmt.Sprintf(`{"secret":%q,"password":%q}`, secret, rightPassword)
		if status := s.post(t.Context(), "192.0.2.1", "/welcome", body); status != http.StatusOK {
			t.Fatalf("the link of person %d: %d", i, status)
		}
	}
	return s
}

// post returns the status of a request, or 0 if it failed.
func (s *logins) post(ctx context.Context, network, path, body string) int {
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Forwarded-For", network)
	response, err := s.client.Do(r)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func (s *logins) logIn(ctx context.Context, network, name, password string) (status int) {
	return s.post(ctx, network, "/api/login", fmt.Sprintf(`{"email":%q,"password":%q}`, name, password))
}

// honest returns the time until a person has signed in. Refused, it tries again after 2 s, as the response says.
func (s *logins) honest(ctx context.Context, person int) time.Duration {
	began := time.Now()
	for s.logIn(ctx, fmt.Sprint("192.0.3.", person), fmt.Sprint("person ", person), rightPassword) != http.StatusOK &&
		time.Since(began) < time.Minute {
		pause(ctx, 2*time.Second)
	}
	return time.Since(began)
}

// logInAll lets people sign in, one after the other or at once.
func (s *logins) logInAll(ctx context.Context, people int, atOnce bool) []time.Duration {
	times := make([]time.Duration, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() { times[i] = s.honest(ctx, i) })
		if !atOnce {
			all.Wait()
		}
	}
	all.Wait()
	return times
}
