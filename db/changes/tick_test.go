package changes

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// slowDB is a DB of SQLite whose transactions wait. Changes are untimed until two have ended.
type slowDB struct {
	DB
	writes  int
	release chan struct{} // ends a transaction
	fails   error
}

func (d *slowDB) Get(_ context.Context, into any, _ string, _ ...any) error {
	*into.(*bool) = d.writes < 2
	return nil
}

func (d *slowDB) Write(ctx context.Context, fn func(context.Context) error) error {
	<-d.release
	d.writes++
	return errors.Join(fn(ctx), d.fails)
}

func (d *slowDB) Start(fn func(context.Context)) { go fn(context.Background()) }

// TestTicksAreShared asks for a tick while a transaction runs that may not see all: another one follows, and several
// callers share it.
func TestTicksAreShared(t *testing.T) {
	t.Parallel()
	for name, tick := range map[string]func(*Log, context.Context) error{"page": (*Log).Tick, "time": (*Log).Settle} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &slowDB{release: make(chan struct{})}
				l := NewLog(dialect.SQLite, d)
				ended := make(chan error, 3)
				for range 3 { // the first one's transaction has begun when the others come
					go func() { ended <- tick(l, t.Context()) }()
					synctest.Wait()
				}
				d.release <- struct{}{}
				synctest.Wait()
				d.release <- struct{}{}
				for range 3 {
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}
				if d.writes != 2 {
					t.Errorf("%d transactions", d.writes)
				}
			})
		})
	}
}

// TestTickWaitsForAWriter does not wait for a long transaction of another program, and takes the next chance.
func TestTickWaitsForAWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDB{release: make(chan struct{})}
		l := NewLog(dialect.SQLite, d)
		begun := time.Now()
		if err := l.Settle(t.Context()); !Waits(err) || time.Since(begun) != maxTickWait {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		if err := l.Tick(t.Context()); err != nil {
			t.Errorf("a page: %v", err)
		}
		if since := l.OpenSince(); since != TimeNow()-model.Timestamp(maxTickWait.Microseconds()) {
			t.Errorf("open since %v at %v", since, TimeNow())
		}
		asked := TimeNow()
		close(d.release)
		if err := l.Settle(t.Context()); err != nil {
			t.Error(err)
		}
		if since := l.OpenSince(); since <= asked || since > TimeNow() {
			t.Errorf("open since %v after a question at %v", since, asked)
		}
	})
}

// TestFailedTick has each caller get the error, and the next one try again.
func TestFailedTick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDB{release: make(chan struct{}), fails: sql.ErrConnDone}
		close(d.release)
		l := NewLog(dialect.SQLite, d)
		for n := range 2 {
			if err := l.Settle(t.Context()); !errors.Is(err, sql.ErrConnDone) || d.writes != n+1 || l.engine.(*serial).settled.Load() != 0 {
				t.Errorf("transaction %d: %v, settled %d", d.writes, err, l.engine.(*serial).settled.Load())
			}
		}
	})
}
