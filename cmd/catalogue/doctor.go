package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db/doctor"
)

type doctorCmd struct {
	cli.DatabaseFlags

	Fix  bool `env:"CATALOGUE_DOCTOR_FIX" help:"Mend what can be mended; nobody can write meanwhile."`
	JSON bool `name:"json" env:"CATALOGUE_DOCTOR_JSON" help:"Print what was found as JSON."`
}

// Run implements the command. It ends with 1 where there is a problem that is not mended.
func (c *doctorCmd) Run(ctx context.Context, std cli.Stdio) error {
	if err := c.Exists(); err != nil {
		return err
	}
	report, err := doctor.Examine(ctx, c.URL(), c.Fix)
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(std.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		printReport(std, report, c.Fix)
	}
	if err == nil && report.Left() > 0 {
		err = cli.ExitCode(1)
	}
	return err
}

// printReport says what was found in words.
func printReport(std cli.Stdio, report *doctor.Report, fix bool) {
	for _, check := range report.Checks {
		if !slices.ContainsFunc(report.Problems, func(p doctor.Problem) bool { return p.Check == check }) {
			fmt.Fprintf(std.Out, "%-10s is right\n", check)
		}
	}
	fixable := 0
	for _, p := range report.Problems {
		if p.Fixed {
			fmt.Fprintf(std.Out, "%-10s %s Mended.\n", p.Check, p.Problem)
			continue
		}
		fmt.Fprintf(std.Out, "%-10s %s\n           To mend it: %s\n", p.Check, p.Problem, p.Mend)
		if p.Fixable {
			fixable++
		}
	}
	if fixable > 0 && !fix {
		fmt.Fprintf(std.Out, "catalogue doctor --fix mends %d of %d.\n", fixable, report.Left())
	}
}
