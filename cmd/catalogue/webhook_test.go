package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// hookReceiver is an endpoint that fails once, and then hangs twice.
type hookReceiver struct {
	verifier *standardwebhooks.Webhook // set before the first change
	requests int                       // the sender sends one at a time
	failed   chan struct{}
	hung     chan struct{}
	accepted chan string // the webhook-id and the body
}

func (to *hookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if err := to.verifier.Verify(body, r.Header); err != nil {
		to.accepted <- err.Error()
		return
	}
	to.requests++
	switch to.requests {
	case 3:
		w.WriteHeader(http.StatusServiceUnavailable)
		to.failed <- struct{}{}
	case 6, 11:
		to.hung <- struct{}{}
		<-r.Context().Done()
	default:
		to.accepted <- r.Header.Get("webhook-id") + " " + string(body)
	}
}

// TestWebhooksKilled kills the server that sends, twice, in a request that hangs. Each change arrives in order with a
// valid signature. On PostgreSQL two servers share the work.
func TestWebhooksKilled(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		database := "--database-url=" + url
		catalogue(t, 0, "", "db", "migrate", "up", database)
		to := &hookReceiver{failed: make(chan struct{}), hung: make(chan struct{}), accepted: make(chan string, 1000)}
		endpoint := httptest.NewServer(to)
		t.Cleanup(endpoint.Close)
		var added struct{ Secret, Position string }
		must(t, json.Unmarshal([]byte(catalogue(t, 0, "", "webhook", "add", endpoint.URL, "--webhook-private", "--json", database)), &added))
		var err error
		to.verifier, err = standardwebhooks.NewWebhook(added.Secret)
		must(t, err)

		link := linkSelf(t)
		running := map[int]*exec.Cmd{}
		serve := func() {
			command := exec.Command(link, "serve", "--addr=127.0.0.1:0", "--drain-wait=0s", "--empty", "--webhook-private", testSecret, database)
			command.Stderr = t.Output()
			must(t, command.Start())
			running[command.Process.Pid] = command
		}
		t.Cleanup(func() {
			for _, command := range running {
				_ = command.Process.Kill()
				_ = command.Wait()
			}
		})
		driver, name, shared := "postgres", url, true
		if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
			driver, name, shared = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)", false
		}
		program, err := sql.Open(driver, name)
		must(t, err)
		defer program.Close()
		// kill kills the server with the lease, ends the lease where it would have to expire, and starts another.
		kill := func() {
			var holder, host string
			var pid int
			must(t, program.QueryRow(`SELECT lease_holder FROM webhooks`).Scan(&holder))
			_, err := fmt.Sscan(holder, &host, &pid)
			must(t, err)
			command := running[pid]
			delete(running, pid)
			must(t, command.Process.Kill())
			_ = command.Wait()
			if shared {
				_, err := program.Exec(`UPDATE webhooks SET lease_until = now()`)
				must(t, err)
			}
			serve()
		}

		serve()
		if shared {
			serve()
		}
		lines := []string{strings.Join(model.ImportFields, ",")}
		for n := range 12 {
			lines = append(lines, fmt.Sprintf("Book %d,,1,2001-02-03,An author,1.00,Genre,Category", n))
		}
		catalogue(t, 0, strings.Join(lines, "\n"), "import", "-", database)
		<-to.failed
		for failures := 0; failures == 0; {
			must(t, program.QueryRow(`SELECT failures FROM webhooks`).Scan(&failures))
		}
		catalogue(t, 0, "", "webhook", "enable", "1", database) // else the next attempt is in 5 seconds
		<-to.hung
		kill()
		_, err = program.Exec(`UPDATE books SET pages = pages + 1`)
		must(t, err)
		<-to.hung
		_, err = program.Exec(`DELETE FROM books WHERE id < 4`)
		must(t, err)
		kill()

		position := added.Position
		page, err := catalogtest.Open(t, url).Changes(t.Context(), model.ChangeArgs{After: &position, First: 100})
		must(t, err)
		if len(page.Nodes) != 2+12+12+3 {
			t.Fatalf("there are %d changes", len(page.Nodes))
		}
		last := ""
		for i := 0; i < len(page.Nodes); {
			change := page.Nodes[i]
			want := fmt.Sprintf(`,"data":{"position":%q,"type":%q,"id":%d,"operation":%q,"version":%d,`, change.Position,
				strings.ToLower(string(change.Type)), change.RowID, change.Operation, change.Version)
			switch id, body, _ := strings.Cut(<-to.accepted, " "); {
			case id == change.Position && strings.Contains(body, want):
				last = id
				i++
			case id == last: // its response was lost
			default:
				t.Fatalf("change %d is %s %s, want %s", i, id, body, want)
			}
		}
		for pid, command := range running { // a signal releases the lease
			delete(running, pid)
			must(t, command.Process.Signal(syscall.SIGTERM))
			must(t, command.Wait())
		}
		var held int
		must(t, program.QueryRow(`SELECT count(*) FROM webhooks WHERE lease_holder <> ''`).Scan(&held))
		if held != 0 {
			t.Error("a stopped server holds a lease")
		}
	})
}
