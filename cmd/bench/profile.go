package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// profile takes a CPU profile of the service for as long as the workloads are
// measured, if it is asked for one, and tells when that is done.
func (b *bench) profile(ctx context.Context, workloads []workload) <-chan error {
	done := make(chan error, 1)
	if b.Profile == "" {
		done <- nil
		return done
	}
	entrants := 0
	for _, w := range workloads {
		entrants += len(w.entrants)
	}
	seconds := int((b.Warmup+b.Duration).Seconds()*float64(b.Rounds*entrants)) + 1
	go func() {
		done <- b.fetchProfile(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", b.ops, seconds))
	}()
	return done
}

func (b *bench) fetchProfile(ctx context.Context, url string) (err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("profile: the service answers %s", response.Status)
	}
	file, err := os.Create(b.Profile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, response.Body)
	return err
}
