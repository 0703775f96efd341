package db

import (
	"context"
	"testing"
	"time"
)

// TestCloseHasALimit waits for a background function that does not end with its context.
func TestCloseHasALimit(t *testing.T) {
	t.Parallel()
	s := &Store{life: t.Context()}
	began, end := make(chan struct{}), make(chan struct{})
	s.Background(func(context.Context) {
		close(began)
		<-end
	})
	<-began
	limit := make(chan time.Time)
	close(limit)
	if s.waitForBackground(limit) {
		t.Error("the function has ended")
	}
	close(end)
	if !s.waitForBackground(nil) {
		t.Error("the wait has ended before the function")
	}
}
