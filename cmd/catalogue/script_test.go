package main

import (
	"bufio"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db/dbtest"
)

// programs are what the test's program does under another name.
var programs = map[string]func(){"catalogue": main, "curl": curl}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

// curl is that program with the flags that the banner and the documentation use: -s, -X, -H, -d and
// --data-binary. It exits with 22 if the response is an error.
func curl() {
	method, address, body, header := http.MethodGet, "", "", http.Header{}
	for args := os.Args[1:]; len(args) > 0; args = args[1:] {
		switch args[0] {
		case "-s":
		case "-X":
			args = args[1:]
			method = args[0]
		case "-H":
			args = args[1:]
			name, value, _ := strings.Cut(args[0], ": ")
			header.Add(name, value)
		case "-d", "--data-binary":
			args = args[1:]
			if method == http.MethodGet {
				method = http.MethodPost
			}
			body = args[0]
			if path, isFile := strings.CutPrefix(body, "@"); isFile {
				text, err := os.ReadFile(path)
				if err != nil {
					panic(err)
				}
				body = string(text)
			}
		default:
			address = args[0]
			if !strings.Contains(address, "://") {
				address = "http://" + address
			}
		}
	}
	request, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		panic(err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		os.Exit(22)
	}
}

// TestScripts runs testdata/script/*.txtar, in which catalogue is this program. With
// -update what is compared with stdout or stderr is written anew.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       dbtest.Updating(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=10") // else each process waits a second
			env.Setenv("CATALOGUE_DRAIN_WAIT", "0s")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     cmdExits,
			"listening": cmdListening,
			"terminate": cmdTerminate,
			"unready":   cmdUnready,
			"newer":     cmdNewer,
			"appears":   cmdAppears,
			"sql":       cmdSQL,
		},
	})
}

// cmdExits is "exits CODE PROGRAM ARGS…": exec that wants an exit code.
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("ended with %d, not %s", code, args[0])
	}
}

// cmdListening is "listening PIPE": reads a server's log until it says where it
// listens, sets $URL and $ADDR to that, and lets the log run on.
func cmdListening(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	log, err := os.Open(path) // waits for the server to open it too
	ts.Check(err)
	ts.Defer(func() { log.Close() })
	// The next server gets a pipe of its own, from which nobody reads this one's end.
	ts.Check(os.Remove(path))
	ts.Check(syscall.Mkfifo(path, 0o600))
	address := regexp.MustCompile(`listening.*http://([^\s"]+)`)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		ts.Logf("%s", lines.Text())
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			ts.Setenv("ADDR", found[1])
			ts.Setenv("URL", "http://"+found[1])
			go io.Copy(io.Discard, log)
			return
		}
	}
	ts.Fatalf("the server ended")
}

// cmdTerminate sends SIGTERM to what runs in the background.
func cmdTerminate(ts *testscript.TestScript, _ bool, _ []string) {
	for _, cmd := range ts.BackgroundCmds() {
		ts.Check(cmd.Process.Signal(syscall.SIGTERM))
	}
}

// cmdUnready waits until the server at $URL is not ready, and wants it to answer.
func cmdUnready(ts *testscript.TestScript, _ bool, _ []string) {
	get := func(path string) int {
		response, err := http.Get(ts.Getenv("URL") + path)
		ts.Check(err)
		ts.Check(response.Body.Close())
		return response.StatusCode
	}
	for get("/readyz") != http.StatusServiceUnavailable {
	}
	if status := get("/api/books"); status != http.StatusOK {
		ts.Fatalf("status %d", status)
	}
}

// cmdNewer is "newer FILE": makes the schema of an SQLite database one of a
// later version of this program.
func cmdNewer(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(makeNewer(ts.MkAbs(args[0])))
}

func makeNewer(path string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	return errors.Join(err, db.Close())
}

// cmdSQL is "sql FILE TEXT": what another program does to an SQLite database.
func cmdSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

// cmdAppears is "appears PATTERN": waits until there is a file with such a name.
func cmdAppears(ts *testscript.TestScript, _ bool, args []string) {
	for {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(found) > 0 {
			return
		}
		runtime.Gosched()
	}
}

// TestVariables checks that each flag of serve has an environment variable, and that no flag of its own of
// another command has one.
func TestVariables(t *testing.T) {
	t.Parallel()
	settings := map[string]string{}
	for _, flag := range serveFlags(t) {
		if len(flag.Envs) != 1 || !strings.HasPrefix(flag.Envs[0], "CATALOGUE_") {
			t.Errorf("serve --%s has the variables %v", flag.Name, flag.Envs)
			continue
		}
		settings[flag.Name] = flag.Envs[0]
	}
	parser, err := newParser(cli.NewGetenv(noEnv), cli.Stdio{})
	must(t, err)
	for _, command := range parser.Model.Leaves(false) {
		for _, flag := range command.Flags {
			for _, name := range flag.Envs {
				if settings[flag.Name] != name {
					t.Errorf("%s --%s has the variable %s", command.FullPath(), flag.Name, name)
				}
			}
		}
	}
}
