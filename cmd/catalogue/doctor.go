package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db/doctor"
)

type doctorCmd struct {
	cli.DatabaseFlags
	cli.OutputFlags

	Fix bool `help:"Repair what can be repaired. Writes wait until the command ends."`
}

// Run implements the command. The exit code is 1 if a problem remains.
func (c *doctorCmd) Run(ctx context.Context, std cli.Stdio) error {
	if err := c.Exists(); err != nil {
		return err
	}
	report, err := doctor.Examine(ctx, c.URL(), c.Fix)
	if err != nil {
		return err
	}
	err = c.Print(std.Out, report, func(out io.Writer) error {
		printReport(out, report, c.Fix)
		return nil
	})
	if err == nil && report.Left() > 0 {
		err = cli.ExitCode(1)
	}
	return err
}

func printReport(out io.Writer, report *doctor.Report, fix bool) {
	for _, check := range report.Checks {
		if !slices.ContainsFunc(report.Problems, func(p doctor.Problem) bool { return p.Check == check }) {
			fmt.Fprintf(out, "%-10s is right\n", check)
		}
	}
	fixable := 0
	for _, p := range report.Problems {
		if p.Fixed {
			fmt.Fprintf(out, "%-10s %s Repaired.\n", p.Check, p.Problem)
			continue
		}
		fmt.Fprintf(out, "%-10s %s\n           To repair it: %s\n", p.Check, p.Problem, p.Mend)
		if p.Fixable {
			fixable++
		}
	}
	if fixable > 0 && !fix {
		fmt.Fprintf(out, "catalogue db doctor --fix repairs %d of %d.\n", fixable, report.Left())
	}
}
