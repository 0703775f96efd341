package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"library-catalogue/server/attack"
)

// attackCommand starts this program as the attackers.
const attackCommand = "attack"

// What is wanted of the service under attack.
const (
	mostMemory  = 100 << 20
	mostSlowing = 2 // times the p99 of a plain query
)

// besieged is what an attack did.
type besieged struct {
	server, attack string
	usual, beside  *plainly // without it, and beside it
}

// plainly is what plain queries met with, in one measurement after another.
type plainly struct {
	p99s []time.Duration // of each
	peak int64           // bytes of memory that the server held
}

// p99 is the middle one of the measurements.
func (p *plainly) p99() time.Duration { return quantile(p.p99s, 0.5) }

// sieges attacks the service on both databases, and prints what that did.
func (b *bench) sieges(ctx context.Context) error {
	plain := &request{method: "POST", path: template{{text: "/graphql"}}, header: "Cache-Control: no-cache\r\n",
		body: newValues(nil).template(`{"query":"query ($after: ID!) { books(first: 20, filter: {id: {gt: $after}}) { nodes { id name genre { name category { name } } } } }","variables":{"after":"$AFTER"}}`)}
	var all []besieged
	for _, s := range []struct {
		name    string
		process *process
	}{{"PostgreSQL", b.public}, {"SQLite", b.publicSQLite}} {
		some, err := b.besiege(ctx, s.name, s.process, plain)
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	writeSieges(os.Stdout, all)
	return nil
}

// attacksBetween is how many attacks there are between two measurements of what is
// usual.
const attacksBetween = 8

// besiege attacks a server in one way after another, and at last in all at once,
// as many rounds as there are. Beside each, a client asks plain queries at a steady
// rate.
func (b *bench) besiege(ctx context.Context, server string, s *process, plain *request) (all []besieged, err error) {
	usual := &plainly{}
	for _, a := range attack.All() {
		all = append(all, besieged{server, a.Name, usual, &plainly{}})
	}
	all = append(all, besieged{server, "", usual, &plainly{}})
	for round := range b.Rounds {
		for i, a := range all {
			if i%attacksBetween == 0 {
				if err := b.load.steady(ctx, s, plain, usual); err != nil {
					return nil, err
				}
			}
			if err := b.beside(ctx, s, a.attack, plain, a.beside); err != nil {
				return nil, fmt.Errorf("%s: beside %q: %w", server, a.attack, err)
			}
			progress("%s, %d, %s: p99 %.2f ms beside it, %.2f ms without; %d MB", server, round+1, a.attack,
				milliseconds(a.beside.p99()), milliseconds(usual.p99()), a.beside.peak>>20)
		}
	}
	return all, nil
}

// beside measures plain queries while the server is attacked. The attackers work
// where nobody else wants to: those that it is about are on machines of their own.
func (b *bench) beside(ctx context.Context, s *process, name string, plain *request, into *plainly) (err error) {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	attackers := exec.CommandContext(ctx, "chrt", "--idle", "0", program, attackCommand, s.address, name)
	attackers.Stderr = os.Stderr
	if err := attackers.Start(); err != nil {
		return err
	}
	defer func() {
		_ = attackers.Process.Signal(os.Interrupt)
		err = errors.Join(err, attackers.Wait())
	}()
	return b.load.steady(ctx, s, plain, into)
}

// serveAttacks is the attackers: they do the thing of that name, or all of them,
// until ctx ends.
func serveAttacks(ctx context.Context, address, name string) error {
	attacks := attack.All()
	for _, a := range attacks {
		if a.Name == name {
			attacks = []attack.Attack{a}
		}
	}
	attack.Run(ctx, address, attacks)
	return nil
}

// steady sends requests at a steady rate, whether or not the last is answered,
// and counts the time of each from when it was due. One whose connection the server
// has closed is sent over another.
func (l load) steady(ctx context.Context, s *process, plain *request, into *plainly) error {
	const connections, every = 8, 20 * time.Millisecond // of each
	start := time.Now().Add(l.warmup)
	end := start.Add(l.duration)
	took := make([][]time.Duration, connections)
	forgetPeak(s.pid)
	group, ctx := errgroup.WithContext(ctx)
	for i := range took {
		group.Go(func() error {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i))} // none of them is the attackers'
			c, err := dialFrom(ctx, from, s.address, end.Add(patience))
			if err != nil {
				return err
			}
			defer func() { c.conn.Close() }()
			var sent, body []byte
			for due := time.Now().Add(time.Duration(i) * every / connections); due.Before(end); due = due.Add(every) {
				if err := sleepUntil(ctx, due); err != nil {
					return err
				}
				sent, body = plain.append(sent[:0], body, random)
				a, err := c.do(sent)
				for tries := 1; err != nil && tries < 10; tries++ { // where there are too many, idle connections are closed
					again, failed := dialFrom(ctx, from, s.address, end.Add(patience))
					if failed != nil {
						return failed
					}
					c.conn.Close()
					c = again
					a, err = c.do(sent)
				}
				if err == nil {
					err = plain.check(a)
				}
				if err != nil {
					return err
				}
				if due.After(start) {
					took[i] = append(took[i], time.Since(due))
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	into.p99s = append(into.p99s, quantile(slices.Concat(took...), 0.99))
	into.peak = max(into.peak, measureUsage(s.pid, l.database).peak)
	return nil
}

// writeSieges writes what the attacks did as a table in Markdown.
func writeSieges(w io.Writer, all []besieged) {
	fmt.Fprintln(w, "\n| attack | on | p99 ms of a plain query | usual | | MB |\n|---|---|---:|---:|---:|---:|")
	missed := 0
	for _, b := range all {
		if b.attack == "" {
			b.attack = "**all at once**"
		}
		beside, usual := b.beside.p99(), b.usual.p99()
		times, verdict := beside.Seconds()/usual.Seconds(), ""
		if times >= mostSlowing || b.beside.peak >= mostMemory {
			missed++
			verdict = " **missed**"
		}
		fmt.Fprintf(w, "| %s | %s | %.2f | %.2f | %.2f×%s | %d |\n", b.attack, b.server, milliseconds(beside), milliseconds(usual), times, verdict, b.beside.peak>>20)
	}
	fmt.Fprintf(w, "\nWanted: less than %d times the usual p99, and less than %d MB. Of %d, %d missed it.\n", mostSlowing, mostMemory>>20, len(all), missed)
}
