package lookup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/task"
)

// rawSource returns a Service with a source whose connections respond writes. Time is that of the bubble of synctest.
// The connections end with the test.
func rawSource(t *testing.T, respond func(conn net.Conn, request *http.Request)) *Service {
	t.Helper()
	s := sourceAt(t, "http://a.example/sru?query={isbn}")
	var connections sync.WaitGroup
	transport := s.sources[0].client.Transport.(*http.Transport)
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		here, there := net.Pipe()
		connections.Go(func() {
			defer there.Close()
			if request, err := http.ReadRequest(bufio.NewReader(there)); err == nil {
				respond(there, request)
			}
		})
		return here, nil
	}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		connections.Wait()
	})
	return s
}

// TestBrokenHTTP reads responses that are not HTTP, or that lie. The reason has no text of the source.
func TestBrokenHTTP(t *testing.T) {
	const notHTTP, early, tooLong = "UNREACHABLE The source does not respond with valid HTTP.", "UNREACHABLE The response ended too early.", "UNREACHABLE The response is longer than 1 MiB."
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n"
	short := fmt.Sprintf("%sConnection: close\r\nContent-Length: %d\r\n\r\n%s<secret/>", ok, len(unknown), unknown)
	for name, tt := range map[string]struct{ response, then, want string }{
		"nothing": {"", "", early}, "another protocol": {"SSH-2.0-secret\r\n", "", notHTTP}, "no status": {"HTTP/1.1 secret\r\n\r\n", "", notHTTP},
		"a broken header": {"HTTP/1.1 200 OK\r\nsecret\r\n\r\n", "", notHTTP}, "a cut header": {ok + "X-Secret: se", "", early},
		"two lengths": {ok + "Content-Length: 5\r\nContent-Length: 6666\r\n\r\nsecret", "", notHTTP}, "no number as length": {ok + "Content-Length: secret\r\n\r\n", "", notHTTP},
		"a negative length": {ok + "Content-Length: -5\r\n\r\nsecret", "", notHTTP}, "a shorter length": {short, "", "UNKNOWN"}, "a longer length": {ok + "Content-Length: 99\r\n\r\n<a/>", "", early},
		"the longest length": {ok + "Content-Length: 9223372036854775807\r\n\r\n", "a", tooLong}, "a broken chunk": {ok + "Transfer-Encoding: chunked\r\n\r\nsecret\r\n", "", notHTTP},
		"a huge chunk": {ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "", notHTTP}, "an unknown coding": {ok + "Transfer-Encoding: secret\r\n\r\n", "", notHTTP}, "no gzip": {ok + "Content-Encoding: gzip\r\n\r\nsecret-secret-secret", "", notHTTP},
		"endless headers": {"HTTP/1.1 200 OK\r\n", "X-Secret: secret\r\n", notHTTP}, "an endless header": {"HTTP/1.1 200 OK\r\nX: ", "secret", notHTTP}, "endless hints": {"", "HTTP/1.1 103 Early Hints\r\nLink: <secret>\r\n\r\n", notHTTP},
		"an endless body": {ok + "\r\n", "secret", tooLong}, "endless chunks": {ok + "Transfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", tooLong}, "endless trailers": {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X-Secret: secret\r\n", notHTTP},
		"a broken address": {"HTTP/1.1 302 Found\r\nLocation: http://secret%zz/\r\n\r\n", "", notHTTP}, "no address": {"HTTP/1.1 302 Found\r\n\r\nsecret", "", "UNREACHABLE The source responded with 302."}, "an endless redirect": {"HTTP/1.1 302 Found\r\nLocation: https://secret.example/\r\n\r\n", "secret", "UNREACHABLE The source redirects to another host or an insecure address."},
		"an endless refusal": {"HTTP/1.1 404 secret\r\n\r\n", "secret", "REFUSED The source responded with 404."}, "a switch": {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: secret\r\nConnection: Upgrade\r\n\r\n", "", "UNREACHABLE The source responded with 101."},
		"a strange status": {"HTTP/1.1 999 secret\r\n\r\n", "", "UNREACHABLE The source responded with 999."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rawSource(t, func(conn net.Conn, _ *http.Request) {
					_, err := io.WriteString(conn, tt.response)
					for tt.then != "" && err == nil {
						_, err = io.WriteString(conn, strings.Repeat(tt.then, 1000))
					}
				})
				start := time.Now()
				if _, status := first(t, s); status != tt.want || time.Since(start) > 0 {
					t.Errorf("%s after %v, want %s", status, time.Since(start), tt.want)
				}
			})
		})
	}
}

// TestSlowHTTP ends a source after 5 s, whatever it does in this time.
func TestSlowHTTP(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	for name, parts := range map[string][2]string{
		"a silent one": {"", ""}, "a header": {head, "X: a\r\n"}, "a body": {head + "\r\n", "a"}, "chunks": {head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"},
		"hints": {"", "HTTP/1.1 103 Early Hints\r\n\r\n"}, "gzip": {head + "Content-Encoding: gzip\r\n\r\n", "\x1f"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rawSource(t, func(conn net.Conn, _ *http.Request) {
					_, err := io.WriteString(conn, parts[0])
					for err == nil {
						time.Sleep(1100 * time.Millisecond)
						_, err = io.WriteString(conn, parts[1])
					}
				})
				start := time.Now()
				if _, status := first(t, s); status != "UNREACHABLE The source did not respond within 5s." || time.Since(start) != maxSourceTime {
					t.Errorf("%s after %v", status, time.Since(start))
				}
			})
		})
	}
}

// TestCertificate refuses a certificate of another host, without its names.
func TestCertificate(t *testing.T) {
	t.Parallel()
	to := httptest.NewUnstartedServer(http.NotFoundHandler())
	to.Config.ErrorLog = log.New(io.Discard, "", 0)
	to.StartTLS()
	defer to.Close()
	_, status := first(t, sourceAt(t, to.URL+"/?query={isbn}"))
	if status != "UNREACHABLE The certificate of the source is not valid for its host." {
		t.Error(status)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	_, status = first(t, sourceAt(t, strings.Replace(plain.URL, "http:", "https:", 1)+"/?query={isbn}"))
	if status != "UNREACHABLE The source does not respond with valid HTTP." {
		t.Error(status)
	}
}

// TestPrivateForms refuses private addresses in all notations, whatever a name has led to before: the check is of the
// address of each connection.
func TestPrivateForms(t *testing.T) {
	t.Parallel()
	dial := dialer("")
	for _, address := range []string{
		"127.0.0.1:80", "[::ffff:127.0.0.1]:80", "[::ffff:7f00:1]:80", "[::ffff:0:127.0.0.1]:80", "[::127.0.0.1]:80", "[64:ff9b::7f00:1]:80", "[64:ff9b:1::7f00:1]:80", "[2002:7f00:1::]:80",
		"[2001:0:7f00:1::]:80", "[fe80::1%lo]:80", "[fe80::1]:80", "[fec0::1]:80", "[fd00::1]:80", "[ff02::1]:80", "[::]:80", "0.0.0.0:80", "[::1%lo]:80", "169.254.169.254:80", "[fd00:ec2::254]:80", "100.100.100.200:80", "255.255.255.255:80",
	} {
		conn, err := dial(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "has an address that is not public") && !strings.Contains(err.Error(), "no such network interface") {
			t.Errorf("%s: %v", address, err)
		}
	}
	// Other notations of 127.0.0.1 are names, which may resolve to it.
	for _, host := range []string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "localhost.", "LOCALHOST"} {
		if conn, err := dial(t.Context(), "tcp", host+":80"); err == nil {
			conn.Close()
			t.Errorf("%s is reached", host)
		} else if _, isName := errors.AsType[*net.DNSError](err); !isName && !strings.Contains(err.Error(), "has an address that is not public") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestPauseOfWaiting leaves a source alone that asks for a pause while other look-ups wait for it.
func TestPauseOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests atomic.Int64
		s := newFake(t, fake{"a.example": func(*http.Request) (*http.Response, error) {
			requests.Add(1)
			time.Sleep(time.Second)
			return respond(429, "", "Retry-After", "600"), nil
		}, "b.example": func(*http.Request) (*http.Response, error) { return respond(200, unknown), nil }})
		var ended []<-chan error
		for i := range maxLookups {
			isbn, _ := numbered(i)
			ended = append(ended, task.Go(t.Context(), func() error { statuses(t, s, isbn); return nil }))
		}
		for _, done := range ended {
			<-done
		}
		if requests.Load() != maxRequests {
			t.Errorf("%d requests were sent, %d of them after the source had asked for a pause", requests.Load(), requests.Load()-maxRequests)
		}
	})
}

// TestHundred looks up one ISBN a hundred times at once: eight look-ups run, and the others are refused.
func TestHundred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests, refused atomic.Int64
		s := newFake(t, fake{"a.example": func(*http.Request) (*http.Response, error) {
			requests.Add(1)
			time.Sleep(time.Second)
			return respond(200, unknown), nil
		}, "b.example": func(*http.Request) (*http.Response, error) { return respond(200, unknown), nil }})
		var ended []<-chan error
		for range 100 {
			ended = append(ended, task.Go(t.Context(), func() error {
				if _, err := s.Find(t.Context(), asked); err != nil {
					refused.Add(1)
				}
				return nil
			}))
		}
		for _, done := range ended {
			<-done
		}
		if refused.Load() != 100-maxLookups || requests.Load() != maxLookups {
			t.Errorf("%d were refused, and the source was asked %d times", refused.Load(), requests.Load())
		}
	})
}
