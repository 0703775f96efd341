package main

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// load says how servers are measured: so many connections, each of which sends
// its next request when the last answer is there.
type load struct {
	connections int
	warmup      time.Duration
	duration    time.Duration
	database    int // PostgreSQL's first process; 0: not known
}

// patience is how long after the end an answer may still come.
const patience = 20 * time.Second

// sample is what one measurement gave.
type sample struct {
	rate          float64 // answers a second
	p50, p99      time.Duration
	firstByte     time.Duration // median
	cpu, database time.Duration // for an answer
	load          time.Duration // for sending a request and reading the answer
	peak          int64         // bytes of memory that the server held
	bytes         int           // of an answer
	other         float64       // cores that were kept busy by none of us
}

// measurement is what one connection saw.
type measurement struct {
	answers         float64 // between start and end; a part of those at the edges
	took, firstByte []time.Duration
	bytes           int
}

// of measures an entrant. Every answer is checked; a wrong one ends it.
func (l load) of(ctx context.Context, e entrant) (sample, error) {
	if e.command != nil {
		return l.ofCommand(ctx, e.command)
	}
	start := time.Now().Add(l.warmup)
	end := start.Add(l.duration)
	seen := make([]measurement, l.connections)
	group, ctx := errgroup.WithContext(ctx)
	for i := range seen {
		group.Go(func() (err error) {
			seen[i], err = drive(ctx, e, rand.New(rand.NewPCG(1, uint64(i))), start, end)
			return err
		})
	}
	var before, after usage
	group.Go(func() error {
		if err := sleepUntil(ctx, start); err != nil {
			return err
		}
		forgetPeak(e.server.pid)
		before = measureUsage(e.server.pid, l.database)
		if err := sleepUntil(ctx, end); err != nil {
			return err
		}
		after = measureUsage(e.server.pid, l.database)
		return nil
	})
	if err := group.Wait(); err != nil {
		return sample{}, err
	}
	var all measurement
	for _, m := range seen {
		all.answers += m.answers
		all.took = append(all.took, m.took...)
		all.firstByte = append(all.firstByte, m.firstByte...)
		all.bytes += m.bytes
	}
	used := after.since(before)
	each := func(used time.Duration) time.Duration { return time.Duration(float64(used) / all.answers) }
	return sample{
		rate:      all.answers / l.duration.Seconds(),
		p50:       quantile(all.took, 0.5),
		p99:       quantile(all.took, 0.99),
		firstByte: quantile(all.firstByte, 0.5),
		cpu:       each(used.server),
		database:  each(used.database),
		load:      each(used.self),
		peak:      after.peak,
		bytes:     all.bytes / len(all.took),
		other:     (used.machine - used.server - used.database - used.self).Seconds() / l.duration.Seconds(),
	}, nil
}

// ofCommand runs a command again and again, one at a time.
func (l load) ofCommand(ctx context.Context, command func(context.Context) *exec.Cmd) (sample, error) {
	var took []time.Duration
	for start := time.Now(); time.Since(start) < l.duration; {
		begin := time.Now()
		if err := runCommand(command(ctx)); err != nil {
			return sample{}, err
		}
		took = append(took, time.Since(begin))
	}
	return sample{rate: float64(len(took)) / l.duration.Seconds(), p50: quantile(took, 0.5), p99: quantile(took, 0.99)}, nil
}

// drive sends requests over one connection until end, and measures those that
// are answered after start.
func drive(ctx context.Context, e entrant, random *rand.Rand, start, end time.Time) (m measurement, err error) {
	c, err := dial(ctx, e.server.address, end.Add(patience))
	if err != nil {
		return m, err
	}
	defer c.conn.Close()
	var sent, body []byte
	for ctx.Err() == nil {
		sent, body = e.request.append(sent[:0], body, random)
		begin := time.Now()
		a, err := c.do(sent)
		if err != nil {
			return m, err
		}
		if err := e.request.check(a); err != nil {
			return m, err
		}
		now := time.Now()
		if now.After(start) {
			m.answers += within(begin, now, start, end)
			m.took = append(m.took, now.Sub(begin))
			m.firstByte = append(m.firstByte, a.firstByte)
			m.bytes += len(a.body)
		}
		if now.After(end) {
			return m, nil
		}
	}
	return m, ctx.Err()
}

// within gives the part of the time from a to b that lies between start and end.
func within(a, b, start, end time.Time) float64 {
	inside := min(b.Sub(start), end.Sub(start)) - max(a.Sub(start), 0)
	return max(0, inside.Seconds()/b.Sub(a).Seconds())
}

// ask sends one request and gives the answer, checked thoroughly.
func ask(ctx context.Context, s *process, q *request) ([]byte, error) {
	c, err := dial(ctx, s.address, time.Now().Add(patience))
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	sent, _ := q.append(nil, nil, rand.New(rand.NewPCG(1, 0)))
	a, err := c.do(sent)
	if err == nil {
		err = q.checkWhole(a)
	}
	if err != nil {
		return nil, err
	}
	return a.body, nil
}

// quantile gives the time within which that part of all was done. It sorts.
func quantile(took []time.Duration, part float64) time.Duration {
	slices.Sort(took)
	return took[min(len(took)-1, int(part*float64(len(took))))]
}

func sleepUntil(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(time.Until(t)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
