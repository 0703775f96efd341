package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// line is a line of the table of growth: a request and how it is measured.
type line struct {
	name string
	workload
	changed bool // also measured first after a write, because the server keeps state between writes
}

// process is a running server. A context that ends kills it.
type process struct {
	service
	cmd    *exec.Cmd
	exited chan struct{} // closed at its end
}

// start starts a server and waits until its path ready answers. command returns it for an address.
func start(ctx context.Context, ready string, command func(address string) *exec.Cmd) (*process, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &process{service: service{url: "http://" + address}, cmd: command(address), exited: make(chan struct{})}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.pid = p.cmd.Process.Pid
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	for {
		if _, err = p.fetch(ctx, line{workload: workload{path: ready}}, nil); err == nil {
			return p, nil
		}
		select {
		case <-p.exited:
			return nil, fmt.Errorf("%s ended: %s", p.cmd, p.cmd.ProcessState)
		case <-time.After(time.Millisecond):
		}
	}
}

// starts starts a server three times. It returns the last one and the median costs until it was ready.
func starts(start func() (*process, error)) (p *process, text string, err error) {
	var used, waits []float64
	for range 3 {
		if p != nil {
			p.stop()
		}
		begin := time.Now()
		if p, err = start(); err != nil {
			return nil, "", err
		}
		used, waits = append(used, float64(processorTime(p.pid))), append(waits, float64(time.Since(begin)))
	}
	return p, cost{server: time.Duration(median(used)), wait: time.Duration(median(waits))}.String(), nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.exited
}

// memory returns the resident memory of a process.
func memory(pid int) (string, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return "", err
	}
	status, err := proc.NewStatus()
	return fmt.Sprintf("%d MB", status.VmRSS>>20), err
}

// fetch sends a request and returns how long its whole response took.
func (s *service) fetch(ctx context.Context, l line, random *rand.Rand) (took time.Duration, err error) {
	request, err := s.request(ctx, l.workload, fill(l.path, random, nil), fill(l.body(), random, nil))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept", "*/*")
	begin := time.Now()
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var head bytes.Buffer
	if _, err := io.Copy(&head, io.LimitReader(response.Body, 1<<20)); err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	n, failed := bytes.Count(head.Bytes(), []byte(`"name":`)), bytes.Contains(head.Bytes(), []byte(`"errors":[`))
	if failed || response.StatusCode != http.StatusOK || l.names > 0 && n != l.names {
		if message := messageOf.FindSubmatch(head.Bytes()); message != nil {
			return 0, errors.New(string(message[1]))
		}
		return 0, fmt.Errorf("status %d with %d names, want %d", response.StatusCode, n, l.names)
	}
	return time.Since(begin), nil
}

var messageOf = regexp.MustCompile(`"message":"([^."]+)`)

// cost is the processor time of the server and of its database, and what one client waits.
type cost struct{ server, database, wait time.Duration }

// String returns milliseconds.
func (c cost) String() string {
	if c.database == 0 {
		return fmt.Sprintf("%s; %s", milliseconds(c.server), milliseconds(c.wait))
	}
	return fmt.Sprintf("%s + %s; %s", milliseconds(c.server), milliseconds(c.database), milliseconds(c.wait))
}

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 10:
		return fmt.Sprintf("%.2f", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f", ms)
	}
	return fmt.Sprintf("%.0f", ms)
}

// used returns the processor time of the server and of its database until now.
func (s *service) used() cost {
	return cost{server: processorTime(s.pid), database: processorTime(s.postgres)}
}

// cost sends a request again and again: three times and for least, but not longer than ten times least. It returns
// means of processor time, which has ticks of 10 ms, and the median wait. before is a write, which is not measured. It
// runs before each request, and the requests are then limited, because books are added.
func (s *service) cost(ctx context.Context, l line, least time.Duration, before func() error) (cost, error) {
	random, sum := rand.New(rand.NewPCG(3, 4)), cost{}
	var waits []float64
	from := s.used()
	for begin := time.Now(); len(waits) < 3 || time.Since(begin) < least; {
		if before != nil {
			if err := before(); err != nil {
				return cost{}, err
			}
			from = s.used()
		}
		wait, err := s.fetch(ctx, l, random)
		if err != nil {
			return cost{}, err
		}
		waits = append(waits, float64(wait))
		if before != nil {
			to := s.used()
			sum.server, sum.database = sum.server+to.server-from.server, sum.database+to.database-from.database
		}
		if time.Since(begin) > 10*least || before != nil && len(waits) == 50 {
			break
		}
	}
	if before == nil {
		to := s.used()
		sum = cost{server: to.server - from.server, database: to.database - from.database}
	}
	n := time.Duration(len(waits))
	return cost{sum.server / n, sum.database / n, time.Duration(median(waits))}, nil
}

// warmUpTime is the time that the server has to read what it keeps, in the background.
const warmUpTime = 2 * time.Minute

// warmUp sends a request until it succeeds, and once more after a write, because the server keeps counts from their
// second reading on. It returns what that took.
func (s *service) warmUp(ctx context.Context, l line, write func() error) (cost, error) {
	begin, from := time.Now(), s.used()
	for {
		_, err := s.fetch(ctx, l, rand.New(rand.NewPCG(1, 2)))
		if err == nil && write != nil {
			if err = write(); err == nil {
				_, err = s.fetch(ctx, l, rand.New(rand.NewPCG(1, 2)))
			}
		}
		if err == nil || time.Since(begin) > warmUpTime {
			to := s.used()
			return cost{to.server - from.server, to.database - from.database, time.Since(begin)}, err
		}
		time.Sleep(time.Second)
	}
}

// lines returns a cell for each line. If a request fails, its cell says why, and the other lines are measured.
func (s *service) lines(
	ctx context.Context, lines []line, least time.Duration, write func() error,
) (cells map[string]string, failed error) {
	cells = map[string]string{}
	measure := func(name string, l line, before func() error) bool {
		first, err := s.warmUp(ctx, l, before)
		fmt.Fprintf(os.Stderr, "%s, the first: %s\n", name, first)
		var c cost
		if err == nil {
			c, err = s.cost(ctx, l, least, before)
		}
		cells[name] = c.String()
		if err != nil {
			cells[name], failed = fmt.Sprintf("failed: %.60s", err), fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", name, cells[name])
		return err == nil
	}
	for _, l := range lines {
		if !l.changed || measure(l.name+firstSuffix, l, write) {
			measure(l.name, l, nil)
		}
	}
	return cells, failed
}
