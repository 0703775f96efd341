package server_test

import (
	"database/sql"
	"net/http"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestFrames counts the functions of ours that stand between the handler of an endpoint
// and database/sql while a list is read, those of the goroutine's creators included: a
// reader has to follow each of them.
func TestFrames(t *testing.T) {
	url := catalogtest.Postgres(t)
	c := servertest.Serve(t, url)
	c.Shelves(t)
	program, err := sql.Open("postgres", url)
	servertest.Must(t, err)
	defer program.Close()
	for _, tt := range []struct {
		target, handler string
		most            int
	}{
		{"/api/books?per_page=20", "rest.(*handler).ServeHTTP", 16},
		{"/graphql?query={books{nodes{name}}}", "graphqlhttp.(*Handler).ServeHTTP", 21},
	} {
		c.Do(http.MethodGet, tt.target, "") // so that its statements are prepared
		holder, err := program.BeginTx(t.Context(), nil)
		servertest.Must(t, err)
		_, err = holder.ExecContext(t.Context(), `LOCK TABLE books IN ACCESS EXCLUSIVE MODE`)
		servertest.Must(t, err)
		answered := make(chan int, 1)
		go func() { answered <- c.Do(http.MethodGet, tt.target, "").Code }()
		var frames []string
		for stacks := make([]byte, 4<<20); !slices.ContainsFunc(frames, func(name string) bool { return strings.HasPrefix(name, "db.(*reader[") }); {
			frames = ownFrames(string(stacks[:runtime.Stack(stacks, true)]), tt.handler)
		}
		servertest.Must(t, holder.Rollback())
		if status := <-answered; status != http.StatusOK {
			t.Errorf("%s: status %d", tt.target, status)
		}
		t.Logf("%s: %d frames\n\t%s", tt.target, len(frames), strings.Join(frames, "\n\t"))
		if n := len(frames); n > tt.most {
			t.Errorf("%s: %d frames of ours, want %d at most", tt.target, n, tt.most)
		}
	}
}

var (
	goroutine = regexp.MustCompile(`^goroutine (\d+) `)
	createdIn = regexp.MustCompile(`created by (\S+) in goroutine (\d+)`)
	called    = regexp.MustCompile(`(?m)^(library-catalogue/\S+|database/sql\S+)\(`)
)

// ownFrames returns the functions of ours between database/sql and a handler.
func ownFrames(dump, handler string) []string {
	stacks := map[string]string{}
	at := ""
	for stack := range strings.SplitSeq(dump, "\n\n") {
		if id := goroutine.FindStringSubmatch(stack); id != nil {
			stacks[id[1]] = stack
			if strings.Contains(stack, "\ndatabase/sql.") && strings.Contains(stack, "\nlibrary-catalogue/db.") {
				at = id[1]
			}
		}
	}
	var frames []string
	for at != "" {
		stack := stacks[at]
		for _, call := range called.FindAllStringSubmatch(stack, -1) {
			name := call[1][strings.LastIndex(call[1], "/")+1:]
			if strings.HasPrefix(call[1], "database/") {
				frames = nil // those below it are not ours to follow
				continue
			}
			if frames = append(frames, name); strings.HasPrefix(name, handler) {
				slices.Reverse(frames)
				return frames
			}
		}
		creator := createdIn.FindStringSubmatch(stack)
		if at = ""; creator != nil {
			at = creator[2]
		}
	}
	return nil
}
