package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"library-catalogue/db/dbtest"
)

// bench is a run, and what was started for it.
type bench struct {
	*options
	cleanup  []func() error // for the end, the last first
	folder   string         // for all files of the run
	program  string         // the service's
	postgres *dbtest.Cluster
	service  *service
	against  *service // the other build; nil unless given
	baseline *process
	peers    []*peer
}

// service is the catalogue service as a process, on a database of its own.
type service struct {
	*process
	database string // URL
	token    string
	cursors  []string // before the pages of all books
}

func (b *bench) run(ctx context.Context) (err error) {
	defer func() {
		for _, undo := range slices.Backward(b.cleanup) {
			err = errors.Join(err, undo())
		}
	}()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	var results []result
	for _, w := range workloads {
		if !slices.Contains(b.Workloads, w.name) {
			continue
		}
		r, err := b.measure(ctx, w)
		if err != nil {
			return fmt.Errorf("%s (%s): %w", w.name, w.title, err)
		}
		results = append(results, r)
	}
	writeTable(os.Stdout, b.options, results)
	return nil
}

func (b *bench) atEnd(undo func() error) { b.cleanup = append(b.cleanup, undo) }

// prepare fills the databases and starts everybody.
func (b *bench) prepare(ctx context.Context) (err error) {
	// Not in the folder for temporary files, which may be memory, where a commit
	// costs nothing, or a path too long for a socket.
	if b.folder, err = os.MkdirTemp("/var/tmp", "catalogue-bench-"); err != nil {
		return err
	}
	b.atEnd(func() error { return os.RemoveAll(b.folder) })
	if err := os.Chmod(b.folder, 0o711); err != nil { // PostgreSQL may run as another user
		return err
	}
	if b.postgres, err = dbtest.Serve(b.folder, settings...); err != nil {
		return err
	}
	b.atEnd(b.postgres.Close)
	progress("building the service")
	b.program = filepath.Join(b.folder, "catalogue")
	build := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/catalogue")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := runCommand(build); err != nil {
		return err
	}
	if b.service, err = b.startService(ctx, b.program, "service"); err != nil {
		return err
	}
	if b.Against != "" {
		b.against, err = b.startService(ctx, b.Against, "against")
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	b.baseline, err = b.start(ctx, "baseline", func(address string) *exec.Cmd {
		return exec.Command(program, baselineCommand, address, b.service.database)
	})
	if err != nil {
		return err
	}
	b.peers, err = b.startPeers(ctx)
	return err
}

// startService starts a build of the service on a new database with the rows. As
// other servers, it limits no rate and logs no line for a request.
func (b *bench) startService(ctx context.Context, program, name string) (*service, error) {
	progress("filling the database of the %s", name)
	database, err := b.postgres.Create()
	if err != nil {
		return nil, err
	}
	command := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, arguments...)
		cmd.Env = []string{
			"CATALOGUE_DATABASE_URL=" + database, "CATALOGUE_RATE=0", "CATALOGUE_LOG_LEVEL=warn", "CATALOGUE_LOG_FORMAT=json",
			"CATALOGUE_JWT_SECRET=only for this run, on the loopback",
		}
		return cmd
	}
	if err := errors.Join(runCommand(command("migrate", "up")), seed(ctx, database, seededBooks)); err != nil {
		return nil, err
	}
	var token bytes.Buffer
	sign := command("token")
	sign.Stdout = &token
	if err := runCommand(sign); err != nil {
		return nil, err
	}
	s := &service{database: database, token: strings.TrimSpace(token.String())}
	s.process, err = b.start(ctx, name, func(address string) *exec.Cmd { return command("serve", "--addr="+address) })
	if err != nil {
		return nil, err
	}
	return s, s.readCursors(ctx)
}

// result is what was measured of a workload.
type result struct {
	workload
	contenders []contender
	samples    [][]sample // of each contender, one a round
}

// measure measures all contenders alternately, round by round. A wrong answer ends
// the run.
func (b *bench) measure(ctx context.Context, w workload) (result, error) {
	r := result{workload: w, contenders: b.contenders(w)}
	r.samples = make([][]sample, len(r.contenders))
	l := load{connections: cmp.Or(w.connections, b.Connections), warmup: b.Warmup, duration: b.Duration, postgres: b.postgres.PID()}
	for round := range b.Rounds {
		l.seed = uint64(round)
		for i := range r.contenders {
			if round%2 == 1 { // in the other order, so that a drift of the machine favours nobody
				i = len(r.contenders) - 1 - i
			}
			sample, err := l.measure(ctx, r.contenders[i])
			if err != nil {
				return r, fmt.Errorf("%s: %w", r.contenders[i].name, err)
			}
			r.samples[i] = append(r.samples[i], sample)
			progress("%s, %s: %.1f/s, p50 %.2f ms", w.name, r.contenders[i].name, sample.rate, milliseconds(sample.p50))
		}
	}
	return r, nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
