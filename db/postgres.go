package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"library-catalogue/db/dialect"
)

// poolSize is how many connections a process holds open to PostgreSQL. As
// many are kept idle: opening one costs more than a statement.
const poolSize = 16

func openPostgres(ctx context.Context, raw string) (*Store, error) {
	u, err := url.Parse(raw)
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
	connector, err := pq.NewConnector(u.String())
	if err != nil {
		return nil, fmt.Errorf("the database URL is not valid: %w", err)
	}
	waits := &waits{}
	connector.Dialer(dialer{ioTimeout, waits})
	settled := settledConnector{connector}
	pool := sqlx.NewDb(sql.OpenDB(settled), "postgres")
	pool.SetMaxOpenConns(poolSize)
	pool.SetMaxIdleConns(poolSize)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	if err := pool.PingContext(ctx); err != nil {
		pool.Close()
		if errors.Is(err, pq.ErrSSLNotSupported) {
			return nil, errors.New("PostgreSQL speaks no TLS: add ?sslmode=disable to the database URL if the network between is safe")
		}
		return nil, fmt.Errorf("PostgreSQL at %s does not answer: %w", cmp.Or(u.Host, params.Get("host")), err)
	}
	both := newPool(pool)
	return &Store{dialect: dialect.Postgres, reader: both, writer: both, prober: onlyOne(sql.OpenDB(settled)), waits: waits}, nil
}

// settledConnector opens connections with settings of the planner that suit
// pages of lists: to read a row out of turn is not dear, since the catalogue is in
// memory or on a solid-state disk; no join is kept whole for the sake of its first
// rows; and for a statement that ends within milliseconds nothing is compiled and no
// other process is started. Whoever runs the server may have decided otherwise.
type settledConnector struct{ *pq.Connector }

const settleSQL = `SELECT set_config(name, value, false) FROM pg_settings
JOIN (VALUES ('random_page_cost', '1.1'), ('enable_material', 'off'), ('jit', 'off'), ('max_parallel_workers_per_gather', '0')) AS ours (name, value) USING (name)
WHERE source = 'default'`

// Connect implements driver.Connector. A pooler that speaks for PostgreSQL would
// refuse the settings at the connection's start, so a statement makes them.
func (c settledConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, settleSQL, nil); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// classifyPostgres follows PostgreSQL's manual, appendix A: error codes.
func classifyPostgres(e *pq.Error) fault {
	switch {
	case e.Code == "23503":
		return foreignKey
	case e.Code == "40001", e.Code == "40P01": // serialization failure, deadlock
		return givenUp
	case e.Code == "53100": // disk full
		return full
	case e.Code == "57014", e.Code == "55P03": // called off, or a lock was not to be had in time
		return late
	case e.Code.Class() == "08", e.Code.Class() == "53", e.Code.Class() == "57", // connection, resources, operator
		e.Code.Class() == "28", e.Code == "3D000", // it lets us in no more, or is gone
		e.Code == "25006": // read-only: a standby, or a server that is being moved
		return unavailable
	}
	return unknown
}
