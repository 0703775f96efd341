package main

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	const ms = time.Millisecond
	results := []result{
		{
			workload: workload{name: "W1", title: "books", entrants: []entrant{
				{name: "the service", targets: []target{median(8 * ms), memory(64 << 20)}},
				{name: "a peer", targets: []target{atLeast(6)}},
				{name: "another", targets: []target{atLeast(5)}},
			}},
			samples: [][]sample{
				{{rate: 100, p50: 9 * ms, peak: 65 << 20}, {rate: 300, p50: 8 * ms, peak: 60 << 20}, {rate: 200, p50: 7 * ms, peak: 3 << 20}},
				{{rate: 40, p50: 1500 * time.Microsecond, cpu: ms, database: 2 * ms, bytes: 96_700, other: 0.25}},
				nil,
			},
			notes: []string{"W1, another: a wrong\nanswer"},
		},
		{
			workload: workload{name: "W5", title: "all", byTime: true, entrants: []entrant{
				{name: "the service", targets: []target{firstByte(20 * ms)}},
				{name: "psql", targets: []target{longer(2)}},
			}},
			samples: [][]sample{{{rate: 2, p50: 400 * ms, firstByte: 21 * ms}}, {{rate: 9, p50: 200 * ms}}},
		},
	}
	var out strings.Builder
	writeTable(&out, &comparison{Rounds: 3, Duration: 5 * time.Second, Connections: 32}, results)
	_, table, _ := strings.Cut(out.String(), "|---|\n")
	const want = `| **W1: books** | | | | | | | | | | |
| the service | 200 |  | 8.00 | 0.00 | 0.000 | 0.000 | 60 | 0.0 | 0.00 | p50 ≤ 8ms met; ≤ 64 MB met |
| a peer | 40.00 | 5.00× | 1.50 | 0.00 | 1.000 | 2.000 | 0 | 96.7 | 0.25 | ≥ 6× **missed** |
| **W5: all** | | | | | | | | | | |
| the service | 2.00 |  | 400.00 | 0.00 | 0.000 | 0.000 | 0 | 0.0 | 0.00 | first byte (21.0 ms) ≤ 20ms **missed** |
| psql | 9.00 | 0.50× | 200.00 | 0.00 | 0.000 | 0.000 | 0 | 0.0 | 0.00 | ≤ 2× its time met |

Of the goals, 3 are met, 2 missed, 1 not measured.
- not measured: W1, another: a wrong answer
`
	if table != want {
		t.Errorf("the table is\n%s\nand not\n%s", table, want)
	}
}
