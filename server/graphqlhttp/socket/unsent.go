package socket

import (
	"cmp"
	"sync"

	"library-catalogue/edge/caller"
)

// maxUnsentBytes is the maximum total of results that wait for clients of sockets.
const maxUnsentBytes = 32 << 20

// unsent counts the results that wait for clients. It is safe for concurrent use.
type unsent struct {
	mu      sync.Mutex
	total   int
	sockets map[*socket]int // bytes
}

// add adds n bytes to those that wait on a socket. Above maxUnsentBytes it returns the socket to close: of the caller
// with most bytes the one with most bytes. Else it returns nil. Call done with the same n after the write.
func (u *unsent) add(s *socket, n int) (victim *socket) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total += n
	u.sockets[s] += n
	if u.total <= maxUnsentBytes {
		return nil
	}
	callers := map[caller.Key]int{}
	for s, n := range u.sockets {
		callers[s.owner()] += n
	}
	for s, n := range u.sockets {
		if victim == nil ||
			cmp.Or(cmp.Compare(callers[s.owner()], callers[victim.owner()]), cmp.Compare(n, u.sockets[victim])) > 0 {
			victim = s
		}
	}
	return victim
}

func (u *unsent) done(s *socket, n int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.total -= n
	if u.sockets[s] -= n; u.sockets[s] == 0 {
		delete(u.sockets, s)
	}
}
