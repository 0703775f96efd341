// Package postgres opens connections to PostgreSQL with lib/pq. It adds deadlines and settings for
// the catalogue.
package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/lib/pq"

	"library-catalogue/task"
)

// Connector opens connections for database/sql. It implements driver.Connector.
type Connector struct {
	CallTimeout time.Duration // default for calls without a deadline
	Pooled      bool          // the URL names a pooler: the server may change between transactions
	Prepares    bool          // statements may be prepared: there is no pooler, or pooler=prepared

	url        string
	host       string
	hosts      int // number of hosts in the URL
	config     pq.Config
	pq         atomic.Pointer[pq.Connector] // Watch changes the order of hosts
	dial       hostDialer
	generation atomic.Int64 // number of calls of Retire
}

// hostDialer is a *dialer. It hides sync.Map, which each package that uses a Connector would compile again.
type hostDialer interface {
	pq.Dialer
	hangUp(address string) (found bool)
	longestWait() time.Duration
}

// callTimeout is the longest time that a request may take.
const callTimeout = 30 * time.Second

// NewConnector returns the Connector for a URL.
func NewConnector(rawURL string) (*Connector, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	params := u.Query()
	pooler := params.Get("pooler")
	pooled := params.Has("pooler")
	if pooled && pooler != "transaction" && pooler != "prepared" {
		return nil, errors.New("the database URL is not valid: pooler must be transaction or prepared")
	}
	params.Del("pooler")
	if pooled || !params.Has("binary_parameters") {
		// A statement with arguments then takes one round trip. It needs no prepared statement,
		// which a connection pooler would lose.
		params.Set("binary_parameters", "yes")
	}
	if !params.Has("application_name") {
		params.Set("application_name", "catalogue")
	}
	params.Set("TimeZone", "UTC") // goose stores the time without a zone
	u.RawQuery = params.Encode()
	config, err := pq.NewConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("the database URL is not valid: %w", err)
	}
	c := &Connector{
		CallTimeout: callTimeout, Pooled: pooled, Prepares: pooler != "transaction",
		url: u.String(), host: cmp.Or(u.Host, params.Get("host")), hosts: 1 + len(config.Multi), config: config,
		dial: &dialer{},
	}
	c.pq.Store(newPQ(config, c.dial))
	return c, nil
}

func newPQ(config pq.Config, dial pq.Dialer) *pq.Connector {
	connector, _ := pq.NewConnectorConfig(config) // it never fails
	connector.Dialer(dial)
	return connector
}

// settingsSQL tunes the planner for pages of lists, except for settings of the server's own
// configuration:
//   - Random access is cheap, because the catalogue is in memory or on a solid-state disk.
//   - A materialized join delays the first rows.
//   - JIT compilation and parallel workers cost more than a short statement.
const settingsSQL = `SELECT set_config(name, value, false) FROM pg_settings
JOIN (VALUES ('random_page_cost', '1.1'), ('enable_material', 'off'), ('jit', 'off'),
('max_parallel_workers_per_gather', '0')) AS ours (name, value) USING (name)
WHERE source = 'default'`

// Connect implements driver.Connector. A statement makes the settings, because a connection pooler
// may refuse them as parameters of the connection. Behind a pooler nothing makes them, because
// another client may get the session. Each host of the URL gets an equal share of the time.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.hosts)*connectTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	generation := c.generation.Load()
	o := &opening{perHost: time.Until(deadline) / time.Duration(c.hosts)}
	opened, err := login(ctx, c.pq.Load(), o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	connected := newConn(opened, c, generation, o.wire)
	if c.Pooled {
		return connected, nil
	}
	if _, err := connected.ExecContext(ctx, settingsSQL, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConnect, errors.Join(err, connected.Close()))
	}
	return connected, nil
}

// login opens a connection of lib/pq. A panic, which malformed messages cause, is an error.
func login(ctx context.Context, to *pq.Connector, o *opening) (opened driver.Conn, err error) {
	err = task.Run(ctx, func() (err error) {
		opened, err = to.Connect(context.WithValue(ctx, openingKey{}, o))
		return err
	})
	if p, ok := errors.AsType[*task.PanicError](err); ok {
		if o.wire != nil {
			o.wire.Close()
		}
		return nil, fmt.Errorf("lib/pq: %w", p)
	}
	return opened, err
}

// Retire closes each open connection after its current use, so that database/sql opens new ones. Use
// it when the database's address leads to another server than before.
func (c *Connector) Retire() { c.generation.Add(1) }

// Driver implements driver.Connector.
func (c *Connector) Driver() driver.Driver { return c.pq.Load().Driver() }

// Host returns the host of the URL, Hosts the number of hosts.
func (c *Connector) Host() string { return c.host }

// Hosts returns the number of hosts in the URL.
func (c *Connector) Hosts() int { return c.hosts }

// OpenError returns the error of a first connection with the host's name, or with advice about the
// URL.
func (c *Connector) OpenError(err error) error {
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return errors.New(
			"PostgreSQL does not offer TLS: add ?sslmode=disable to the database URL if the network is trusted")
	}
	if refusal, answered := errors.AsType[*pq.Error](err); answered {
		return fmt.Errorf("PostgreSQL at %s refuses the connection: %w", c.host, refusal)
	}
	return fmt.Errorf("PostgreSQL at %s does not answer: %w", c.host, err)
}

// LongestWait returns how long the oldest pending query has run, 0 if none is pending.
func (c *Connector) LongestWait() time.Duration { return c.dial.longestWait() }
