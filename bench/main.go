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
	flag.StringVar(&o.workloads, "workloads", strings.Join(names(), ","), "workloads to measure")
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
	var both [2]*server
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
		if !slices.Contains(strings.Split(o.workloads, ","), w.name) {
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
func compare(ctx context.Context, o options, both [2]*server, w workload) (samples [2][]sample, err error) {
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

// row is a line of the table.
func row(w workload, samples [2][]sample) string {
	of := func(i int, figure func(sample) float64) float64 {
		var all []float64
		for _, s := range samples[i] {
			all = append(all, figure(s))
		}
		return median(all)
	}
	server := func(s sample) float64 { return s.server.Seconds() * 1000 }
	database := func(s sample) float64 { return s.database.Seconds() * 1000 }
	rate := func(s sample) float64 { return s.rate }
	var ratios []float64 // of neighbours: what slows the machine for a while slows both
	for i, old := range samples[0] {
		ratios = append(ratios, float64(samples[1][i].server+samples[1][i].database)/float64(old.server+old.database))
	}
	return fmt.Sprintf("| %s: %s | %.3f | %.3f | %.3f | %.3f | **%.3f** | %.0f | %.0f |", w.name, w.title,
		of(0, server), of(1, server), of(0, database), of(1, database), median(ratios), of(0, rate), of(1, rate))
}

func median(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
