package admission

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// permitTime is how long a permit lasts at most: ten times as long as headers of
// 16 KiB, the longest token or a small document take. What waits for longer needs
// no processor.
const permitTime = 10 * time.Millisecond

// semaphore has a permit for each processor, for a request of which it is not known yet what
// it costs: to read its headers, its token and its document. The permits go round the
// networks for which requests wait. Without it what was admitted, such as a whole list,
// would share the processors with as many goroutines as there are clients: beside 200 it
// takes half as long with it, and with four permits for each processor no less.
type semaphore struct {
	size int

	mu       sync.Mutex
	held     []*permit // the one acquired first comes first
	waiting  map[netip.Addr][]*permit
	networks []netip.Addr // the keys of waiting, the next first
	timer    *time.Timer  // until the first of held expires; nil where none waits
}

type permit struct {
	acquired chan struct{} // is closed then
	since    time.Time
}

func newSemaphore(size int) *semaphore {
	return &semaphore{size: size, waiting: map[netip.Addr][]*permit{}}
}

// acquire waits for a permit for a network.
func (s *semaphore) acquire(network netip.Addr) *permit {
	p := &permit{acquired: make(chan struct{})}
	s.mu.Lock()
	if s.waiting[network] == nil {
		s.networks = append(s.networks, network)
	}
	s.waiting[network] = append(s.waiting[network], p)
	s.dispatch(time.Now())
	s.mu.Unlock()
	<-p.acquired
	return p
}

// release gives a permit back, if it has not expired.
func (s *semaphore) release(p *permit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.held, p); i >= 0 {
		s.held = slices.Delete(s.held, i, i+1)
		s.dispatch(time.Now())
	}
}

// dispatch gives permits that are there to those who wait.
func (s *semaphore) dispatch(now time.Time) {
	for len(s.networks) > 0 && len(s.held) > 0 && now.Sub(s.held[0].since) >= permitTime {
		s.held = slices.Delete(s.held, 0, 1)
	}
	for len(s.networks) > 0 && len(s.held) < s.size {
		network := s.networks[0]
		s.networks = s.networks[1:]
		p := s.waiting[network][0]
		if s.waiting[network] = s.waiting[network][1:]; len(s.waiting[network]) > 0 {
			s.networks = append(s.networks, network)
		} else {
			delete(s.waiting, network)
		}
		p.since = now
		s.held = append(s.held, p)
		close(p.acquired)
	}
	if len(s.networks) > 0 && s.timer == nil {
		s.timer = time.AfterFunc(s.held[0].since.Add(permitTime).Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.timer = nil
			s.dispatch(time.Now())
		})
	}
}

type connectionKey struct{}

// withConnection is the ConnContext of a server (net/http).
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// ReleasePermit lets another request be looked at. It is to be called before the request of
// ctx waits for something else than its client.
func ReleasePermit(ctx context.Context) {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		c.releasePermit()
	}
}
