// Command bench measures the service under load: beside what limits any service
// on the same machine, and beside other servers where ../shared/bench has them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

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

func run(ctx context.Context) error {
	// A run starts this program once more, as a server or as attackers.
	if len(os.Args) == 4 {
		switch os.Args[1] {
		case limitsCommand:
			return serveLimits(ctx, os.Args[2], os.Args[3])
		case attackCommand:
			return serveAttacks(ctx, os.Args[2], os.Args[3])
		}
	}
	c := new(comparison)
	kong.Parse(c, kong.Name("bench"), kong.Description("Measures the catalogue service under load, and prints a table."))
	return c.run(ctx)
}
