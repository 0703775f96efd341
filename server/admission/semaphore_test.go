package admission

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestPermitsGoRound has three of one network wait for a permit before one of another.
func TestPermitsGoRound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(1)
		first := s.acquire(netip.Addr{})
		acquired := make(chan string)
		for _, name := range []string{"192.0.2.1 a", "192.0.2.1 b", "192.0.2.1 c", "192.0.2.2 d"} {
			go func() {
				p := s.acquire(netip.MustParseAddr(name[:len("192.0.2.1")]))
				acquired <- name[len(name)-1:]
				s.release(p)
			}()
			synctest.Wait()
		}
		s.release(first)
		var got []string
		for range 4 {
			got = append(got, <-acquired)
		}
		if want := []string{"a", "d", "b", "c"}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		synctest.Wait()
		if len(s.held)+len(s.waiting)+len(s.networks) != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// TestPermitEnds has as many requests as there are permits wait in their handlers, or for
// the rest of their headers: the next is looked at once they do, or, where the handlers do
// not say so, when their permits expire.
func TestPermitEnds(t *testing.T) {
	t.Parallel()
	request := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" }
	for text, want := range map[string]time.Duration{
		request("/silent"): permitTime,
		request("/says"):   0,
		request("/writes"): 0,
		begun:              0,
	} {
		t.Run(fmt.Sprintf("%q", text[:8]), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				end := make(chan struct{})
				defer close(end)
				n := serve(t, 1000, func(w http.ResponseWriter, r *http.Request) {
					switch r.URL.Path {
					case "/":
						return
					case "/says":
						ReleasePermit(r.Context())
					case "/writes":
						_, _ = io.WriteString(w, "a")
						_ = http.NewResponseController(w).Flush()
					}
					<-end
				})
				for range runtime.GOMAXPROCS(0) {
					conn := n.dial("192.0.2.1", text)
					go func() { _, _ = io.Copy(io.Discard, conn) }()
				}
				synctest.Wait()
				asked := time.Now()
				n.wantAnswer(n.dial("192.0.2.1", get))
				if took := time.Since(asked); took != want {
					t.Errorf("the next is answered after %v, want %v", took, want)
				}
			})
		})
	}
}

// TestLargeBodyNeedsNoPermit sends what follows the first bytes of a body while others have
// all permits.
func TestLargeBodyNeedsNoPermit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		n := serve(t, 1000, handle(end))
		body := n.dial("192.0.2.1", upload)
		send := func() time.Duration {
			begun := time.Now()
			if _, err := body.Write(make([]byte, 2*SmallBody)); err != nil {
				t.Fatal(err)
			}
			return time.Since(begun)
		}
		send()
		for range runtime.GOMAXPROCS(0) {
			n.dial("192.0.2.1", "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		if took := send(); took > 0 {
			t.Errorf("the rest of the body was read after %v", took)
		}
	})
}
