package accounts

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

const (
	hashTime = 30 * time.Millisecond           // of one processor
	maxTurns = int(5 * time.Second / hashTime) // the hashes of one processor in 5 s
)

// crowd lets clients log in again and again, and counts hashes.
type crowd struct {
	*queue
	waiting, running []*login
	refused          []*login // who will try again
	hashes           int
}

// login is a login that waits for its turn or has it.
type login struct {
	*ticket
	right   bool
	refused bool
	again   func() *login // the next login of the client, or nil
}

func (c *crowd) logIn(network netip.Addr, account string, right bool, again func() *login) *login {
	l := &login{ticket: c.enter(network, account, false), right: right, again: again}
	c.waiting = append(c.waiting, l)
	return l
}

// look moves the logins that no longer wait.
func (c *crowd) look() {
	c.waiting = slices.DeleteFunc(c.waiting, func(l *login) bool {
		select {
		case admitted := <-l.admitted:
			if l.refused = !admitted; admitted {
				c.running = append(c.running, l)
			} else if l.again != nil {
				c.refused = append(c.refused, l)
			}
			return true
		default:
			return false
		}
	})
}

// step ends the hash that began first, and its client logs in again. Now and then all do who were refused.
func (c *crowd) step() (ended *login) {
	c.look()
	ended, c.running = c.running[0], c.running[1:]
	c.hashes++
	c.leave(ended.ticket, ended.right)
	if ended.again != nil {
		ended.again()
	}
	if c.hashes%16 == 0 {
		refused := c.refused
		c.refused = nil
		for _, l := range refused {
			l.again()
		}
	}
	c.look()
	return ended
}

// until steps until a login has ended, and returns the number of hashes. Refused, it tries again after 2 s.
func (c *crowd) until(t *testing.T, l *login) int {
	t.Helper()
	const retry = int(2 * time.Second / hashTime)
	for began := c.hashes; c.hashes-began < 10*maxTurns; {
		for i := 0; l.refused && i < retry; i++ {
			c.step()
		}
		if l.refused {
			l.refused, l.ticket = false, c.enter(netip.MustParseAddr(l.network), "again", false)
			c.waiting = append(c.waiting, l)
		}
		if c.step() == l {
			return c.hashes - began
		}
	}
	t.Fatalf("%s is not served within %d hashes", l.network, 10*maxTurns)
	return 0
}

// hostile begins logins with wrong passwords from networks, each with so many at a time, and steps until each network
// has had its first turn.
func (c *crowd) hostile(networks, each int, network func(n int) netip.Addr) {
	attempts := 0
	for i := range networks * each {
		var again func() *login
		again = func() *login {
			attempts++
			return c.logIn(network(i/each), fmt.Sprint("victim ", attempts), false, again)
		}
		again()
	}
	for failed := map[string]bool{}; len(failed) < networks; {
		failed[c.step().network] = true
	}
}

func ip4(first byte, n int) netip.Addr {
	return netip.AddrFrom4([4]byte{first, 0, byte(n >> 8), byte(n)})
}

// ip6 returns the n-th /64 of a /48.
func ip6(site uint16, n int) netip.Addr {
	var a [16]byte
	copy(a[:], []byte{0x20, 0x01, 0x0d, 0xb8})
	binary.BigEndian.PutUint16(a[4:], site)
	binary.BigEndian.PutUint16(a[6:], uint16(n))
	return netip.AddrFrom16(a)
}

var attacks = map[string]func(c *crowd){
	"60 addresses":              func(c *crowd) { c.hostile(60, 1, func(n int) netip.Addr { return ip4(10, n) }) },
	"60 addresses with 10 each": func(c *crowd) { c.hostile(60, 10, func(n int) netip.Addr { return ip4(10, n) }) },
	"600 addresses":             func(c *crowd) { c.hostile(600, 1, func(n int) netip.Addr { return ip4(10, n) }) },
	"one address with 400":      func(c *crowd) { c.hostile(1, 400, func(n int) netip.Addr { return ip4(10, n) }) },
	"a /48, another /64 each time": func(c *crowd) {
		next := 0
		c.hostile(1, 400, func(int) netip.Addr { next++; return ip6(1, next) })
	},
}

// TestHonestLogins counts the hashes before honest callers beside an attack are served.
func TestHonestLogins(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &crowd{queue: newQueue()}
			attack(c)
			soon := func(who string, l *login, most int) {
				t.Helper()
				if n := c.until(t, l); n > most {
					t.Errorf("%s: served after %d hashes, want %d at most", who, n, most)
				}
			}
			for i, home := range []netip.Addr{ip4(192, 1), ip6(2, 1), {}} {
				account := fmt.Sprint("account ", i)
				soon("a stranger", c.logIn(home, account, true, nil), 2*maxHashes)
				for range 5 {
					soon("a known account", c.logIn(home, account, false, nil), 2*maxHashes)
				}
				soon("a known account after mistakes", c.logIn(home, account, true, nil), 2*maxHashes)
			}
			soon("a mistake", c.logIn(ip4(193, 1), "clumsy", false, nil), 2*maxHashes)
			mistaken := maxTurns
			if name == "600 addresses" {
				mistaken = 600 + 2*maxHashes // a round
			}
			soon("after a mistake", c.logIn(ip4(193, 1), "clumsy", true, nil), mistaken)

			var colleagues []*login
			for i := range 50 {
				colleagues = append(colleagues, c.logIn(ip4(194, 1), fmt.Sprint("colleague ", i), true, nil))
			}
			began := c.hashes
			for _, l := range colleagues {
				for !l.refused && (slices.Contains(c.waiting, l) || slices.Contains(c.running, l)) {
					c.step()
				}
				if l.refused {
					t.Error("a colleague is refused")
				}
			}
			if n := c.hashes - began; n > len(colleagues)+2*maxHashes {
				t.Errorf("%d colleagues are served after %d hashes", len(colleagues), n)
			}
		})
	}
}

// TestLines lets known accounts and strangers wait for each other in turn, whoever comes first.
func TestLines(t *testing.T) {
	t.Parallel()
	c := &crowd{queue: newQueue()}
	const insiders = 40
	for i := range insiders {
		c.logIn(ip4(10, i), "insider", true, nil)
		c.step()
	}
	var again func() *login
	for i := range insiders { // they never fail
		again = func() *login { return c.logIn(ip4(10, i), "insider", true, again) }
		again()
	}
	if n := c.until(t, c.logIn(ip4(192, 1), "ada", true, nil)); n > 2*maxHashes {
		t.Errorf("a stranger is served after %d hashes", n)
	}
	if n := c.until(t, c.logIn(ip4(192, 1), "ada", true, nil)); n > insiders+maxHashes {
		t.Errorf("a known account is served after %d hashes", n)
	}
	c.hostile(100, 1, func(n int) netip.Addr { return ip4(11, n) })
	if n := c.until(t, c.logIn(ip4(192, 1), "ada", true, nil)); n > 2*insiders+2*maxHashes {
		t.Errorf("a known account is served after %d hashes", n)
	}
}

// TestOrder serves the site that failed least recently first, then its network, then the oldest ticket.
func TestOrder(t *testing.T) {
	t.Parallel()
	c := &crowd{queue: newQueue()}
	for _, failed := range []netip.Addr{ip6(1, 1), ip4(10, 1), ip6(1, 2), ip6(2, 1)} {
		c.logIn(failed, "", false, nil)
		c.step()
	}
	hold := []*ticket{c.enter(ip4(1, 1), "", true), c.enter(ip4(1, 2), "", true)}
	var want []*login
	for _, place := range []int{4, 2, 5, 1, 3, 0} {
		networks := []netip.Addr{ip6(2, 9), ip4(10, 1), ip6(1, 1), ip6(1, 2), ip4(20, 1), ip6(1, 3)}
		want = append(want, c.logIn(networks[place], fmt.Sprint(place), true, nil))
	}
	for _, t := range hold {
		c.leave(t, true)
	}
	var got []string
	for range want {
		got = append(got, c.step().network)
	}
	if want := "[20.0.0.1 10.0.0.1 2001:db8:1:3:: 2001:db8:1:1:: 2001:db8:1:2:: 2001:db8:2:9::]"; fmt.Sprint(got) != want {
		t.Errorf("served %v, want %s", got, want)
	}
}

// TestMistakes lets a known account fail: others at the network do not wait for that, and other known accounts go first.
func TestMistakes(t *testing.T) {
	t.Parallel()
	c := &crowd{queue: newQueue()}
	home := ip4(192, 1)
	for _, l := range []struct {
		network netip.Addr
		account string
		right   bool
	}{{home, "ada", true}, {home, "eve", true}, {ip4(10, 1), "x", false}, {home, "ada", false}} {
		c.logIn(l.network, l.account, l.right, nil)
		c.step()
	}
	hold := []*ticket{c.enter(ip4(1, 1), "", true), c.enter(ip4(1, 2), "", true)}
	stranger, colleague := c.logIn(ip4(10, 1), "y", true, nil), c.logIn(home, "bob", true, nil)
	ada, eve := c.logIn(home, "ada", true, nil), c.logIn(home, "eve", true, nil)
	for _, t := range hold {
		c.leave(t, true)
	}
	place := map[*login]int{}
	for i := range 4 {
		place[c.step()] = i
	}
	if place[eve] > place[ada] || place[colleague] > place[stranger] {
		t.Errorf("eve is served as %d, ada as %d, the colleague as %d, the stranger as %d", place[eve], place[ada], place[colleague], place[stranger])
	}
}

// TestRefused fills all places, and looks at who loses one.
func TestRefused(t *testing.T) {
	t.Parallel()
	type place struct {
		network netip.Addr
		proven  bool
	}
	fresh := func(n int) place { return place{network: ip4(20, n)} }
	for _, tt := range []struct {
		name   string
		failed []netip.Addr
		first  []place // the others are strangers of a network each
		last   place
		want   int // index of the one who loses, or maxWaiting
	}{
		{"the newest", nil, nil, fresh(1), maxWaiting},
		{"a stranger before a known account", nil, nil, place{ip4(20, 1), true}, maxWaiting - 1},
		{"a network that failed", []netip.Addr{ip4(30, 1)}, []place{{network: ip4(30, 1)}}, fresh(1), 0},
		{"the network that failed last", []netip.Addr{ip4(30, 1), ip4(30, 2)}, []place{{network: ip4(30, 1)}, {network: ip4(30, 2)}}, fresh(1), 1},
		{"its own newest", []netip.Addr{ip4(30, 1)}, []place{{network: ip4(30, 1)}, {network: ip4(30, 1)}}, place{network: ip4(30, 1)}, maxWaiting},
		{"the third of a network", nil, []place{fresh(1), fresh(1), fresh(1)}, fresh(2), 2},
		{"the third of a /48", nil, []place{{network: ip6(1, 1)}, {network: ip6(1, 2)}, {network: ip6(1, 3)}}, fresh(2), 2},
		{"the third of a network in a /48", nil, []place{{network: ip6(1, 1)}, {network: ip6(1, 1)}, {network: ip6(1, 1)}, {network: ip6(1, 2)}}, fresh(2), 2},
		{"the network that failed in a /48 that failed", []netip.Addr{ip6(1, 1)}, []place{{network: ip6(1, 2)}, {network: ip6(1, 1)}}, fresh(2), 1},
		{"not the second of a network", nil, []place{fresh(1), fresh(1)}, fresh(2), maxWaiting},
		{"the third after a failure, before the last failure", []netip.Addr{ip4(30, 1), ip4(30, 2)},
			[]place{{network: ip4(30, 1)}, {network: ip4(30, 1)}, {network: ip4(30, 1)}, {network: ip4(30, 2)}}, fresh(1), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &crowd{queue: newQueue()}
			for _, network := range tt.failed {
				c.logIn(network, "", false, nil)
				c.step()
			}
			for i := range maxHashes {
				c.enter(ip4(40, i), "", true)
			}
			var tickets []*ticket
			for i := range maxWaiting + 1 {
				p := fresh(100 + i)
				if i < len(tt.first) {
					p = tt.first[i]
				} else if i == maxWaiting {
					p = tt.last
				}
				tickets = append(tickets, c.enter(p.network, fmt.Sprint(i), p.proven))
			}
			for i, ticket := range tickets {
				select {
				case admitted := <-ticket.admitted:
					if admitted || i != tt.want {
						t.Errorf("ticket %d: admitted %t, want %d to lose", i, admitted, tt.want)
					}
				default:
					if i == tt.want {
						t.Errorf("ticket %d waits", i)
					}
				}
			}
		})
	}
}

// TestRemembered floods a queue with networks: it forgets some, and stays bounded.
func TestRemembered(t *testing.T) {
	t.Parallel()
	c := &crowd{queue: newQueue()}
	for i := range 2 * maxRemembered {
		c.logIn(ip6(uint16(i), i), "", false, nil)
		c.step()
		c.logIn(ip4(byte(i>>16), i), "", true, nil)
		c.step()
	}
	if known, failures := c.known.Len(), c.failures.Len(); known > maxRemembered || failures > maxRemembered {
		t.Errorf("it remembers %d accounts and %d networks", known, failures)
	}
}
