package ratelimit

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestGoneIsNotDelayed refuses two clients with bodies, of which one goes: its
// connection ends before the other, which was first, has its answer.
func TestGoneIsNotDelayed(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, Rate{PerSecond: 1.0 / (1 << 20), Burst: 1})
	srv := httptest.NewUnstartedServer(limited(t, l, func(http.ResponseWriter, *http.Request) {}))
	closed := make(chan string, 4)
	srv.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- c.RemoteAddr().String()
		}
	}
	srv.Start()
	defer srv.Close()
	post := func() net.Conn {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 20000\r\n\r\n"+strings.Repeat("x", 20_000)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	answer := func(conn net.Conn) int {
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode
	}
	for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} { // the second is not delayed yet
		conn := post()
		if got := answer(conn); got != want {
			t.Errorf("request %d: status %d, want %d", i, got, want)
		}
		conn.Close()
		<-closed
	}
	waits := post()
	gone := post()
	gone.Close()
	if got := <-closed; got != gone.LocalAddr().String() {
		t.Errorf("the connection of %s ends first, want that of %s, whose client has gone", got, gone.LocalAddr())
	}
	if got := answer(waits); got != http.StatusTooManyRequests {
		t.Errorf("status %d, want 429", got)
	}
}
