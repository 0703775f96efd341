package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db/dbtest"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/server"
)

// serving runs serve until the test ends and returns where it and its operators'
// address are. stop ends it before; then what it has logged since is in later.
func serving(t *testing.T, later io.Writer, args ...string) (public, operators string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log, stderr := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		args := append([]string{"serve", "--addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--drain-wait=0s"}, args...)
		ended <- run(ctx, args, noEnv, strings.NewReader(""), io.Discard, stderr)
		stderr.Close()
	}()
	public, operators = addresses(t, log)
	logged := make(chan struct{})
	go func() {
		_, _ = io.Copy(later, log)
		close(logged)
	}()
	stop = func() {
		cancel()
		<-logged
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		ended <- nil
	}
	t.Cleanup(stop)
	return public, operators, stop
}

// addresses reads the log of serve until it listens, and returns where it and its operators' address are.
func addresses(t *testing.T, log io.Reader) (public, operators string) {
	t.Helper()
	lines := bufio.NewScanner(log)
	for public == "" && lines.Scan() {
		var line struct{ Msg, URL string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("the log is no JSON: %s", lines.Text())
		}
		switch line.Msg {
		case "operators":
			operators = line.URL
		case "listening":
			public = line.URL
		}
	}
	return public, operators
}

func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

// TestServeForOperators looks at what serve shows them, and that what it was told
// to trace arrives before it ends.
func TestServeForOperators(t *testing.T) {
	var traces atomic.Int32
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" {
			traces.Add(1)
		}
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	public, operators, stop := serving(t, io.Discard, "--database-url=sqlite:"+filepath.Join(t.TempDir(), "c.db"))
	fetch(t, public+"/api/books")
	if status, _ := fetch(t, public+"/metrics"); status != http.StatusNotFound {
		t.Errorf("/metrics for everybody: %d", status)
	}
	_, metrics := fetch(t, operators+"/metrics")
	for _, want := range []string{
		`catalogue_requests_total{code="200",endpoint="rest",operation="GET /api/books"} 1`, `catalogue_db_statement_duration_seconds_count{command="SELECT"}`,
		`go_sql_max_open_connections{db_name="sqlite-writer"} 1`, `catalogue_check{check="token_keys",status="pass"} 1`, `catalogue_revision `, `catalogue_build_info{commit="`, `go_build_info{`,
	} {
		if !strings.Contains(metrics, "\n"+want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if status, body := fetch(t, operators+"/readyz"); status != http.StatusOK || !strings.Contains(body, `"token_keys"`) || !strings.Contains(body, `"version":"`+cli.ReadBuild().Version+`"`) {
		t.Errorf("/readyz: %d %s", status, body)
	}
	stop()
	if traces.Load() == 0 {
		t.Error("no trace arrived")
	}
}

// TestThreadsOfStatements: a process with SQLite has a thread of Go for each of 200 connections, and one with PostgreSQL
// has not.
func TestThreadsOfStatements(t *testing.T) {
	t.Parallel()
	const connections = 200
	dbtest.Each(t, func(t *testing.T, url string) {
		cmd := exec.Command(targetProgram(t), "serve", "--addr=127.0.0.1:0", "--ops-addr=127.0.0.1:0", "--log-format=json",
			"--drain-wait=0s", "--database-url="+url, fmt.Sprint("--database-connections=", connections))
		cmd.Env = append(os.Environ(), "GOMAXPROCS=")
		log, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		_, operators := addresses(t, log)
		_, metrics := fetch(t, operators+"/metrics")
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		var threads int
		_, after, _ := strings.Cut(metrics, "\ngo_sched_gomaxprocs_threads ")
		if _, err := fmt.Sscan(after, &threads); err != nil || threads > connections != strings.HasPrefix(url, "sqlite:") {
			t.Errorf("%d threads, %v", threads, err)
		}
	})
}

// TestHealthcheckTellsWhy asks a server that is not ready.
func TestHealthcheckTellsWhy(t *testing.T) {
	t.Parallel()
	observer := telemetry.New(telemetry.Config{Checks: func(context.Context) []model.Check {
		return []model.Check{{Name: "database", Status: model.Fail, Output: "It is away."}}
	}})
	srv := httptest.NewServer(server.NewOperators(observer, slog.New(slog.DiscardHandler)).Handler)
	defer srv.Close()
	err := run(t.Context(), []string{"healthcheck", "--addr=" + strings.TrimPrefix(srv.URL, "http://")}, noEnv, strings.NewReader(""), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `503 Service Unavailable`) || !strings.Contains(err.Error(), `"output":"It is away."`) {
		t.Error(err)
	}
}
