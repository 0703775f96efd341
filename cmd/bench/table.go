package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// writeTable writes the medians as a table in Markdown, and what was left out.
func writeTable(w io.Writer, c *comparison, results []result) {
	command := strings.TrimSpace("go run ./cmd/bench " + strings.Join(os.Args[1:], " "))
	fmt.Fprintf(w, "`%s`: medians of %d rounds of %v, %d connections, %d processors.\n\n", command, c.Rounds, c.Duration, c.Connections, runtime.NumCPU())
	fmt.Fprintln(w, "| | req/s | the service is | p50 ms | p99 ms | CPU ms | PostgreSQL ms | MB | kB | others' cores | wanted |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
	var met, missed, unknown int
	var notes []string
	for _, r := range results {
		fmt.Fprintf(w, "| **%s: %s** | | | | | | | | | | |\n", r.name, r.title)
		service := middle(r.samples[0])
		for i, e := range r.entrants {
			if len(r.samples[i]) == 0 {
				unknown += len(e.targets)
				continue
			}
			s := middle(r.samples[i])
			times := ""
			if i > 0 {
				times = fmt.Sprintf("%.2f×", r.times(service, s))
			}
			var wanted []string
			for _, target := range e.targets {
				goal, ok := target(service, s)
				if ok {
					met++
					goal += " met"
				} else {
					missed++
					goal += " **missed**"
				}
				wanted = append(wanted, goal)
			}
			fmt.Fprintf(w, "| %s | %s | %s | %.2f | %.2f | %.3f | %.3f | %d | %.1f | %.2f | %s |\n", e.name, rate(s.rate), times,
				milliseconds(s.p50), milliseconds(s.p99), milliseconds(s.cpu), milliseconds(s.database), s.peak>>20, float64(s.bytes)/1000, s.other, strings.Join(wanted, "; "))
		}
		notes = append(notes, r.notes...)
	}
	fmt.Fprintf(w, "\nOf the goals, %d are met, %d missed, %d not measured.\n", met, missed, unknown)
	for _, note := range notes {
		fmt.Fprintf(w, "- not measured: %s\n", strings.Join(strings.Fields(note), " "))
	}
}

// times tells how many times as fast as another the service is.
func (r result) times(service, other sample) float64 {
	if r.byTime {
		return other.p50.Seconds() / service.p50.Seconds()
	}
	return service.rate / other.rate
}

// middle gives the median of each figure.
func middle(samples []sample) sample {
	if len(samples) == 0 {
		return sample{}
	}
	return sample{
		rate:      middleOf(samples, func(s sample) float64 { return s.rate }),
		p50:       middleOf(samples, func(s sample) time.Duration { return s.p50 }),
		p99:       middleOf(samples, func(s sample) time.Duration { return s.p99 }),
		firstByte: middleOf(samples, func(s sample) time.Duration { return s.firstByte }),
		cpu:       middleOf(samples, func(s sample) time.Duration { return s.cpu }),
		database:  middleOf(samples, func(s sample) time.Duration { return s.database }),
		peak:      middleOf(samples, func(s sample) int64 { return s.peak }),
		bytes:     middleOf(samples, func(s sample) int { return s.bytes }),
		other:     middleOf(samples, func(s sample) float64 { return s.other }),
	}
}

func middleOf[T cmp.Ordered](samples []sample, of func(sample) T) T {
	var all []T
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// rate writes few digits of what is slow.
func rate(perSecond float64) string {
	if perSecond < 100 {
		return fmt.Sprintf("%.2f", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }
