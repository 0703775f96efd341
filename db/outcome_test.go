package db_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// outcome is what a write says of itself.
type outcome string

const (
	ran       outcome = "it ran"
	didNotRun outcome = "it did not run"
	doubtful  outcome = "it is in doubt"
)

func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return ran
	case model.IsInDoubt(err):
		return doubtful
	}
	return didNotRun
}

// fatal is the error with which PostgreSQL ends a session.
const fatal = "SFATAL\x00VFATAL\x00C57P01\x00" +
	"Mterminating connection due to administrator command\x00RProcessInterrupts\x00\x00"

// breaks are the ways in which the connection of a write breaks.
var breaks = []struct {
	name   string
	want   outcome
	stored int

	before   func(*line)    // breaks connections before the write; nil: the line is cut by the write
	withheld bool           // the server does not get what cut the line
	last     string         // what the server says before the connection ends
	end      func(net.Conn) // ends it; nil: Close, which under TLS sends close_notify
}{
	{name: "by a fatal error", want: doubtful, stored: 0, withheld: true, last: message('E', fatal)},
	{name: "closed before it ran", want: doubtful, stored: 0, withheld: true},
	{name: "closed after it ran", want: doubtful, stored: 1},
	{name: "reset before it ran", want: doubtful, stored: 0, withheld: true, end: reset},
	{name: "reset after it ran", want: doubtful, stored: 1, end: reset},
	{name: "silent after it ran", want: doubtful, stored: 1, end: silence},
	{name: "closed while idle", want: ran, stored: 1, before: func(on *line) { on.hangUp("") }},
	{name: "without a server", want: didNotRun, stored: 0, before: func(on *line) { on.moveTo(""); on.hangUp("") }},
}

// message returns a message of PostgreSQL's protocol.
func message(kind byte, body string) string {
	n := len(body) + 4
	return string([]byte{kind, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + body
}

func reset(client net.Conn) {
	if secured, ok := client.(*tls.Conn); ok {
		client = secured.NetConn()
	}
	_ = client.(*net.TCPConn).SetLinger(0)
	client.Close()
}

func silence(client net.Conn) { _, _ = io.Copy(io.Discard, client) }

// writes are a statement that commits, and a transaction.
var writes = map[string]struct {
	write  func(ctx context.Context, s *db.Store, genre model.ID, name string) error
	commit []string // what the client sends last, after the name
}{
	"a statement": {func(ctx context.Context, s *db.Store, genre model.ID, name string) error {
		return second(s.Books.Create(ctx, newBook(name, genre)))
	}, nil},
	"a transaction": {func(ctx context.Context, s *db.Store, genre model.ID, name string) error {
		return s.Write(ctx, func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook(name, genre))) })
	}, []string{"COMMIT"}},
}

// A line is a connection to a database, with a store that uses it.
type line struct {
	*wire
	*db.Store
	name   string
	server string
}

// newLines returns each kind of connection: with TLS and without, through a pooler and without, with one host in the
// URL and with three.
func newLines(t *testing.T, cluster *dbtest.Cluster, direct string) (lines []*line) {
	t.Helper()
	pooled := cluster.Pooler(t, direct, 20) + "&pooler=transaction"
	for _, server := range []string{direct, pooled} {
		for _, start := range []func(*testing.T, string) *wire{newWire, newTLSWire} {
			for _, hosts := range []int{1, 3} {
				w := start(t, server)
				url := w.url
				if hosts == 3 {
					url = between(t, url)
				}
				lines = append(lines, &line{
					w, open(t, url), fmt.Sprintf("pooled %t, TLS %t, %d hosts", server == pooled, w.tls != nil, hosts), w.address,
				})
			}
		}
	}
	return lines
}

// between returns a URL with the host of another one between two that refuse connections.
func between(t *testing.T, text string) string {
	u, err := url.Parse(text)
	check(t, err)
	query := u.Query()
	const nobody = "1" // TCP port 1 is that of tcpmux, which no machine of ours has
	query.Set("host", "127.0.0.1,"+query.Get("host")+",127.0.0.1")
	query.Set("port", nobody+","+query.Get("port")+","+nobody)
	query.Set("target_session_attrs", "read-write")
	u.RawQuery = query.Encode()
	return u.String()
}

// cell is a write whose connection broke.
type cell struct {
	name   string // of its book
	want   outcome
	stored int
	err    error // of the write
}

// compare compares what each write says of itself with what is stored.
func compare(t *testing.T, program *sql.DB, cells []*cell) {
	t.Helper()
	for _, c := range cells {
		stored := ask[int](t, program, `SELECT count(*) FROM books WHERE name = $1`, c.name)
		if got := outcomeOf(c.err); got != c.want || stored != c.stored {
			t.Errorf("%s: %s, stored %d times; want: %s, %d times: %v", c.name, got, stored, c.want, c.stored, c.err)
		}
	}
}

// TestOutcome breaks the connection of writes. Each says whether it is stored, or that it is in doubt, and none is
// stored twice. A read is repeated.
func TestOutcome(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	var mu sync.Mutex
	var cells []*cell
	var running sync.WaitGroup
	for _, on := range newLines(t, cluster, direct) {
		running.Go(func() {
			for kind, w := range writes {
				for _, b := range breaks {
					c := &cell{name: strings.Join([]string{on.name, kind, b.name}, ", "), want: b.want, stored: b.stored}
					on.moveTo(on.server)
					on.withheld, on.last, on.end = b.withheld, b.last, b.end
					if b.before != nil {
						b.before(on)
					} else {
						on.cutAfter(append([]string{c.name}, w.commit...)...)
					}
					cuts := on.cuts.Load()
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // of the silence
					c.err = w.write(ctx, on.Store, home.genre.ID, c.name)
					cancel()
					if on.cuts.Load() != cuts+1 && b.before == nil {
						t.Errorf("%s: the line was not cut", c.name)
					}
					mu.Lock()
					cells = append(cells, c)
					mu.Unlock()
				}
			}
			on.moveTo(on.server)
			on.withheld, on.last, on.end = false, "", nil
			for range 2 { // prepared or not
				on.cutAfter("SELECT count")
				if _, err := on.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
					t.Errorf("%s: a read is not repeated: %v", on.name, err)
				}
			}
		})
	}
	running.Wait()
	compare(t, other(t, direct), cells)
}

// TestOutcomeWithoutStandby ends the session of writes that wait for a synchronous standby.
func TestOutcomeWithoutStandby(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	program := other(t, direct)
	lines := newLines(t, cluster, direct)
	cluster.Standby(t).Freeze(t)
	ctx, stop := context.WithCancel(t.Context())
	var administrator sync.WaitGroup
	administrator.Go(func() {
		for ctx.Err() == nil {
			const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
			_, _ = program.ExecContext(ctx, end)
		}
	})
	var cells []*cell
	for _, on := range lines {
		for kind, w := range writes {
			c := &cell{name: on.name + ", " + kind, want: doubtful, stored: 1}
			c.err = w.write(t.Context(), on.Store, home.genre.ID, c.name)
			cells = append(cells, c)
		}
	}
	stop()
	administrator.Wait()
	compare(t, program, cells)
}
