package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"
)

// sample has the figures of one slice.
type sample [3]float64

const (
	server   = iota // milliseconds of processor time per request
	database        // likewise
	rate            // requests a second
)

// measure sends requests over several connections, one at a time on each. The same seed gives the same requests.
// It returns an error for a wrong response.
func (s *service) measure(ctx context.Context, w workload, o options, seed uint64) (sample, error) {
	before, databaseBefore, begin := processorTime(s.pid), processorTime(s.postgres), time.Now()
	shapes, end := w.mix, begin.Add(o.slice)
	if shapes == nil {
		shapes = []workload{w}
	}
	bodies := make([]string, len(shapes))
	for i, shape := range shapes {
		bodies[i] = shape.body()
	}
	var answers atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for i := range cmp.Or(w.connections, o.connections) {
		group.Go(func() error {
			random, answer := rand.New(rand.NewPCG(seed, uint64(i))), new(bytes.Buffer)
			for time.Now().Before(end) {
				n := random.IntN(len(shapes))
				shape, body := shapes[n], fill(bodies[n], random, nil)
				if err := s.ask(ctx, shape, fill(shape.path, random, s.cursors), body, answer); err != nil {
					return err
				}
				answers.Add(1)
			}
			return nil
		})
	}
	err := group.Wait()
	n := float64(max(1, answers.Load()))
	return sample{
		server:   float64((processorTime(s.pid) - before).Milliseconds()) / n,
		database: float64((processorTime(s.postgres) - databaseBefore).Milliseconds()) / n,
		rate:     n / time.Since(begin).Seconds(),
	}, err
}

// ask sends a request and reads the body of the response into answer. It returns an error for a wrong response.
func (s *service) ask(ctx context.Context, w workload, path, body string, answer *bytes.Buffer) error {
	request, err := s.request(ctx, w, path, body)
	if err != nil {
		return err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer.Reset()
	if _, err := answer.ReadFrom(response.Body); err != nil {
		return err
	}
	n := bytes.Count(answer.Bytes(), []byte(`"name":`))
	if response.StatusCode/100 != 2 || w.names > 0 && n != w.names {
		return fmt.Errorf("status %d with %d names, want %d: %.300s", response.StatusCode, n, w.names, answer)
	}
	return nil
}

// request returns a request of a workload, whose path and body have no placeholders any more.
func (s *service) request(ctx context.Context, w workload, path, body string) (*http.Request, error) {
	method := http.MethodGet
	if body != "" {
		method, path = http.MethodPost, "/graphql"
	}
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{"Accept": {"application/json"}}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if strings.HasPrefix(w.query, "mutation") {
		request.Header.Set("Authorization", "Bearer "+s.token)
	} else if !w.cached {
		request.Header.Set("Cache-Control", "no-cache") // bypasses the cache
	}
	return request, nil
}

// processorTime returns the processor time of a process and its children, 0 for pid 0 or without /proc.
func processorTime(pid int) (used time.Duration) {
	const tick = time.Second / 100 // the unit in /proc, USER_HZ
	processes, _ := procfs.AllProcs()
	for _, p := range processes {
		s, err := p.Stat() // fails for a process that has ended
		if err == nil && pid > 0 && (s.PID == pid || s.PPID == pid) {
			used += tick * time.Duration(int(s.UTime+s.STime)+s.CUTime+s.CSTime)
		}
	}
	return used
}
