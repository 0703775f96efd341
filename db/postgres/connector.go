// Package postgres opens connections to PostgreSQL by lib/pq: with deadlines, which
// lib/pq does not have by itself, and with settings that suit the catalogue.
package postgres

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/lib/pq"
)

// Connector opens connections. It implements driver.Connector.
type Connector struct {
	CallTimeout time.Duration // of a call whose context has no deadline

	host  string
	hosts int // in the URL
	pq    *pq.Connector
	dial  *dialer
}

// callTimeout is as long as a request may take.
const callTimeout = 30 * time.Second

// NewConnector returns the Connector of a URL.
func NewConnector(rawURL string) (*Connector, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	params := u.Query()
	if !params.Has("binary_parameters") {
		// A statement with arguments is then one round trip, and needs no
		// prepared statement that a pooler in between would lose.
		params.Set("binary_parameters", "yes")
	}
	if !params.Has("application_name") {
		params.Set("application_name", "catalogue")
	}
	params.Set("TimeZone", "UTC") // goose notes the time without a zone
	u.RawQuery = params.Encode()
	config, err := pq.NewConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("the database URL is not valid: %w", err)
	}
	connector, err := pq.NewConnectorConfig(config)
	if err != nil {
		return nil, fmt.Errorf("the database URL is not valid: %w", err)
	}
	c := &Connector{CallTimeout: callTimeout, host: cmp.Or(u.Host, params.Get("host")), hosts: 1 + len(config.Multi), pq: connector, dial: &dialer{}}
	connector.Dialer(c.dial)
	return c, nil
}

// settingsSQL sets the planner up for pages of lists, but for what the server's own
// configuration sets. Random access to a row is cheap, since the catalogue is in memory
// or on a solid-state disk; no join is materialised for the sake of its first rows; and
// for a statement that ends within milliseconds nothing is compiled and no other
// process is started.
const settingsSQL = `SELECT set_config(name, value, false) FROM pg_settings
JOIN (VALUES ('random_page_cost', '1.1'), ('enable_material', 'off'), ('jit', 'off'), ('max_parallel_workers_per_gather', '0')) AS ours (name, value) USING (name)
WHERE source = 'default'`

// Connect implements driver.Connector. A pooler that speaks for PostgreSQL would
// refuse the settings at the connection's start, so a statement makes them. No host of
// the URL takes the time that another needs.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.hosts)*connectTimeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	o := &opening{perHost: time.Until(deadline) / time.Duration(c.hosts)}
	opened, err := c.pq.Connect(context.WithValue(ctx, openingKey{}, o))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConnect, err)
	}
	connected := newConn(opened, o.wire, c.CallTimeout)
	if _, err := connected.ExecContext(ctx, settingsSQL, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConnect, errors.Join(err, connected.Close()))
	}
	return connected, nil
}

// Driver implements driver.Connector.
func (c *Connector) Driver() driver.Driver { return c.pq.Driver() }

// OpenError says of the error of a first connection where the server should be, or
// what to change in the URL.
func (c *Connector) OpenError(err error) error {
	if errors.Is(err, pq.ErrSSLNotSupported) {
		return errors.New("PostgreSQL speaks no TLS: add ?sslmode=disable to the database URL if the network between is safe")
	}
	if refusal, answered := errors.AsType[*pq.Error](err); answered {
		return fmt.Errorf("PostgreSQL at %s refuses the connection: %w", c.host, refusal)
	}
	return fmt.Errorf("PostgreSQL at %s does not answer: %w", c.host, err)
}

// LongestWait returns for how long the server has owed an answer by now, on any
// connection; 0 where none waits.
func (c *Connector) LongestWait() time.Duration { return c.dial.longestWait() }
