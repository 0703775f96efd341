package rest

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// TestWriter makes the next text while one is written, and writes nothing after one that
// could not be.
func TestWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := make(chan struct{})
		var written []string
		w := writer{dst: writeFunc(func(p []byte) (int, error) {
			<-room
			written = append(written, string(p))
			return len(p), nil
		})}
		if err := w.write([]byte("first")); err != nil || written != nil {
			t.Errorf("%v, %q", err, written)
		}
		go func() { room <- struct{}{}; room <- struct{}{} }()
		if err := w.write([]byte("second")); err != nil {
			t.Error(err)
		}
		if err := w.wait(); err != nil || strings.Join(written, " ") != "first second" {
			t.Errorf("%v, %q", err, written)
		}
	})
	broken := errors.New("broken")
	for name, fail := range map[string]func() error{"error": func() error { return broken }, "panic": func() error { panic("broken") }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			writes := 0
			w := writer{dst: writeFunc(func([]byte) (int, error) { writes++; return 0, fail() })}
			_ = w.write(nil)
			if err := w.write(nil); err == nil || !strings.Contains(err.Error(), "broken") {
				t.Errorf("the write after it: %v", err)
			}
			if err := w.wait(); err == nil || writes != 1 {
				t.Errorf("at the end: %v, %d writes", err, writes)
			}
		})
	}
}
