// Command bench compares two builds of the catalogue. It sends both the same requests for the same books in
// alternating slices of time, and prints their processor time per request. As bench growth it measures one build with
// catalogues of several sizes, and as bench live one with many live queries.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// options are the flags.
type options struct {
	engine, workloads   string
	rounds, connections int
	slice               time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == "growth" {
		exit(runGrowth(ctx, os.Args[2:]))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "live" {
		exit(runLive(ctx, os.Args[2:]))
		return
	}
	var o options
	flag.StringVar(&o.engine, "engine", "postgres", "sqlite, or postgres, by default a temporary server")
	flag.StringVar(&o.workloads, "workloads", "", "workloads to measure, like W1,W2 (default all)")
	flag.IntVar(&o.rounds, "rounds", 11, "slices of each build and workload")
	flag.DurationVar(&o.slice, "slice", time.Second, "length of a slice")
	flag.IntVar(&o.connections, "connections", 32, "connections that send requests")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: bench [flags] OLD NEW\nCompare two builds made with -pgo=off.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 || o.rounds < 1 || o.connections < 1 {
		flag.Usage()
		os.Exit(2)
	}
	exit(withDatabases(ctx, o.engine,
		func(ctx context.Context, processes *errgroup.Group, create func() (string, error)) error {
			return run(ctx, o, flag.Args(), processes, create)
		}))
}

// exit ends the program if there is an error.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// withDatabases calls fn with a function that creates databases of an engine, and ends the processes and the databases
// after it. The first process that exits ends ctx.
func withDatabases(
	ctx context.Context, engine string,
	fn func(ctx context.Context, processes *errgroup.Group, create func() (string, error)) error,
) (err error) {
	// The default folder may be in memory, where a commit costs nothing, or too long for a socket.
	folder, err := os.MkdirTemp("/var/tmp", "catalogue-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	create, drop, err := databases(engine, folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	processes, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		if ended := processes.Wait(); err != nil {
			err = errors.Join(err, ended)
		}
		err = errors.Join(err, drop())
	}()
	return fn(ctx, processes, create)
}

func run(
	ctx context.Context, o options, programs []string, processes *errgroup.Group, create func() (string, error),
) error {
	fmt.Fprintf(os.Stderr, "importing %d books into two databases\n", allBooks)
	var builds [2]*service
	var starting errgroup.Group
	for i, program := range programs {
		database, err := create()
		if err != nil {
			return err
		}
		starting.Go(func() (err error) {
			builds[i], err = serve(ctx, processes, program, database)
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		return err
	}
	fmt.Printf("%s: processor time per request and rates, medians of %d slices of %v, %d connections.\n\n",
		o.engine, o.rounds, o.slice, o.connections)
	fmt.Println("| | server, ms: old | new | database, ms: old | new | both, new/old | requests/s: old | new |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, w := range workloads {
		if o.workloads != "" && !slices.Contains(strings.Split(o.workloads, ","), w.name) {
			continue
		}
		samples, err := compare(ctx, o, builds, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Println(row(w, samples))
	}
	return nil
}

// compare measures two builds in turn. It discards the first round, which fills caches and opens connections.
func compare(ctx context.Context, o options, builds [2]*service, w workload) (samples [2][]sample, err error) {
	for round := range o.rounds + 1 {
		for i := range builds {
			i = (i + round) % 2 // alternates which is first, because the speed of a machine drifts
			s, err := builds[i].measure(ctx, w, o, uint64(round))
			if err != nil {
				return samples, fmt.Errorf("the %s build: %w", [2]string{"old", "new"}[i], err)
			}
			if round > 0 {
				samples[i] = append(samples[i], s)
			}
		}
	}
	return samples, nil
}

// row returns a line of the table: the medians, and the median ratio of neighbouring slices, which a temporary
// slowdown affects alike.
func row(w workload, samples [2][]sample) string {
	var cells [3][2][]float64
	var ratios []float64
	for i, old := range samples[0] {
		now := samples[1][i]
		ratios = append(ratios, (now[server]+now[database])/(old[server]+old[database]))
		for figure := range cells {
			cells[figure][0] = append(cells[figure][0], old[figure])
			cells[figure][1] = append(cells[figure][1], now[figure])
		}
	}
	of := func(figure, build int) float64 { return median(cells[figure][build]) }
	return fmt.Sprintf("| %s: %s | %.3f | %.3f | %.3f | %.3f | **%.3f** | %.0f | %.0f |",
		w.name, w.title, of(server, 0), of(server, 1), of(database, 0), of(database, 1), median(ratios), of(rate, 0),
		of(rate, 1))
}

func median(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
