package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"library-catalogue/cmd/catalogue/cli"
)

// healthcheckTimeout is less than the 4 s of the image's HEALTHCHECK, so that the command prints its reason.
const healthcheckTimeout = 3 * time.Second

type healthcheckCmd struct{ cli.AddressFlags }

func (c *healthcheckCmd) Run(ctx context.Context, std cli.Stdio, env cli.Getenv) error {
	ctx, cancel := context.WithTimeout(ctx, healthcheckTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"http://"+cli.Reachable(c.Address(env))+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return cli.Found{Err: fmt.Errorf("the server does not answer: %w", err)}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		reason, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // a partial reason is better than none
		return cli.Found{Err: fmt.Errorf("the server is not ready: %s %s", response.Status, bytes.TrimSpace(reason))}
	}
	fmt.Fprintln(std.Out, "ready")
	return nil
}
