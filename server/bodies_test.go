package server

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

const mebibyte = 1 << 20

// reading is a handler that reads bodies to their end, then waits for answer,
// answers, and waits for sent: as one does whose client reads slowly.
type reading struct {
	http.Handler
	read         chan error // what came of reading, for each request
	answer, sent chan struct{}
}

func newReading(b *bodies) *reading {
	h := &reading{read: make(chan error, 100), answer: make(chan struct{}), sent: make(chan struct{})}
	h.Handler = b.bound(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// TestBodiesHeld has clients send all of a large body but its end: there is no
// room for more of them, but for small ones and, when they are gone, for others.
func TestBodiesHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newReading(newBodies(mebibyte, newAdmission(1_000_000)))
		close(h.answer)
		close(h.sent)
		var held []*io.PipeWriter
		for range largeBodies {
			body, client := io.Pipe()
			h.send(body)
			if _, err := io.WriteString(client, strings.Repeat("0", mebibyte)); err != nil {
				t.Fatal(err)
			}
			held = append(held, client)
		}
		if errs := h.after(); len(errs) > 0 {
			t.Fatal(errs)
		}
		h.send(zeros(mebibyte))
		if errs := h.after(); len(errs) != 1 || !errors.Is(errs[0], errBodies) {
			t.Errorf("one too many: %v", errs)
		}
		for range 50 {
			h.send(zeros(smallBody))
		}
		if errs := h.after(); len(errs) != 50 || errors.Join(errs...) != nil {
			t.Errorf("small ones: %v", errs)
		}
		held[0].CloseWithError(io.ErrUnexpectedEOF) // as where the server cuts it
		if errs := h.after(); len(errs) != 1 || !errors.Is(errs[0], io.ErrUnexpectedEOF) {
			t.Errorf("the one that was cut: %v", errs)
		}
		h.send(zeros(mebibyte))
		if errs := h.after(); len(errs) != 1 || errs[0] != nil {
			t.Errorf("in its place: %v", errs)
		}
		for _, client := range held[1:] {
			client.Close()
		}
		h.after()
	})
}

// TestBodiesRefused wants no memory for a large body that there is no room for.
func TestBodiesRefused(t *testing.T) {
	b := newBodies(mebibyte, newAdmission(1_000_000))
	b.room.Store(0)
	for _, length := range []int64{mebibyte, -1} {
		request := httptest.NewRequest(http.MethodPost, "/", zeros(mebibyte))
		request.ContentLength = length
		b.bound(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n, err := io.Copy(io.Discard, r.Body); !errors.Is(err, errBodies) || n > 2*smallBody {
				t.Errorf("%v after %d bytes", err, n)
			}
		})).ServeHTTP(httptest.NewRecorder(), request)
	}
}

// TestBodiesTakeTurns works on more large bodies than there are turns for.
func TestBodiesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBodies(mebibyte, newAdmission(1_000_000))
		h := newReading(b)
		b.admission.turns = make(chan struct{}, 1)
		turns := cap(b.admission.turns)
		for range turns + 1 {
			h.send(zeros(2 * smallBody))
		}
		if errs := h.after(); len(errs) != turns || errors.Join(errs...) != nil {
			t.Errorf("%d turns: %v", turns, errs)
		}
		for range 20 {
			h.send(zeros(smallBody))
		}
		if errs := h.after(); len(errs) != 20 || errors.Join(errs...) != nil {
			t.Errorf("small ones: %v", errs)
		}
		time.Sleep(requestTimeout)
		if errs := h.after(); len(errs) != 1 || !errors.Is(errs[0], errBusy) {
			t.Errorf("one that has waited: %v", errs)
		}
		// Who is answered has had its turn, however slowly it reads the answer.
		h.send(zeros(2 * smallBody))
		close(h.answer)
		time.Sleep(longestRest)
		if errs := h.after(); len(errs) != 1 || errs[0] != nil {
			t.Errorf("the next one: %v", errs)
		}
		close(h.sent)
		time.Sleep(longestRest)
		synctest.Wait()
		if len(b.admission.turns) != 0 || b.room.Load() != largeBodies*mebibyte {
			t.Errorf("%d turns and %d bytes are still taken", len(b.admission.turns), largeBodies*mebibyte-b.room.Load())
		}
	})
}
