package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

const (
	mebibyte = 1 << 20
	timeout  = 30 * time.Second
)

func newBodies() *Bodies {
	c := New(16, 1_000_000, timeout)
	c.shared = time.Now() // no caller is alone
	return c.Bodies(mebibyte)
}

// reading is a handler that reads bodies to their end, then waits for answer,
// answers, and waits for sent: as one does whose client reads slowly.
type reading struct {
	http.Handler
	read         chan error // what came of reading, for each request
	answer, sent chan struct{}
}

func newReading(b *Bodies) *reading {
	h := &reading{read: make(chan error, 100), answer: make(chan struct{}), sent: make(chan struct{})}
	h.Handler = b.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		h.read <- err
		<-h.answer
		w.WriteHeader(http.StatusOK)
		<-h.sent
	}))
	return h
}

// send begins a request whose body comes from a reader, of unknown length.
func (h *reading) send(body io.Reader) {
	go h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", body))
}

// after gives what has come of reading once nothing goes on any more.
func (h *reading) after() (errs []error) {
	synctest.Wait()
	for {
		select {
		case err := <-h.read:
			errs = append(errs, err)
		default:
			return errs
		}
	}
}

// zeros are so many bytes of unknown length.
func zeros(n int) io.Reader { return iotest.HalfReader(strings.NewReader(strings.Repeat("0", n))) }

// sending is a request whose body has come in part.
type sending struct {
	*httptest.ResponseRecorder
	client *io.PipeWriter

	mu    sync.Mutex
	err   error // of reading
	ended bool
}

// result returns what came of reading, and whether it is over.
func (u *sending) result() (ended bool, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ended, u.err
}

// SetReadDeadline is called to end the reading.
func (u *sending) SetReadDeadline(time.Time) error {
	return u.client.CloseWithError(os.ErrDeadlineExceeded)
}

// taken returns how many bytes are held, and of how many bodies that are coming.
func (b *Bodies) taken() (held int64, bodies int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, len(b.coming)
}

// beginBody sends so many bytes of a body. A caller in capitals has a token.
func beginBody(b *Bodies, who string, bytes int) *sending {
	body, client := io.Pipe()
	u := &sending{ResponseRecorder: httptest.NewRecorder(), client: client}
	ctx := caller.With(context.Background(), caller.Subject(who))
	if who == strings.ToUpper(who) {
		ctx = model.WithPrincipal(ctx, model.Principal{Subject: who})
	}
	go b.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		u.mu.Lock()
		defer u.mu.Unlock()
		u.err, u.ended = err, true
	})).ServeHTTP(u, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", body))
	_, _ = io.WriteString(client, strings.Repeat("0", bytes))
	synctest.Wait()
	return u
}

// end sends the end of the body.
func (u *sending) end() error {
	u.client.Close()
	synctest.Wait()
	_, err := u.result()
	return err
}

// TestBodiesAreFair fills the room with bodies that do not end. Others get theirs
// through: those with a token, callers who send fewer, and those who send faster.
func TestBodiesAreFair(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		holder func(i int) string
		honest string
	}{
		"without a token":  {func(i int) string { return fmt.Sprint("caller ", i) }, "HONEST"},
		"of one caller":    {func(int) string { return "HOLDER" }, "HONEST"},
		"slower":           {func(i int) string { return fmt.Sprint("CALLER ", i) }, "HONEST"},
		"slower, no token": {func(i int) string { return fmt.Sprint("caller ", i) }, "honest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBodies()
				var holders []*sending
				for i := range 4 * largeBodies {
					holders = append(holders, beginBody(b, tt.holder(i), mebibyte/4-1))
				}
				time.Sleep(time.Second)
				first := beginBody(b, tt.honest, mebibyte) // while others wait for it to end
				for range 3 * largeBodies {
					if err := beginBody(b, tt.honest, mebibyte).end(); err != nil {
						t.Fatal(err)
					}
					if held, _ := b.taken(); held > b.max {
						t.Errorf("%d bytes are held", held)
					}
				}
				if err := first.end(); err != nil {
					t.Error(err)
				}
				refused := 0
				for _, u := range holders {
					switch ended, err := u.result(); {
					case errors.Is(err, ErrBodies):
						refused++
					case ended:
						t.Error(err)
					}
					u.client.Close()
				}
				if synctest.Wait(); refused == 0 || refused > 10 { // as many as make room for two
					t.Errorf("%d were refused", refused)
				}
				if held, bodies := b.taken(); held != 0 || bodies > 0 {
					t.Errorf("%d bytes of %d bodies are still held", held, bodies)
				}
			})
		})
	}
}

// TestBodiesRefused has no room but that of bodies which are whole: one without end is
// refused, and small ones are not.
func TestBodiesRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies()
		b.controller.timeout = time.Hour
		h := newReading(b)
		for range largeBodies {
			h.send(zeros(mebibyte))
		}
		h.after()
		if _, err := beginBody(b, "HONEST", 2*SmallBody).result(); !errors.Is(err, ErrBodies) {
			t.Errorf("one too many: %v", err)
		}
		if err := beginBody(b, "HONEST", SmallBody).end(); err != nil {
			t.Errorf("a small one: %v", err)
		}
		close(h.answer)
		close(h.sent)
		h.after()
		if err := beginBody(b, "HONEST", mebibyte).end(); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}

// TestLargeBodiesQueue works on more large bodies of one caller than it has places.
func TestLargeBodiesQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies()
		h := newReading(b)
		heavyRoom := &b.controller.rooms[heavy]
		const large = (lightCost + 1) * bodyCost
		places := int(heavyRoom.most / heavyRoom.least)
		for range places + 1 {
			h.send(zeros(large))
		}
		if errs := h.after(); len(errs) != places || errors.Join(errs...) != nil {
			t.Errorf("%d places: %v", places, errs)
		}
		for range 20 {
			h.send(zeros(SmallBody))
		}
		if errs := h.after(); len(errs) != 20 || errors.Join(errs...) != nil {
			t.Errorf("small ones: %v", errs)
		}
		time.Sleep(timeout)
		if errs := h.after(); len(errs) != 1 || !errors.Is(errs[0], ErrBusy) {
			t.Errorf("one that has waited: %v", errs)
		}
		// Who is answered holds nothing any more, however slowly it reads the answer.
		h.send(zeros(large))
		close(h.answer)
		if errs := h.after(); len(errs) != 1 || errs[0] != nil {
			t.Errorf("the next one: %v", errs)
		}
		close(h.sent)
		synctest.Wait()
		if heavyRoom.used != 0 || b.held != 0 {
			t.Errorf("%d places and %d bytes are still taken", heavyRoom.used/heavyRoom.least, b.held)
		}
	})
}
