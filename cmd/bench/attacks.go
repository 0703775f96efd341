package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"library-catalogue/server/attack"
)

// attackCommand starts this program as the attackers.
const attackCommand = "attack"

// attacked is what plain queries meet with under an attack, and without it.
type attacked struct {
	server, attack        string          // attack is "" for all at once
	underAttack, baseline []time.Duration // the 99th percentile of each round
	peak                  uint64          // bytes of memory that the server held
}

// attackTest attacks the service on both databases, in one way after another and
// at last in all at once, beside honest load. The service is set up as for the
// public, with a limit of rate for each address.
func (b *bench) attackTest(ctx context.Context) error {
	plain := graphQL(uncached, `query ($after: ID!) { books(first: 20, filter: {id: {gt: $after}}) { nodes { id name genre { name category { name } } } } }`,
		variables{"after": "$AFTER"}, 0)
	// 400 queries a second, a small part of what the service answers.
	honest := load{connections: 8, interval: 20 * time.Millisecond, warmup: b.Warmup, duration: b.Duration}
	var all []attacked
	for _, database := range []struct{ name, url string }{{"PostgreSQL", b.service.database}, {"SQLite", b.sqliteURL()}} {
		s, err := b.startService(ctx, b.program, database.url, "public-"+database.name, "CATALOGUE_RATE=100", "CATALOGUE_LOG_LEVEL=info")
		if err != nil {
			return err
		}
		target := contender{server: s.process, request: plain}
		for _, a := range append(attack.All(), attack.Attack{}) {
			result := attacked{server: database.name, attack: a.Name}
			for range b.Rounds {
				if err := result.measure(ctx, honest, target); err != nil {
					return fmt.Errorf("%s: under %q: %w", database.name, a.Name, err)
				}
			}
			progress("%s, %s: p99 %.2f ms, %.2f ms without; %d MB", result.server, result.attack,
				milliseconds(median(result.underAttack)), milliseconds(median(result.baseline)), result.peak>>20)
			all = append(all, result)
		}
	}
	writeAttacks(os.Stdout, all)
	return nil
}

// measure measures honest load without the attack, and under it. The attackers run
// where nobody else wants to: in the field they are on machines of their own.
func (a *attacked) measure(ctx context.Context, honest load, target contender) (err error) {
	without, err := honest.measure(ctx, target)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	attackers := exec.CommandContext(ctx, "chrt", "--idle", "0", program, attackCommand, target.server.address, a.attack)
	attackers.Stderr = os.Stderr
	began, err := attackers.StdoutPipe()
	if err != nil {
		return err
	}
	if err := attackers.Start(); err != nil {
		return err
	}
	defer func() {
		_ = attackers.Process.Signal(os.Interrupt)
		err = errors.Join(err, attackers.Wait())
	}()
	if _, err := bufio.NewReader(began).ReadString('\n'); err != nil {
		return err
	}
	under, err := honest.measure(ctx, target)
	a.baseline, a.underAttack = append(a.baseline, without.p99), append(a.underAttack, under.p99)
	a.peak = max(a.peak, under.peak)
	return err
}

// runAttacks is the attackers: they print a line and make the attack of that name,
// or all, until ctx ends.
func runAttacks(ctx context.Context, address, name string) {
	attacks := attack.All()
	for _, a := range attacks {
		if a.Name == name {
			attacks = []attack.Attack{a}
		}
	}
	fmt.Println("attacking")
	attack.Run(ctx, address, attacks)
}

// writeAttacks writes what the attacks did as a table in Markdown.
func writeAttacks(w io.Writer, all []attacked) {
	fmt.Fprintln(w, "\n| attack | on | p99 ms of a plain query | without it | ratio | MB |\n|---|---|---:|---:|---:|---:|")
	for _, a := range all {
		if a.attack == "" {
			a.attack = "**all at once**"
		}
		under, baseline := median(a.underAttack), median(a.baseline)
		fmt.Fprintf(w, "| %s | %s | %.2f | %.2f | %.2f× | %d |\n", a.attack, a.server, milliseconds(under), milliseconds(baseline), under.Seconds()/baseline.Seconds(), a.peak>>20)
	}
}
