package main

import (
	"bufio"
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// load is how servers are measured: so many connections, each of which sends its
// next request when the last answer is there.
type load struct {
	connections int
	warmup      time.Duration
	duration    time.Duration
	postgres    int    // its first process
	seed        uint64 // the same variants of requests are sent for the same seed
}

// answerTimeout is how long after the end of a measurement an answer may come:
// longer than the 30 s that the service works on one.
const answerTimeout = 40 * time.Second

// sample is one measurement.
type sample struct {
	rate          float64 // answers a second
	p50, p99      time.Duration
	cpu, postgres time.Duration // of the server and of PostgreSQL, an answer
	others        float64       // cores kept busy by anything else
}

// recording is what one connection measured.
type recording struct {
	answers float64 // between start and end; a part of those at the edges
	took    []time.Duration
}

// measure measures a contender. Every answer is checked; a wrong one ends it.
func (l load) measure(ctx context.Context, c contender) (sample, error) {
	start := time.Now().Add(l.warmup)
	end := start.Add(l.duration)
	recordings := make([]recording, l.connections)
	group, ctx := errgroup.WithContext(ctx)
	for i := range recordings {
		group.Go(func() (err error) {
			recordings[i], err = l.drive(ctx, c, i, start, end)
			return err
		})
	}
	var before, after usage
	group.Go(func() error {
		if err := sleepUntil(ctx, start); err != nil {
			return err
		}
		before = measureUsage(c.server.pid, l.postgres)
		if err := sleepUntil(ctx, end); err != nil {
			return err
		}
		after = measureUsage(c.server.pid, l.postgres)
		return nil
	})
	if err := group.Wait(); err != nil {
		return sample{}, err
	}
	var all recording
	for _, r := range recordings {
		all.answers += r.answers
		all.took = append(all.took, r.took...)
	}
	server, postgres := after.server-before.server, after.postgres-before.postgres
	others := after.machine - before.machine - server - postgres - (after.self - before.self)
	return sample{
		rate:     all.answers / l.duration.Seconds(),
		p50:      quantile(all.took, 0.5),
		p99:      quantile(all.took, 0.99),
		cpu:      time.Duration(float64(server) / all.answers),
		postgres: time.Duration(float64(postgres) / all.answers),
		others:   others.Seconds() / l.duration.Seconds(),
	}, nil
}

// drive sends requests over the connection of that number until end, and records
// those that are answered after start.
func (l load) drive(ctx context.Context, c contender, number int, start, end time.Time) (r recording, err error) {
	random := rand.New(rand.NewPCG(l.seed, uint64(number)))
	client, err := dial(ctx, c.server, end.Add(answerTimeout))
	if err != nil {
		return r, err
	}
	defer client.Close()
	for {
		begin := time.Now()
		if _, err := client.ask(c.request, random.IntN(len(c.request.variants))); err != nil {
			return r, err
		}
		now := time.Now()
		if now.After(start) {
			r.answers += within(begin, now, start, end)
			r.took = append(r.took, now.Sub(begin))
		}
		if now.After(end) {
			return r, nil
		}
	}
}

// within returns the part of the time from a to b that lies between start and end.
func within(a, b, start, end time.Time) float64 {
	inside := min(b.Sub(start), end.Sub(start)) - max(a.Sub(start), 0)
	return max(0, inside.Seconds()/b.Sub(a).Seconds())
}

// quantile returns the time within which that part of all was done. It sorts.
func quantile(took []time.Duration, part float64) time.Duration {
	slices.Sort(took)
	return took[min(len(took)-1, int(part*float64(len(took))))]
}

// client speaks HTTP/1.1 over one connection, a request at a time. net/http's own
// client would take as much processor time as the service for a small answer.
type client struct {
	net.Conn
	in   *bufio.Reader
	body bytes.Buffer
}

func dial(ctx context.Context, s *process, deadline time.Time) (*client, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() }) // a read knows of no context
	return &client{Conn: conn, in: bufio.NewReader(conn)}, conn.SetDeadline(deadline)
}

// ask sends a variant of a request and returns the answer, which holds until the
// next one, and an error for a wrong one.
func (c *client) ask(q *request, variant int) ([]byte, error) {
	if _, err := c.Write(q.variants[variant]); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	c.body.Reset()
	if _, err := c.body.ReadFrom(answer.Body); err != nil {
		return nil, err
	}
	return c.body.Bytes(), q.check(answer.StatusCode, c.body.Bytes())
}

func sleepUntil(ctx context.Context, t time.Time) error {
	select {
	case <-time.After(time.Until(t)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
