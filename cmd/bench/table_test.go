package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	results := []result{{
		workload: workload{name: "W1", title: "books"}, contenders: []contender{{name: "the service"}, {name: "a peer"}},
		samples: [][]sample{
			{{rate: 100, p50: 9 * ms}, {rate: 300, p50: 8 * ms}, {rate: 200, p50: 7 * ms}},
			{{rate: 25}, {rate: 75, p50: 1500 * time.Microsecond, cpu: ms, postgres: 2 * ms, others: 0.25}, {rate: 50, p50: 2 * ms}},
		},
	}}
	var out strings.Builder
	writeTable(&out, &options{Rounds: 3, Duration: 5 * time.Second, Connections: 32}, results)
	_, table, _ := strings.Cut(out.String(), "|---:|\n")
	const want = `| **W1: books** | | | | | | | |
| the service | 200 |  | 8.00 | 0.00 | 0.000 | 0.000 | 0.00 |
| a peer | 50.00 | 4.00× ± 0.00 | 1.50 | 0.00 | 0.000 | 0.000 | 0.00 |
`
	if table != want {
		t.Errorf("the table is\n%s\nand not\n%s", table, want)
	}
}

// TestRatio: what slows both of a round changes nothing, and what differs from
// round to round is in the error.
func TestRatio(t *testing.T) {
	t.Parallel()
	rates := func(all ...float64) (samples []sample) {
		for _, r := range all {
			samples = append(samples, sample{rate: r})
		}
		return samples
	}
	for _, test := range []struct {
		service, other []sample
		mean, failure  float64
	}{
		{rates(100, 10, 1000), rates(50, 5, 500), 2, 0},
		{rates(100), rates(50), 2, 0},
		{rates(100, 400), rates(100, 100), 2, 2 * math.Ln2},
	} {
		mean, failure := ratio(test.service, test.other)
		if math.Abs(mean-test.mean) > 1e-9 || math.Abs(failure-test.failure) > 1e-6 {
			t.Errorf("%v ± %v, want %v ± %v", mean, failure, test.mean, test.failure)
		}
	}
}
