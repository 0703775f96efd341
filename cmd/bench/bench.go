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
	"strings"
)

// bench is a run, and what was started for it.
type bench struct {
	*options
	cleanup  cleanup
	folder   string // for all files of the run
	program  string // the service's
	postgres *postgres
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
	defer func() { err = errors.Join(err, b.cleanup.run()) }()
	if err := b.start(ctx); err != nil {
		return err
	}
	var results []result
	for _, s := range b.scenarios() {
		r, err := b.measure(ctx, s)
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	writeTable(os.Stdout, b.options, results)
	return nil
}

// start fills the databases and starts everybody.
func (b *bench) start(ctx context.Context) (err error) {
	// Not in the folder for temporary files, which may be memory, where a commit
	// costs nothing, or a path too long for a socket.
	if b.folder, err = os.MkdirTemp("/var/tmp", "catalogue-bench-"); err != nil {
		return err
	}
	b.cleanup.add(func() error { return os.RemoveAll(b.folder) })
	if err := os.Chmod(b.folder, 0o711); err != nil { // PostgreSQL may run as another user
		return err
	}
	if b.postgres, err = startPostgres(ctx, b.DatabaseURL, b.folder, &b.cleanup); err != nil {
		return err
	}
	progress("building the service")
	b.program = filepath.Join(b.folder, "catalogue")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", b.program, "./cmd/catalogue")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := runCommand(build); err != nil {
		return err
	}
	if b.service, err = b.startSeeded(ctx, b.program, "service"); err != nil {
		return err
	}
	if b.Against != "" {
		b.against, err = b.startSeeded(ctx, b.Against, "against")
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	if b.baseline, err = start(ctx, exec.Command(program, baselineCommand, address, b.service.database), "baseline", address, b.folder, &b.cleanup); err != nil {
		return err
	}
	b.peers, err = b.startPeers(ctx)
	return err
}

// startSeeded starts a build of the service on a new database with the rows.
func (b *bench) startSeeded(ctx context.Context, program, name string) (*service, error) {
	progress("filling the database of the %s", name)
	url, err := b.postgres.create(ctx, &b.cleanup)
	if err != nil {
		return nil, err
	}
	if err := runCommand(exec.CommandContext(ctx, program, "migrate", "up", "--database-url="+url)); err != nil {
		return nil, err
	}
	if err := seed(ctx, url, seededBooks); err != nil {
		return nil, err
	}
	s, err := b.startService(ctx, program, url, name)
	if err != nil {
		return nil, err
	}
	return s, s.readCursors(ctx)
}

// startService starts a build of the service on a database. As other servers, it
// limits no rate and logs no line for a request.
func (b *bench) startService(ctx context.Context, program, database, name string) (*service, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command := func(name string) *exec.Cmd {
		cmd := exec.Command(program, name)
		cmd.Env = []string{
			"CATALOGUE_DATABASE_URL=" + database, "CATALOGUE_ADDR=" + address, "CATALOGUE_RATE=0", "CATALOGUE_LOG_LEVEL=warn",
			"CATALOGUE_LOG_FORMAT=json", "CATALOGUE_JWT_SECRET=only for this run, on the loopback",
		}
		return cmd
	}
	var token bytes.Buffer
	sign := command("token")
	sign.Stdout = &token
	if err := runCommand(sign); err != nil {
		return nil, err
	}
	s := &service{database: database, token: strings.TrimSpace(token.String())}
	s.process, err = start(ctx, command("serve"), name, address, b.folder, &b.cleanup)
	return s, err
}

// result is what was measured of a scenario.
type result struct {
	scenario
	samples [][]sample // of each contender, one a round
}

// measure measures all contenders in turn, round after round. A wrong answer ends
// the run.
func (b *bench) measure(ctx context.Context, s scenario) (result, error) {
	r := result{scenario: s, samples: make([][]sample, len(s.contenders))}
	for _, c := range s.contenders {
		if _, err := ask(ctx, c.server, c.request); err != nil {
			return r, fmt.Errorf("%s (%s), %s: %w", s.name, s.title, c.name, err)
		}
	}
	l := load{connections: cmp.Or(s.connections, b.Connections), warmup: b.Warmup, duration: b.Duration, postgres: b.postgres.pid}
	for round := range b.Rounds {
		l.seed = uint64(round)
		for i := range s.contenders {
			if round%2 == 1 { // in the other order, so that a drift of the machine favours nobody
				i = len(s.contenders) - 1 - i
			}
			sample, err := l.measure(ctx, s.contenders[i])
			if err != nil {
				return r, fmt.Errorf("%s (%s), %s: %w", s.name, s.title, s.contenders[i].name, err)
			}
			r.samples[i] = append(r.samples[i], sample)
			progress("%s, %s: %.1f/s, p50 %.2f ms", s.name, s.contenders[i].name, sample.rate, milliseconds(sample.p50))
		}
	}
	return r, nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
