// Command bench compares two builds of the catalogue. Both serve the same books, are sent the same requests
// in alternating slices of time, and their processor time for a request is printed.
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
	var o options
	flag.StringVar(&o.engine, "engine", "postgres", "sqlite, or postgres: at CATALOGUE_TEST_DATABASE_URL, else temporary")
	flag.StringVar(&o.workloads, "workloads", "", "workloads to measure, like W1,W2 (default all)")
	flag.IntVar(&o.rounds, "rounds", 11, "slices for each build and workload")
	flag.DurationVar(&o.slice, "slice", time.Second, "length of a slice")
	flag.IntVar(&o.connections, "connections", 32, "connections that send requests")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "bench [flags] OLD NEW: compares two builds of catalogue, made with -pgo=off")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 || o.rounds < 1 || o.connections < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, programs []string) (err error) {
	// Not in the default folder, which may be memory, where a commit costs nothing, or too long for a socket.
	folder, err := os.MkdirTemp("/var/tmp", "catalogue-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	create, drop, err := databases(o.engine, folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	processes, ctx := errgroup.WithContext(ctx) // one that ends by itself ends the run
	defer func() {
		cancel()
		if ended := processes.Wait(); err != nil {
			err = errors.Join(err, ended)
		}
		err = errors.Join(err, drop())
	}()
	fmt.Fprintf(os.Stderr, "importing %d books into two databases\n", allBooks)
	var both [2]*service
	var starting errgroup.Group
	for i, program := range programs {
		database, err := create()
		if err != nil {
			return err
		}
		starting.Go(func() (err error) {
			both[i], err = serve(ctx, processes, program, database)
			return err
		})
	}
	if err := starting.Wait(); err != nil {
		return err
	}
	fmt.Printf("%s: medians of %d slices of %v, %d connections; processor time for a request, rates beside.\n\n",
		o.engine, o.rounds, o.slice, o.connections)
	fmt.Println("| | server, ms: old | new | database, ms: old | new | both, new/old | requests/s: old | new |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, w := range workloads {
		if o.workloads != "" && !slices.Contains(strings.Split(o.workloads, ","), w.name) {
			continue
		}
		samples, err := compare(ctx, o, both, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Println(row(w, samples))
	}
	return nil
}

// compare measures both builds in turn. The first round is not counted: caches fill, connections open.
func compare(ctx context.Context, o options, both [2]*service, w workload) (samples [2][]sample, err error) {
	for round := range o.rounds + 1 {
		for i := range both {
			i = (i + round) % 2 // alternately first, because a machine drifts
			s, err := both[i].measure(ctx, w, o, uint64(round))
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

// row is a line of the table: medians, and that of the ratios of neighbours, since what slows the machine for
// a while slows both.
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
	return fmt.Sprintf("| %s: %s | %.3f | %.3f | %.3f | %.3f | **%.3f** | %.0f | %.0f |", w.name, w.title, of(server, 0),
		of(server, 1), of(database, 0), of(database, 1), median(ratios), of(rate, 0), of(rate, 1))
}

func median(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
