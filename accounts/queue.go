package accounts

import (
	"context"
	"net/netip"
	"slices"
	"sync"

	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

const (
	// maxHashes bounds the concurrent work on passwords, because each hash takes 19 MiB and a core for 30 ms.
	maxHashes = 2
	// maxWaiting is 3 s of work for two processors.
	maxWaiting = 200
	// fairWaiting is the number of places that a site or network keeps before others when all are taken.
	fairWaiting = 2
	// maxRemembered bounds the networks, and the accounts at a network, that a queue remembers, each in about 2 MB.
	maxRemembered = 10_000
)

// queue is a semaphore for hashes, fair between client networks. It has two lines, which take turns while both wait:
//   - known: callers with a session or a link, or for an account that signed in from this network before. Next is the
//     account served least recently.
//   - strangers: all others. Next is the network whose login failed least recently or never: first among the sites (an
//     IPv4 address or an IPv6 /48), then within the site (IPv6 /64). A login that succeeds does not count.
//
// If more than maxWaiting wait, one is refused. It is a stranger if there is one; then of a site that has failed
// before; then of the site with most places if these are more than fairWaiting; then of the site that failed last;
// then the same for its networks; then the newest.
type queue struct {
	mu       sync.Mutex
	free     int // permits
	turns    uint64
	strange  bool                      // the next turn is a stranger's, if one waits
	known    lru.Cache[string, uint64] // the last turn by ticket.account
	failures lru.Cache[string, uint64] // the last turn that failed, by ticket.site and ticket.network
	waiting  []*ticket                 // the oldest first
}

// ticket is a request for a permit.
type ticket struct {
	account       string // account at the network
	site, network string // count for a stranger
	known         bool
	admitted      chan bool // gets true with the permit, or false
}

func newQueue() *queue {
	one := func(string, uint64) int { return 1 }
	return &queue{free: maxHashes, known: lru.New(maxRemembered, one), failures: lru.New(maxRemembered, one)}
}

// do waits for a permit and calls fn, which reports whether the password was right. proven means that the caller has a
// session or a link; else account is the key of an account, which need not exist. The error is Unavailable.
func (q *queue) do(ctx context.Context, network netip.Addr, account string, proven bool, fn func() (right bool)) error {
	t := q.enter(network, account, proven)
	select {
	case admitted := <-t.admitted:
		if !admitted {
			return errBusy
		}
	case <-ctx.Done():
		if q.withdraw(t) {
			return &model.Error{Code: errBusy.Code, Message: errBusy.Message, Err: ctx.Err()}
		}
	}
	right := false
	defer func() { q.leave(t, right) }()
	right = fn()
	return nil
}

// enter adds a ticket.
func (q *queue) enter(network netip.Addr, account string, proven bool) *ticket {
	t := &ticket{site: network.String(), network: network.String(), admitted: make(chan bool, 1)}
	if prefix, err := network.Prefix(48); network.Is6() && err == nil {
		t.site = prefix.String()
	}
	t.account = string(digest(t.network + " " + account))
	q.mu.Lock()
	defer q.mu.Unlock()
	_, t.known = q.known.Get(t.account)
	t.known = t.known || proven
	q.waiting = append(q.waiting, t)
	q.dispatch()
	if len(q.waiting) > maxWaiting {
		q.refuse()
	}
	return t
}

// withdraw ends the wait of a ticket, and reports whether it holds no permit.
func (q *queue) withdraw(t *ticket) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		return true
	}
	return !<-t.admitted
}

// leave releases the permit of a ticket.
func (q *queue) leave(t *ticket, right bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free++
	q.turns++
	if t.known || right {
		q.known.Set(t.account, q.turns)
	} else {
		q.failures.Set(t.site, q.turns)
		q.failures.Set(t.network, q.turns)
	}
	q.dispatch()
}

// dispatch gives the free permits away.
func (q *queue) dispatch() {
	for ; q.free > 0 && len(q.waiting) > 0; q.free-- {
		next := q.least(func(t *ticket) rank {
			site, network := q.last(t)
			return rank{number(t.known == q.strange), site, network}
		})
		q.strange = next.known
		q.remove(next, true)
	}
}

// refuse ends the wait of the ticket with the least claim to its place.
func (q *queue) refuse() {
	places := map[string]uint64{}
	for _, t := range q.waiting {
		places[t.site]++
		if t.network != t.site {
			places[t.network]++
		}
	}
	slices.Reverse(q.waiting) // the newest of equals
	last := q.least(func(t *ticket) rank {
		site, network := q.last(t)
		return rank{
			number(t.known), number(site == 0), ^max(places[t.site], fairWaiting), ^site,
			^max(places[t.network], fairWaiting), ^network,
		}
	})
	slices.Reverse(q.waiting)
	q.remove(last, false)
}

// rank orders tickets, the least first.
type rank [6]uint64

func number(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// least returns the first ticket with the least rank.
func (q *queue) least(of func(*ticket) rank) (least *ticket) {
	var lowest rank
	for _, t := range q.waiting {
		if r := of(t); least == nil || slices.Compare(r[:], lowest[:]) < 0 {
			least, lowest = t, r
		}
	}
	return least
}

// last returns the last turns of a ticket's site and network that failed, or twice the last turn of a known account; 0
// is never.
func (q *queue) last(t *ticket) (site, network uint64) {
	if t.known {
		turn, _ := q.known.Get(t.account)
		return turn, turn
	}
	site, _ = q.failures.Get(t.site)
	network, _ = q.failures.Get(t.network)
	return site, network
}

// remove takes a ticket out of the line.
func (q *queue) remove(t *ticket, admitted bool) {
	i := slices.Index(q.waiting, t)
	q.waiting = slices.Delete(q.waiting, i, i+1)
	t.admitted <- admitted
}
