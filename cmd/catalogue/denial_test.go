//go:build soak

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
	"library-catalogue/server/attack"
)

const (
	// drillTime names a variable with the time that honest clients are looked at
	// beside each attack.
	drillTime = "CATALOGUE_DRILL_TIME"
	// drillTable names a variable with the file that the table is written to.
	drillTable = "CATALOGUE_DRILL_TABLE"
)

// sharedAddress is where honest clients and attackers are the same to the service
// but for the tokens of the honest ones.
const sharedAddress = "127.0.0.1"

// crowds are those who attack, one after another.
var crowds = []attack.Crowd{{Clients: 1}, {Clients: 4}, {Clients: 20}, {Clients: 20, Address: sharedAddress}, {Clients: 200}}

func drillDuration(t *testing.T) time.Duration {
	t.Helper()
	duration, err := time.ParseDuration(cmp.Or(os.Getenv(drillTime), "2s"))
	if err != nil {
		t.Fatalf("%s: %v", drillTime, err)
	}
	return duration
}

// TestDenial has honest clients ask for what the documentation promises while
// others attack, and demands that they get it.
func TestDenial(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8, and tells how much memory a process held")
	}
	duration := drillDuration(t)
	program := targetProgram(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		s := startTarget(t, program, database, soakBooks)
		strangers, known := newHonest(t, s, ""), newHonest(t, s, sharedAddress)
		strangers.measure(t.Context(), time.Second) // what is done the first time
		table := newTable(t.Name(), strangers.measure(t.Context(), 3*duration))
		defer table.write(t)
		all := attack.All()
		bodies := len(all) - len(attack.Bodies())
		for i := range bodies + 1 {
			name, to := all[i].Name, i+1
			if i == bodies {
				name, to = "bodies that are refused", len(all)
			}
			t.Run(name, func(t *testing.T) {
				alone := strangers.measure(t.Context(), duration)
				table.begin(name, alone)
				for n, k := range kinds {
					t.Logf("alone %-21s %v", k.name, alone[n])
					if len(alone[n].wrong) > 0 {
						t.Fatal("without an attack all is to be answered")
					}
				}
				for _, crowd := range crowds {
					clients := strangers
					if crowd.Address != "" {
						clients = known
					}
					s.resetPeak(t)
					stop := s.attack(t, i, to, crowd)
					time.Sleep(unfolds(crowd))
					beside := clients.measure(t.Context(), duration)
					stop()
					for n, k := range kinds {
						t.Logf("%3d %s %-21s %v", crowd.Clients, crowd.Address, k.name, beside[n])
						if line := crossed(beside[n], alone[n], crowd.Clients); line != "" {
							t.Errorf("%d clients, %s: %s", crowd.Clients, k.name, line)
						}
					}
					table.add(beside, s.peak(t))
					clients.settle(t, alone)
				}
			})
		}
	})
}

// unfolds returns how long attackers are there before honest clients are looked at, so
// that each was served once: who asks for the first time is nobody's attacker.
func unfolds(crowd attack.Crowd) time.Duration {
	if crowd.Address != "" {
		crowd.Clients = 1
	}
	return min(time.Duration(crowd.Clients)*200*time.Millisecond, 4*time.Second)
}

// resetPeak lets the peak of its memory begin again at what it holds now (5 in
// proc_pid_clear_refs(5)).
func (s *target) resetPeak(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.Process.Pid), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

// limit is how much time what takes so long alone may take beside attackers.
func limit(alone time.Duration) time.Duration {
	return max(3*alone, alone+250*time.Millisecond)
}

// crossed returns which line of what is promised a kind of request has crossed.
func crossed(beside, alone seen, clients int) string {
	p90, most := limit(alone.quantile(0.9)), 3*time.Second
	switch {
	case clients > 20 && beside.quantile(1) > most:
		return fmt.Sprintf("one took %v, more than %v", beside.quantile(1), most)
	case clients <= 20 && len(beside.wrong) > 0:
		return fmt.Sprintf("%d of %d were not answered: %v", len(beside.wrong), len(beside.took), beside.wrong[0])
	case clients <= 20 && beside.quantile(0.9) > p90:
		return fmt.Sprintf("p90 was %v, and %v alone", beside.quantile(0.9), alone.quantile(0.9))
	}
	return ""
}

// settle waits until all is answered as it was alone.
func (h *honest) settle(t *testing.T, alone []seen) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		var late error
		for i, k := range kinds {
			h.number++
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			took, err := h.ask(ctx, i, h.number)
			cancel()
			if err == nil && took > limit(alone[i].quantile(1)) {
				err = fmt.Errorf("it took %v", took)
			}
			if err != nil {
				late = fmt.Errorf("%s: %w", k.name, err)
			}
		}
		if late == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a minute after the attack all is not as before: %v", late)
		}
	}
}

// table is what honest clients saw in all attacks, in Markdown.
type table struct {
	text  strings.Builder
	alone []seen // before the attack at hand
}

func newTable(title string, alone []seen) *table {
	t := new(table)
	fmt.Fprintf(&t.text, "%s: alone\n\n| request | p50 | p90 | p99 |\n|---|---:|---:|---:|\n", title)
	for i, k := range kinds {
		fmt.Fprintf(&t.text, "| %s | %s | %s | %s |\n", k.name, milliseconds(alone[i].quantile(0.5)), milliseconds(alone[i].quantile(0.9)), milliseconds(alone[i].quantile(0.99)))
	}
	t.text.WriteString("\n| attack |")
	for _, crowd := range crowds {
		fmt.Fprintf(&t.text, " %d", crowd.Clients)
		if crowd.Address != "" {
			t.text.WriteString(" of the same address")
		}
		t.text.WriteString(" |")
	}
	t.text.WriteString("\n|---|" + strings.Repeat("---|", len(crowds)))
	return t
}

// begin begins the line of an attack, before which this was seen alone.
func (t *table) begin(name string, alone []seen) {
	fmt.Fprintf(&t.text, "\n| %s |", name)
	t.alone = alone
}

// add notes what was seen beside a crowd: of the kind of request that was slowest
// against what it may take, the p90 beside that alone; and what was not answered.
func (t *table) add(beside []seen, peak int) {
	part := func(i int) float64 {
		return float64(beside[i].quantile(0.9)) / float64(limit(t.alone[i].quantile(0.9)))
	}
	slowest := 0
	var refused []string
	for i, k := range kinds {
		if part(i) > part(slowest) {
			slowest = i
		}
		if share := beside[i].share(); share > 0 {
			refused = append(refused, fmt.Sprintf("%s %.0f %%", k.name, 100*share))
		}
	}
	fmt.Fprintf(&t.text, " %s %s (%s)", kinds[slowest].name, milliseconds(beside[slowest].quantile(0.9)), milliseconds(t.alone[slowest].quantile(0.9)))
	switch {
	case len(refused) > 2:
		fmt.Fprintf(&t.text, "; not answered: %d kinds", len(refused))
	case len(refused) > 0:
		fmt.Fprintf(&t.text, "; not answered: %s", strings.Join(refused, ", "))
	}
	fmt.Fprintf(&t.text, "; %d MB |", peak>>20)
}

func (t *table) write(tb testing.TB) {
	tb.Log("\n" + t.text.String())
	name := os.Getenv(drillTable)
	if name == "" {
		return
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintln(file, t.text.String()); err != nil {
		tb.Error(err)
	}
}
