// Command bench measures the service under load: beside a server written by hand,
// beside other servers where ../shared/bench has them, or beside another build of
// itself.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	Workloads   []string      `default:"W1,W2,W3,W4,W5,W6,W7,again" enum:"W1,W2,W3,W4,W5,W6,W7,again" help:"What to measure (default: ${default})."`
	Against     string        `type:"existingfile" placeholder:"PROGRAM" help:"Another build of the service, to judge a change by: the two are measured alternately in many short slices, and nothing else is. The ratio is that of neighbouring slices."`
	Rounds      int           `placeholder:"N" help:"How often each is measured (default: 3, with --against 60)."`
	Duration    time.Duration `placeholder:"TIME" help:"How long a measurement takes (default: 5s, with --against 300ms)."`
	Warmup      time.Duration `placeholder:"TIME" help:"Load before each measurement (default: 1s, with --against 100ms)."`
	Connections int           `default:"32" help:"How many connections send requests (default: ${default})."`
	Peers       []string      `default:"postgraphile,mercurius,yoga" help:"Which other servers to measure; mercurius is also Fastify's REST. None: --peers= (default: ${default})."`
	Shared      string        `default:"../shared/bench" type:"path" help:"Folder of the other servers; without it they are left out (default: ${default})."`
}

// Validate is called by kong. It sets what depends on another flag.
func (o *options) Validate() error {
	rounds, duration, warmup := 3, 5*time.Second, time.Second
	if o.Against != "" {
		rounds, duration, warmup = 60, 300*time.Millisecond, 100*time.Millisecond
	}
	o.Rounds, o.Duration, o.Warmup = cmp.Or(o.Rounds, rounds), cmp.Or(o.Duration, duration), cmp.Or(o.Warmup, warmup)
	if o.Rounds < 1 || o.Connections < 1 || o.Duration < 0 || o.Warmup < 0 {
		return errors.New("there must be a round, a connection and some time")
	}
	return nil
}

func run(ctx context.Context) error {
	if len(os.Args) == 4 && os.Args[1] == baselineCommand { // a run starts this program again
		return serveBaseline(ctx, os.Args[2], os.Args[3])
	}
	o := new(options)
	kong.Parse(o, kong.Name("bench"), kong.Description("Measures the catalogue service under load, and prints a table."))
	return (&bench{options: o}).run(ctx)
}
