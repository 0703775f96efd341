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
	"time"
)

// comparison is what is asked for.
type comparison struct {
	DatabaseURL string        `placeholder:"URL" help:"PostgreSQL server to make the databases in (default: one that is started for the run)."`
	Shared      string        `default:"../shared/bench" type:"path" help:"Folder of the other servers; without it they are left out (default: ${default})."`
	Rounds      int           `default:"3" help:"How often everybody is measured, in turn; the medians count (default: ${default})."`
	Warmup      time.Duration `default:"1s" help:"Load before each measurement (default: ${default})."`
	Duration    time.Duration `default:"5s" help:"How long a measurement takes (default: ${default})."`
	Connections int           `default:"32" help:"How many connections send requests (default: ${default})."`
	Workloads   []string      `default:"W1,W2,W3,W4,W5,W6,W7,again,alone,surface" enum:"W1,W2,W3,W4,W5,W6,W7,again,alone,surface,matrix,attacks" help:"What to measure (default: ${default})."`
	Profile     string        `type:"path" placeholder:"FILE" help:"Write a CPU profile of the service under all of the load there, for the compiler."`
	Peers       []string      `default:"postgraphile,mercurius,yoga" help:"Which other servers to measure; mercurius is also Fastify's REST (default: ${default})."`
}

// Validate is called by kong.
func (c *comparison) Validate() error {
	if c.Rounds < 1 || c.Connections < 1 || c.Duration <= 0 {
		return errors.New("there must be a round, a connection and some time")
	}
	return nil
}

// bench is a comparison, and what was started for it.
type bench struct {
	*comparison
	folder   string
	database string // URL of the service's
	load     load
	token    string
	service  *process
	ops      string   // the service's address for operators; empty where nothing is asked there
	sqlite   *process // the service over SQLite; nil where nobody asks for it
	// As these two, for attacks: as for the public, with a limit for each address.
	public, publicSQLite *process
	limits               *process
	peers                []*peer
}

func (c *comparison) run(ctx context.Context) (err error) {
	var cleanup cleanup
	defer func() { err = errors.Join(err, cleanup.run()) }()
	b := &bench{comparison: c}
	if err := b.prepare(ctx, &cleanup); err != nil {
		return err
	}
	workloads, err := b.lineup(ctx)
	if err != nil {
		return err
	}
	var failed error
	var results []result
	profiled := b.profile(ctx, workloads)
	for _, w := range workloads {
		r, err := b.measure(ctx, w)
		if err != nil {
			return err
		}
		failed = errors.Join(failed, r.failed)
		results = append(results, r)
	}
	failed = errors.Join(failed, <-profiled)
	if len(results) > 0 {
		writeTable(os.Stdout, c, results)
	}
	if slices.Contains(b.Workloads, "matrix") {
		failed = errors.Join(failed, b.matrix(ctx))
	}
	if slices.Contains(b.Workloads, "attacks") {
		return errors.Join(failed, b.sieges(ctx))
	}
	return failed
}

// prepare fills the databases and starts everybody.
func (b *bench) prepare(ctx context.Context, cleanup *cleanup) (err error) {
	// Not where temporary files go by default: that may be memory, where a
	// commit costs nothing, or a path that is too long for a socket.
	if b.folder, err = os.MkdirTemp("/var/tmp", "catalogue-bench-"); err != nil {
		return err
	}
	cleanup.add(func() error { return os.RemoveAll(b.folder) })
	if err := os.Chmod(b.folder, 0o711); err != nil { // PostgreSQL may run as another user
		return err
	}
	progress("filling the databases")
	databases, err := openDatabases(ctx, b.DatabaseURL, b.folder, cleanup)
	if err != nil {
		return err
	}
	b.load = load{connections: b.Connections, warmup: b.Warmup, duration: b.Duration, database: databases.pid}
	if b.database, err = databases.create(ctx, cleanup); err != nil {
		return err
	}
	if err := seed(ctx, b.database, seededBooks); err != nil {
		return err
	}
	progress("starting the service")
	if b.Profile != "" {
		if b.ops, err = freeAddress(); err != nil {
			return err
		}
	}
	if b.service, err = b.startService(ctx, b.database, "catalogue", cleanup, likeOthers...); err != nil {
		return err
	}
	surface, attacks := slices.Contains(b.Workloads, "surface"), slices.Contains(b.Workloads, "attacks")
	url := "sqlite:" + filepath.Join(b.folder, "catalogue.db")
	if surface || attacks {
		if err := copyCatalogue(ctx, b.database, url); err != nil {
			return err
		}
	}
	if surface {
		if b.sqlite, err = b.startService(ctx, url, "catalogue-sqlite", cleanup, likeOthers...); err != nil {
			return err
		}
	}
	if attacks {
		if b.public, err = b.startService(ctx, b.database, "public", cleanup); err != nil {
			return err
		}
		if b.publicSQLite, err = b.startService(ctx, url, "public-sqlite", cleanup); err != nil {
			return err
		}
	}
	if err := b.startLimits(ctx, cleanup); err != nil {
		return err
	}
	return b.startPeers(ctx, databases, cleanup)
}

// startPeers starts the other servers on a database of their own with the same
// rows, where they are at hand.
func (b *bench) startPeers(ctx context.Context, databases *databases, cleanup *cleanup) error {
	if _, err := os.Stat(b.Shared); err != nil || len(b.Peers) == 0 {
		return nil
	}
	url, err := databases.create(ctx, cleanup)
	if err != nil {
		return err
	}
	if err := seedPeers(ctx, url, filepath.Join(b.Shared, "seed.sql")); err != nil {
		return err
	}
	ours, err := fingerprint(ctx, b.database, ourCents)
	if err != nil {
		return err
	}
	theirs, err := fingerprint(ctx, url, theirCents)
	if err != nil {
		return err
	}
	if ours != theirs {
		return errors.New("the rows of the other servers are not the same as those of the service")
	}
	progress("installing %s", strings.Join(b.Peers, ", "))
	b.peers, err = startPeers(ctx, b.Peers, b.Shared, url, b.folder, cleanup)
	return err
}

// likeOthers is how the service is set up beside other servers: as these, it limits
// no rate, and logs no line for a request.
var likeOthers = []string{"CATALOGUE_RATE=0", "CATALOGUE_LOG_LEVEL=warn"}

// startService starts the service on a database with what else is set, and makes a
// token for it.
func (b *bench) startService(ctx context.Context, database, name string, cleanup *cleanup, settings ...string) (*process, error) {
	program := filepath.Join(b.folder, "catalogue")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/catalogue")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := runCommand(build); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command := func(name string) *exec.Cmd {
		cmd := exec.Command(program, name)
		cmd.Env = append([]string{
			"CATALOGUE_DATABASE_URL=" + database, "CATALOGUE_ADDR=" + address,
			"CATALOGUE_JWT_SECRET=only for this run, on the loopback", "CATALOGUE_LOG_FORMAT=json",
			"CATALOGUE_OPS_ADDR=" + b.ops,
		}, settings...)
		return cmd
	}
	var token bytes.Buffer
	sign := command("token")
	sign.Stdout = &token
	if err := runCommand(sign); err != nil {
		return nil, err
	}
	b.token = strings.TrimSpace(token.String())
	return start(ctx, command("serve"), name, address, b.folder, cleanup)
}

func (b *bench) startLimits(ctx context.Context, cleanup *cleanup) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	b.limits, err = start(ctx, exec.Command(program, limitsCommand, address, b.database), "limits", address, b.folder, cleanup)
	return err
}

// result is what a workload gave.
type result struct {
	workload
	samples [][]sample // of each entrant, in order; none where it was left out
	notes   []string   // who was left out, and why
	failed  error      // who failed under load
}

// measure measures all entrants in turn, round after round. Who gives a wrong
// answer is left out; without the service there is nothing to compare with.
func (b *bench) measure(ctx context.Context, w workload) (result, error) {
	r := result{workload: w, samples: make([][]sample, len(w.entrants))}
	out := make([]bool, len(w.entrants))
	leaveOut := func(i int, err error) {
		out[i], r.samples[i] = true, nil
		r.notes = append(r.notes, fmt.Sprintf("%s (%s), %s: %v", w.name, w.title, w.entrants[i].name, err))
		progress("%s", r.notes[len(r.notes)-1])
	}
	for i, e := range w.entrants {
		if e.server == nil || out[0] {
			continue
		}
		if _, err := ask(ctx, e.server, e.request); err != nil {
			leaveOut(i, err)
		}
	}
	l := b.load
	l.connections = cmp.Or(w.connections, l.connections)
	for range b.Rounds {
		for i, e := range w.entrants {
			if out[i] || out[0] {
				continue
			}
			s, err := l.of(ctx, e)
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			if err != nil {
				leaveOut(i, err)
				r.failed = errors.Join(r.failed, fmt.Errorf("%s, %s: %w", w.name, e.name, err))
				continue
			}
			r.samples[i] = append(r.samples[i], s)
			progress("%s, %s: %.1f/s, p50 %.2f ms; processor ms an answer: server %.3f, PostgreSQL %.3f, load %.3f",
				w.name, e.name, s.rate, milliseconds(s.p50), milliseconds(s.cpu), milliseconds(s.database), milliseconds(s.load))
		}
	}
	if out[0] {
		clear(r.samples)
	}
	return r, nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
