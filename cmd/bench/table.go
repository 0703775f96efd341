package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// writeTable writes the medians as a table in Markdown, and what was left out.
func writeTable(w io.Writer, o *options, results []result) {
	command := strings.TrimSpace("go run ./cmd/bench " + strings.Join(os.Args[1:], " "))
	fmt.Fprintf(w, "`%s`: medians of %d rounds of %v, %d connections, %d processors. The service's ratio to the others is the mean of the ratios of each round, with its standard error.\n\n",
		command, o.Rounds, o.Duration, o.Connections, runtime.NumCPU())
	fmt.Fprintln(w, "| | req/s | the service is | p50 ms | p99 ms | CPU ms | PostgreSQL ms | others' cores |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range results {
		fmt.Fprintf(w, "| **%s: %s** | | | | | | | |\n", r.name, r.title)
		for i, c := range r.contenders {
			samples, times := r.samples[i], ""
			if i > 0 {
				mean, failure := ratio(r.samples[0], samples)
				times = fmt.Sprintf("%.2f× ± %.2f", mean, failure)
			}
			ms := func(of func(sample) time.Duration) float64 { return milliseconds(medianOf(samples, of)) }
			fmt.Fprintf(w, "| %s | %s | %s | %.2f | %.2f | %.3f | %.3f | %.2f |\n",
				c.name, rate(medianOf(samples, func(s sample) float64 { return s.rate })), times,
				ms(func(s sample) time.Duration { return s.p50 }), ms(func(s sample) time.Duration { return s.p99 }),
				ms(func(s sample) time.Duration { return s.cpu }), ms(func(s sample) time.Duration { return s.postgres }),
				medianOf(samples, func(s sample) float64 { return s.others }))
		}
	}
}

// ratio returns the geometric mean of the ratios of the rates in each round, and
// its standard error. What slows the machine for a while slows both of a round.
func ratio(service, other []sample) (mean, failure float64) {
	n := min(len(service), len(other))
	var sum, squares float64
	for i := range n {
		l := math.Log(service[i].rate / other[i].rate)
		sum, squares = sum+l, squares+l*l
	}
	average := sum / float64(n)
	mean = math.Exp(average)
	if n > 1 {
		variance := max(0, squares/float64(n)-average*average) * float64(n) / float64(n-1)
		failure = mean * math.Sqrt(variance/float64(n))
	}
	return mean, failure
}

func median[T cmp.Ordered](all []T) T {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

func medianOf[T cmp.Ordered](samples []sample, of func(sample) T) T {
	var all []T
	for _, s := range samples {
		all = append(all, of(s))
	}
	return median(all)
}

// rate returns few digits of what is slow.
func rate(perSecond float64) string {
	if perSecond < 100 {
		return fmt.Sprintf("%.2f", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
