package fault_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"

	"library-catalogue/db/fault"
	"library-catalogue/db/postgres"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// TestTranslate classifies errors of a driver and of the network, and translates them for the packages above.
func TestTranslate(t *testing.T) {
	t.Parallel()
	code := func(code pqerror.Code) error { return fmt.Errorf("wrapped: %w", &pq.Error{Code: code}) }
	for name, tt := range map[string]struct {
		err   error
		fault fault.Fault
		is    error // the sentinel that the translated error has; nil: none
		code  model.Code
		stats stats.Fault
	}{
		"foreign key":       {code("23503"), fault.ForeignKey, fault.ErrForeignKey, "", stats.FaultInternal},
		"serialization":     {code("40001"), fault.Retry, model.ErrRetry, model.Unavailable, stats.FaultRetried},
		"deadlock":          {code(fault.Deadlock), fault.Retry, model.ErrRetry, model.Unavailable, stats.FaultRetried},
		"taken id":          {code(fault.UniqueViolation), fault.Retry, model.ErrRetry, model.Unavailable, stats.FaultRetried},
		"broken connection": {driver.ErrBadConn, fault.Retry, model.ErrRetry, model.Unavailable, stats.FaultRetried},
		"full disk":         {code("53100"), fault.DiskFull, fault.ErrDiskFull, model.Unavailable, stats.FaultDiskFull},
		"lock timeout":      {code(fault.LockNotAvailable), fault.Timeout, fault.ErrTimeout, model.Unavailable, stats.FaultTimeout},
		"deadline":          {context.DeadlineExceeded, fault.Unreachable, nil, model.Unavailable, stats.FaultTimeout},
		"canceled":          {context.Canceled, fault.Unreachable, nil, model.Unavailable, stats.FaultCanceled},
		"no connection":     {errors.Join(postgres.ErrConnect, driver.ErrBadConn), fault.Unreachable, nil, model.Unavailable, stats.FaultUnavailable},
		"password":          {code("28P01"), fault.Refused, nil, model.Unavailable, stats.FaultUnavailable},
		"read-only":         {code("25006"), fault.ReadOnly, nil, model.Unavailable, stats.FaultUnavailable},
		"syntax":            {code("42601"), fault.Other, nil, model.Internal, stats.FaultInternal},
	} {
		if got := fault.Of(tt.err); got != tt.fault {
			t.Errorf("%s: fault %d, want %d", name, got, tt.fault)
		}
		translated := fault.Translate(tt.err)
		if tt.is != nil && !errors.Is(translated, tt.is) || tt.code != "" && !model.IsCode(translated, tt.code) {
			t.Errorf("%s: %v, want the code %q", name, translated, tt.code)
		}
		if again := fault.Translate(translated); !errors.Is(again, translated) {
			t.Errorf("%s: translated again: %v", name, again)
		}
		if got := fault.ForStats(t.Context(), translated); tt.code != "" && got != tt.stats {
			t.Errorf("%s: %q in the statistics, want %q", name, got, tt.stats)
		}
	}
	if fault.Translate(nil) != nil {
		t.Error("nil is an error")
	}
}

// TestIsAway tells a database that may come back from one that refuses the connection.
func TestIsAway(t *testing.T) {
	t.Parallel()
	for code, want := range map[pqerror.Code]bool{"57P03": true, "53300": true, "28P01": false, "3D000": false} {
		if got := fault.IsAway(&pq.Error{Code: code}); got != want {
			t.Errorf("%s: %t, want %t", code, got, want)
		}
	}
	if !fault.IsAway(driver.ErrBadConn) || fault.IsAway(errors.New("mine")) {
		t.Error("a broken connection and another error are alike")
	}
}
