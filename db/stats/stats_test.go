package stats_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"library-catalogue/db/stats"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	stats.Of(context.Background()).Add(stats.Statement{Took: time.Second}) // counted for nobody
	ctx, record := stats.With(t.Context())
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() { stats.Of(ctx).Add(stats.Statement{Took: 2 * time.Millisecond}) })
	}
	wait.Wait()
	if record.Statements() != 50 || record.DatabaseTime() != 100*time.Millisecond {
		t.Errorf("%d statements in %v", record.Statements(), record.DatabaseTime())
	}
}

func TestSlowest(t *testing.T) {
	t.Parallel()
	_, record := stats.With(t.Context())
	for i := range 100 {
		record.Add(stats.Statement{Took: time.Duration(i * 37 % 100)})
	}
	record.Add(stats.Statement{Text: "COMMIT", Took: 1000})
	slowest := record.Slowest()
	if len(slowest) != 8 || slowest[0].Text != "COMMIT" || record.Statements() != 100 {
		t.Fatalf("%d statements, the slowest: %+v", record.Statements(), slowest)
	}
	for i, s := range slowest[1:] {
		if want := time.Duration(99 - i); s.Took != want {
			t.Errorf("place %d: %v, want %v", i+2, s.Took, want)
		}
	}
}
