package rest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// TestBeside runs functions beside their caller, one after another, and none after one
// that fails.
func TestBeside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b beside
		var done []int
		goOn := make(chan struct{})
		run := func(n int) error {
			return b.begin(func() error {
				<-goOn
				done = append(done, n)
				return nil
			})
		}
		if err := run(1); err != nil || done != nil {
			t.Errorf("%v, %v", err, done)
		}
		go func() { goOn <- struct{}{}; goOn <- struct{}{} }()
		if err := run(2); err != nil {
			t.Error(err)
		}
		if err := b.wait(); err != nil || !slices.Equal(done, []int{1, 2}) {
			t.Errorf("%v, %v", err, done)
		}
	})
	broken := errors.New("broken")
	for name, fail := range map[string]func() error{"error": func() error { return broken }, "panic": func() error { panic("broken") }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b beside
			_ = b.begin(fail)
			err := b.begin(func() error { t.Error("it goes on"); return nil })
			if err == nil || !strings.Contains(err.Error(), "broken") || b.wait() == nil {
				t.Errorf("the next has %v", err)
			}
		})
	}
}
