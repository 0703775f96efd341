package admission

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// bodyServer reads bodies of up to 1 MiB, and answers once parsed is closed. It gives the
// room of a body for /release back before that.
func bodyServer(t *testing.T, c *Controller, parsed <-chan struct{}) *network {
	limit := func(next http.Handler) http.Handler { return BodyTimeout(DefaultBodyTimeout)(c.Bodies(1 << 20)(next)) }
	return serve(t, 500, limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if r.URL.Path == "/release" {
			ReleaseBody(r)
		}
		<-parsed
		if r.Context().Err() != nil {
			t.Errorf("the request was ended: %v", r.Context().Err())
		}
	})).ServeHTTP)
}

func post(path string, length int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", path, length)
}

const chunked = "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

// TestBodyTimeout sends no body: the server waits for 10 s. One that came is worked for
// longer than that.
func TestBodyTimeout(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{post("/", 1000), post("/", 1<<20), chunked} {
		synctest.Test(t, func(t *testing.T) {
			n := bodyServer(t, New(16), nil)
			begun := time.Now()
			status, took := n.status(n.dial("192.0.2.1", begin)), time.Since(begun)
			if status != http.StatusBadRequest || took < 10*time.Second || took > 11*time.Second {
				t.Errorf("%.20q: status %d after %v", begin, status, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // it holds permits
		n := bodyServer(t, New(16), nil)
		begun := time.Now()
		status, took := n.status(n.dial("192.0.2.1", post("/", 1<<20)+strings.Repeat("a", SmallBody+1))), time.Since(begun)
		if status != http.StatusBadRequest || took < idleBodyTimeout || took >= 5*time.Second {
			t.Errorf("a body that stops: status %d after %v", status, took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		parsed := make(chan struct{})
		n := bodyServer(t, New(16), parsed)
		conn := n.dial("192.0.2.1", post("/", 5)+"abcde")
		time.Sleep(25 * time.Second)
		close(parsed)
		n.wantAnswer(conn)
	})
}

// TestRoomForBodies has the room that a body holds while it is worked for: none where it is
// small or was released, and in no case afterwards. See TestBodiesHeldBack in package
// server for bodies that wait for room.
func TestRoomForBodies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		begin, body string
		want        int64
		status      int
	}{
		{post("/", SmallBody), strings.Repeat("a", SmallBody), 0, 200},
		{post("/", SmallBody+1), strings.Repeat("a", SmallBody+1), SmallBody + 1, 200},
		{post("/release", 1<<20), strings.Repeat("a", 1<<20), 0, 200},
		{post("/", 1<<20), "a", 0, 400}, // it does not come
		{chunked, strings.Repeat("1000\r\n"+strings.Repeat("a", 1<<12)+"\r\n", 7) + "0\r\n\r\n", 1 << 20, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			parsed := make(chan struct{})
			c := New(16)
			n := bodyServer(t, c, parsed)
			conn := n.dial("192.0.2.1", tt.begin)
			if _, err := io.WriteString(conn, tt.body); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if used, _ := c.bodies.holds(); used != tt.want {
				t.Errorf("%.20q: %d bytes are held, want %d", tt.begin, used, tt.want)
			}
			close(parsed)
			status := n.status(conn)
			synctest.Wait()
			if used, _ := c.bodies.holds(); status != tt.status || used != 0 {
				t.Errorf("%.20q: status %d, and %d bytes are held in the end", tt.begin, status, used)
			}
		})
	}
}
