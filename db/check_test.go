package db_test

import (
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/schema"
	"library-catalogue/graph/model"
)

// wantChecks demands how each check ends, written "status: output"; of those not
// named it demands that they pass.
func wantChecks(t *testing.T, s *db.Store, want map[string]string) {
	t.Helper()
	for _, check := range s.Checks(t.Context()) {
		got := string(check.Status) + ": " + check.Output
		if wanted, named := want[check.Name]; named && !strings.HasPrefix(got, wanted) || !named && check.Status != model.Pass {
			t.Errorf("%s is %q (%v), want %q", check.Name, got, check.Err, wanted)
		}
		delete(want, check.Name)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		wantChecks(t, s, map[string]string{"database": "fail: The database has no tables of the catalogue."})
		check(t, s.Migrate(t.Context()))
		wantChecks(t, s, map[string]string{"database": "pass", "schema": "pass", "statements": "pass", "pool": "pass", "disk": "pass", "changes": "pass"})

		_, writer := db.Pools(s)
		change := func(statement string) {
			t.Helper()
			if _, err := writer.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		steps := must[[]schema.Migration](t)(s.Migrations(t.Context()))
		change(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
		wantChecks(t, s, map[string]string{"schema": "fail: The schema has version 9999, on which this program may not serve: it knows "})
		change(`DELETE FROM goose_db_version WHERE version_id >= ` + model.ID(steps[len(steps)-1].Version).String())
		wantChecks(t, s, map[string]string{"schema": "fail: The schema has version"})
		check(t, s.Close())
		wantChecks(t, s, map[string]string{"database": "fail"})
	})
}

// TestChecksOfDeadNetwork lets the network swallow every answer: the checks come
// back all the same.
func TestChecksOfDeadNetwork(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	migrated(t, direct)
	line := newWire(t, direct)
	s := open(t, line.url)
	wantChecks(t, s, nil)
	line.dead.Store(true)
	came := make(chan struct{})
	go func() {
		defer close(came)
		wantChecks(t, s, map[string]string{"database": "fail: The database did not answer within 1.5s."})
	}()
	select {
	case <-came:
	case <-time.After(5 * time.Second):
		t.Error("the checks wait for the network")
		<-came
	}
}
