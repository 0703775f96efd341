package socket

import (
	"context"
	"testing"

	"library-catalogue/edge/caller"
)

// TestUnsent lets results wait on sockets of two callers until one must be closed: the largest of the caller with most.
func TestUnsent(t *testing.T) {
	t.Parallel()
	socketOf := func(subject string) *socket {
		return &socket{caller: caller.With(context.Background(), caller.Subject(subject))}
	}
	honest, first, second := socketOf("honest"), socketOf("greedy"), socketOf("greedy")
	u := unsent{sockets: map[*socket]int{}}
	const part = maxUnsentBytes / 8
	for _, step := range []struct {
		socket *socket
		parts  int
		victim *socket
	}{{honest, 3, nil}, {first, 2, nil}, {second, 3, nil}, {honest, 1, second}, {first, 2, first}} {
		if victim := u.add(step.socket, step.parts*part); victim != step.victim {
			t.Errorf("%+v: another socket is to be closed", step)
		}
	}
	for s, parts := range map[*socket]int{honest: 4, first: 4, second: 3} {
		u.done(s, parts*part)
	}
	if u.total != 0 || len(u.sockets) != 0 {
		t.Errorf("%d bytes of %d sockets remain", u.total, len(u.sockets))
	}
}
