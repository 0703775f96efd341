package soak

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// follower follows the books of the catalogue by an event stream and by a webhook, through all faults.
type follower struct {
	mu              sync.Mutex
	events, hooks   map[string]int // times that each change of a book came
	resumed, resent int
	last            string // webhook-id
}

// change is a change of a book.
type change struct {
	ID        json.Number
	Operation string
}

// follow starts a follower of all changes from now on.
func follow(t *testing.T, s *site) *follower {
	t.Helper()
	f := &follower{events: map[string]int{}, hooks: map[string]int{}}
	listener, err := net.Listen("tcp", "127.0.4.20:0")
	must(t, err)
	receiver := &http.Server{Handler: http.HandlerFunc(f.receive)}
	go func() { _ = receiver.Serve(listener) }()
	t.Cleanup(func() { receiver.Close() })
	output(t, s.on(t, "app1", "env", "PGPASSWORD=server", "CATALOGUE_DATABASE_URL="+pooledURL, s.program,
		"webhook", "add", "http://"+listener.Addr().String(), "--types=book", "--webhook-private"))
	response, err := http.Head("http://127.0.4.20:8080/api/changes")
	must(t, err)
	response.Body.Close()
	position := response.Header.Get("Catalogue-Position")
	go func() {
		for t.Context().Err() == nil {
			position = f.read(t, position)
		}
	}()
	return f
}

// read reads an event stream until it breaks or has brought some changes, and returns the last position.
func (f *follower) read(t *testing.T, position string) string {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://127.0.4.20:8080/api/changes?types=book", nil)
	if err != nil {
		t.Error(err)
		return position
	}
	request.Header = http.Header{"Accept": {"text/event-stream"}, "Last-Event-Id": {position}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return position
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusGone {
		t.Errorf("the position %s is gone, and no commit was lost", position)
	}
	if response.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, response.Body)
		return position
	}
	lines := bufio.NewScanner(response.Body)
	var c change
	for n := 0; n < 200 && lines.Scan(); {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
		case "data":
			if err := json.Unmarshal([]byte(value), &c); err != nil {
				t.Error(err)
			}
		case "id":
			position = value
		case "":
			if c.Operation != "" {
				n++
				f.mu.Lock()
				f.events[fmt.Sprint(c.Operation, " ", c.ID)]++
				f.mu.Unlock()
			}
			c = change{}
		}
	}
	f.mu.Lock()
	f.resumed++
	f.mu.Unlock()
	return position
}

// receive is the webhook. The last message may come again.
func (f *follower) receive(_ http.ResponseWriter, r *http.Request) {
	var message struct{ Data change }
	if json.NewDecoder(r.Body).Decode(&message) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if id := r.Header.Get("webhook-id"); id == f.last {
		f.resent++
	} else {
		f.last = id
		f.hooks[fmt.Sprint(message.Data.Operation, " ", message.Data.ID)]++
	}
}

// compare waits until both have told of the stored books, each once.
func (f *follower) compare(t *testing.T, s *site, ids []string) {
	t.Helper()
	for name, told := range map[string]map[string]int{"the event stream": f.events, "the webhook": f.hooks} {
		s.await(t, name+" has told of all books", func() bool {
			f.mu.Lock()
			defer f.mu.Unlock()
			return !slices.ContainsFunc(ids, func(id string) bool { return told["CREATE "+id] == 0 })
		})
		f.mu.Lock()
		for c, times := range told {
			if times != 1 {
				t.Errorf("%s told of %s %d times", name, c, times)
			}
		}
		if len(told) != len(ids) {
			t.Errorf("%s told of %d books, and %d are stored", name, len(told), len(ids))
		}
		f.mu.Unlock()
	}
	t.Logf("the event stream was resumed %d times; the webhook got %d messages twice", f.resumed, f.resent)
}
