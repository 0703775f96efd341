package admission

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

const (
	mebibyte = 1 << 20
	timeout  = 30 * time.Second
)

func newBodies() *Bodies { return New(16, 1_000_000, timeout).Bodies(mebibyte) }

// reading is a handler that reads bodies to their end, then waits for answer,
// answers, and waits for sent: as one does whose client reads slowly.
type reading struct {
	http.Handler
	read         chan error // what came of reading, for each request
	answer, sent chan struct{}
}

func newReading(b *Bodies) *reading {
	h := &reading{read: make(chan error, 100), answer: make(chan struct{}), sent: make(chan struct{})}
	h.Handler = b.Middleware(mebibyte)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newReading(newBodies())
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
		if errs := h.after(); len(errs) != 1 || !errors.Is(errs[0], ErrBodies) {
			t.Errorf("one too many: %v", errs)
		}
		for range 50 {
			h.send(zeros(SmallBody))
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

// TestLargeBodiesQueue works on more large bodies of one caller than it has places.
func TestLargeBodiesQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBodies()
		h := newReading(b)
		heavyRoom := &b.controller.rooms[heavy]
		const large = (lightCost + 1) * bodyCost
		places := int(heavyRoom.share / heavyRoom.least)
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
		if heavyRoom.used != 0 || b.room.Load() != largeBodies*mebibyte {
			t.Errorf("%d places and %d bytes are still taken", heavyRoom.used/heavyRoom.least, largeBodies*mebibyte-b.room.Load())
		}
	})
}
