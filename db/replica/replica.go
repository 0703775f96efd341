// Package replica chooses standbys of PostgreSQL that serve reads as strictly as the primary.
package replica

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/postgres"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Set is the replicas of a database. They serve expensive reads. It is safe for concurrent use.
//
// The rows of the table revision are a version vector: a transaction that changes the catalogue
// increments one of them, and holds it locked until its commit (package changes). A snapshot that
// covers the vector of another one therefore sees all its commits. A replica serves a read if its snapshot has
//   - at least the vector that the primary had after the read began, so it lacks no commit from before;
//   - exactly a vector that the primary had after the read began. A replica can show a commit before the
//     primary does, and commits in another order: with A alone while the primary has B alone (long fork).
type Set struct {
	Config
	all        []*replica
	away       atomic.Bool // the last probe of the primary failed
	primary    atomic.Pointer[probed]
	history    history
	passedOver atomic.Int64 // expensive reads that the primary served
}

// replica is a standby with a pool of its own.
type replica struct {
	name      string
	connector *postgres.Connector
	pool      *sqlx.DB
	isLate    atomic.Bool // a read waited without effect; later reads do not wait until it has caught up
	reads     atomic.Int64

	mu     sync.Mutex
	life   context.Context // ends when the replica fails; nil: it is passed over
	end    context.CancelFunc
	reason string    // why it is passed over
	seen   Vector    // at the last probe
	behind Vector    // oldest probed vector of the primary that it lacks; nil: none
	since  time.Time // when the primary had behind
}

const (
	// wait is the time that a read waits for a late replica, and for a primary that a replica is ahead of.
	wait = 10 * time.Millisecond
	// timeout bounds the start of a read on a replica that does not answer.
	timeout = 250 * time.Millisecond
)

// Config configures a Set.
type Config struct {
	URLs           []string
	WithoutPrimary bool          // serve all reads while there is no primary
	MaxLag         time.Duration // maximum age of the commits that a late replica lacks; 0: none serves

	Open     func(*postgres.Connector) *sql.DB     // opens the pool of a replica
	Vector   func(context.Context) (Vector, error) // reads the vector of the primary, after the call has begun
	Primary  *sql.DB                               // connection for probes of the primary
	Schema   string                                // SELECT of the version of the schema
	Snapshot *sql.TxOptions                        // options of a transaction that reads
	Life     context.Context                       // ends when the Set is closed
	// Start runs a function in a goroutine that ends before the pools are closed. The channel gets its error, once.
	Start func(context.Context, func() error) <-chan error

	Logger *slog.Logger
}

// New returns a Set. It connects in the background, because a replica that does not answer must not
// delay the start.
func New(config Config) (*Set, error) {
	set := &Set{Config: config}
	for _, url := range config.URLs {
		connector, err := postgres.NewConnector(url)
		switch {
		case err != nil:
			return nil, fmt.Errorf("replica URL: %w", err)
		case connector.Hosts() > 1:
			return nil, errors.New("a replica URL must name one host: separate the URLs of several replicas by spaces")
		case slices.ContainsFunc(set.all, func(r *replica) bool { return r.name == connector.Host() }):
			return nil, fmt.Errorf("two replica URLs name %s: remove one of them", connector.Host())
		}
		set.all = append(set.all, &replica{name: connector.Host(), connector: connector})
	}
	for _, r := range set.all {
		r.pool = sqlx.NewDb(config.Open(r.connector), "postgres")
		config.Start(config.Life, func() error { return set.probeReplica(config.Life, r) })
	}
	config.Start(config.Life, func() error { return set.probePrimary(config.Life) })
	return set, nil
}

// Pools returns the pools of the replicas by name.
func (set *Set) Pools() map[string]*sql.DB {
	pools := map[string]*sql.DB{}
	for _, r := range set.all {
		pools[r.name] = r.pool.DB
	}
	return pools
}

// ServesAll reports whether replicas serve all reads, because there is no primary.
func (set *Set) ServesAll() bool { return set != nil && set.WithoutPrimary && set.away.Load() }

// Begin begins a transaction on a replica that has every commit from before the call. It returns nil if
// none has in time. If mayLag is true, the replica may lack commits that are younger than MaxLag. While there is no
// primary, it may lack any, if that is allowed. The caller must call End.
func (set *Set) Begin(ctx context.Context, mayLag bool) *Tx {
	t := set.find(ctx, mayLag)
	if t == nil {
		set.passedOver.Add(1)
	}
	return t
}

func (set *Set) find(ctx context.Context, mayLag bool) *Tx {
	if set.ServesAll() {
		for _, r := range set.usable((*replica).advance) {
			if t := set.begin(ctx, r); t != nil {
				t.MayLack = true
				return t
			}
		}
		return nil
	}
	candidates := set.usable((*replica).use)
	if len(candidates) == 0 {
		return nil
	}
	least, err := set.Vector(ctx)
	if err != nil {
		return nil // reading from the primary fails too, and says why
	}
	for attempt := range 2 {
		mayCatchUp := false
		for _, r := range candidates {
			t := set.begin(ctx, r)
			switch {
			case t == nil:
			case !t.vector.covers(least):
				if mayLag && set.mayServe(t, least) {
					r.isLate.Store(true)
					return t
				}
				t.close()
				if attempt > 0 {
					r.isLate.Store(true)
				}
				mayCatchUp = mayCatchUp || !r.isLate.Load()
			case least.covers(t.vector) || set.shows(ctx, t.vector):
				r.isLate.Store(false)
				return t
			default:
				t.close()
				return nil
			}
		}
		if !mayCatchUp || !task.Wait(ctx, wait, nil) {
			return nil
		}
	}
	return nil
}

// shows reports whether the primary has exactly v, which a replica has, in one of five looks within wait.
// A synchronous standby shows a commit before the primary, which waits for it.
func (set *Set) shows(ctx context.Context, v Vector) bool {
	for looks := 5; ; looks-- {
		if now, err := set.Vector(ctx); err != nil || now.covers(v) {
			return err == nil && v.covers(now)
		}
		if looks == 1 || !task.Wait(ctx, wait/4, nil) {
			return false
		}
	}
}

// mayServe reports whether a replica that lacks commits of least, the primary's vector, lacks only those within
// MaxLag, and sets its Lag. It refuses one with a commit that the primary does not show yet.
func (set *Set) mayServe(t *Tx, least Vector) bool {
	if !least.covers(t.vector) {
		return false
	}
	since, found := set.history.newest(t.vector)
	t.Lag = time.Since(since)
	return found && t.Lag <= set.MaxLag
}

// usable returns the replicas that are not passed over, those with the least number first.
func (set *Set) usable(number func(*replica) int64) []*replica {
	usable := slices.DeleteFunc(slices.Clone(set.all), func(r *replica) bool { return r.alive() == nil })
	slices.SortStableFunc(usable, func(a, b *replica) int { return cmp.Compare(number(a), number(b)) })
	return usable
}

// use is the number of connections in use. Late replicas come last.
func (r *replica) use() int64 {
	n := int64(r.pool.Stats().InUse)
	if r.isLate.Load() {
		n += math.MaxInt32
	}
	return n
}

// advance is the number of the revision at the last probe, less if it was later.
func (r *replica) advance() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return -r.seen.sum()
}

// Tx is a transaction on a replica.
type Tx struct {
	*sqlx.Tx
	Context  context.Context // ends with the cause ErrSnapshotChanged if the replica fails
	Revision model.Revision  // revision of the snapshot
	MayLack  bool            // there is no primary to compare the snapshot with
	Lag      time.Duration   // no commit that is older is missing; 0: none from before the read is

	set     *Set
	replica *replica
	vector  Vector
	cancel  context.CancelCauseFunc
	stop    func() bool // detaches the replica's life from Context
}

// End ends the transaction. served means that the read is complete. Else the primary must serve it;
// failure is the error of the replica, if it is not the end of the request.
func (t *Tx) End(served bool, failure error) {
	t.close()
	if served {
		t.replica.reads.Add(1)
		return
	}
	t.set.passedOver.Add(1)
	if failure != nil && !isConflict(failure) {
		t.set.passOver(t.replica, failure.Error())
	}
}

func (t *Tx) close() {
	t.stop()
	_ = t.Rollback()
	t.cancel(nil)
}

// begin begins a transaction on a replica and reads the vector of its snapshot. It returns nil if the
// replica fails, or does not answer in time.
func (set *Set) begin(ctx context.Context, r *replica) *Tx {
	life := r.alive()
	if life == nil {
		return nil
	}
	t := &Tx{set: set, replica: r}
	t.Context, t.cancel = context.WithCancelCause(ctx)
	t.stop = task.OnDone(life, func() { t.cancel(model.ErrSnapshotChanged) })
	done := set.Start(t.Context, func() (err error) { // lib/pq may return later than the context ends
		if t.Tx, err = r.pool.BeginTxx(t.Context, set.Snapshot); err == nil {
			t.vector, t.Revision, err = ReadVector(t.Context, t.Tx.QueryContext)
		}
		return err
	})
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	var err error
	select {
	case err = <-done:
	case <-limit.C:
		err = fmt.Errorf("no answer within %v", timeout)
	}
	if err == nil {
		return t
	}
	if t.Context.Err() == nil && !isConflict(err) {
		set.passOver(r, err.Error())
	}
	t.stop()
	t.cancel(nil) // which also rolls the transaction back
	return nil
}
