package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"library-catalogue/graph/model"
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
	return &Store{dialect: postgres{}, reader: both, writer: both, prober: onlyOne(sql.OpenDB(settled)), waits: waits}, nil
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

type postgres struct{}

func (postgres) name() string                         { return "postgres" }
func (postgres) goose() goose.Dialect                 { return goose.DialectPostgres }
func (postgres) in(column, placeholder string) string { return column + " = ANY(" + placeholder + ")" }

// unseen gives keys one by one to FROM. PostgreSQL does not see how many there are: for
// few it would make a plan anew for each statement, which takes longer than to run it.
func unseen(placeholder string) string { return "unnest((SELECT " + placeholder + "::bigint[]))" }

// byKeys looks up one key after the other: for = ANY, PostgreSQL may keep a plan that
// reads the whole table, where this had few rows at first.
func (postgres) byKeys(table string) string {
	return unseen("$1") + " AS k (id) CROSS JOIN LATERAL (SELECT * FROM " + table + " r WHERE r.id = k.id OFFSET 0) r"
}

func (postgres) now() string          { return "now()" }
func (postgres) forUpdate() string    { return " FOR UPDATE" }
func (postgres) forReference() string { return " FOR KEY SHARE" }
func (postgres) lateral() bool        { return true }
func (postgres) rowValues() bool      { return true }
func (postgres) snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

func (postgres) impatient(atMost time.Duration) string {
	return "set_config('lock_timeout', '" + strconv.FormatInt(atMost.Milliseconds(), 10) + "', true)"
}

// newRows takes each column as one array, so that the statement is the same for
// any number of rows and is parsed and planned once.
func (postgres) newRows(columns []string, before string, _ int) string {
	names, arrays := make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		names[i], arrays[i] = name, "$"+strconv.Itoa(i+1)+"::"+kind+"[]"
	}
	if before != "" {
		before = ", " + before
	}
	all := strings.Join(names, ", ")
	return "SELECT " + all + " FROM unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS n (" + all + ", place)" + before + " ORDER BY place"
}

func (postgres) newValues(rows [][]any) []any {
	args := make([]any, len(rows[0]))
	for i := range args {
		column := make([]any, len(rows))
		for k, row := range rows {
			column[k] = row[i]
		}
		args[i] = pq.Array(column)
	}
	return args
}

func (postgres) olderThan(column string, hours int) string {
	return column + " < now() - interval '" + strconv.Itoa(hours) + " hours'"
}

func (postgres) cursor(query string, rows int) (declare, fetch string) {
	return "DECLARE whole NO SCROLL CURSOR FOR " + query, "FETCH " + strconv.Itoa(rows) + " FROM whole"
}

func (postgres) keys(ids []model.ID) any {
	array := make(pq.Int64Array, len(ids))
	for i, id := range ids {
		array[i] = int64(id)
	}
	return array
}

func (postgres) array(values any) any {
	if texts, ok := values.([]string); ok {
		return pq.StringArray(texts)
	}
	return pq.Int64Array(values.([]int64))
}

func (postgres) day(column string) string { return "(" + column + " - date '1970-01-01')" }

// moment is the binary form, which costs PostgreSQL and its driver less than a text.
func (postgres) moment(column string) string { return "timestamptz_send(" + column + ")" }

func (postgres) year(date string) string { return "CAST(date_part('year', " + date + ") AS integer)" }

func (postgres) folded(column string) (string, bool) { return column + "_fold", true }

// sortKey is a cast, because substr counts the characters of texts that are short too.
func (postgres) sortKey(folded string) string { return "CAST(" + folded + " AS varchar(100))" }

func (postgres) bytewise(text string) string { return "(" + text + ` COLLATE "C")` }

func (postgres) match(w *statement, table string, op model.Op, text, operand string) string {
	alias, column, _ := strings.Cut(text, ".")
	isFolded := strings.HasSuffix(column, "_fold")
	if table == "books" && isFolded && op != model.StartsWithFolded {
		if column != "author_fold" {
			return partOfBook(w, op, text, operand)
		}
		return partOfAuthor(w, op, alias, operand)
	}
	pattern := likeEscape.Replace(operand)
	if op != model.StartsWithFolded {
		pattern = "%" + pattern
	}
	if op != model.EndsWithFolded {
		pattern += "%"
	}
	matches := text + " LIKE " + w.arg(pattern)
	if table == "books" && !isFolded && odd[column].MatchString(operand) {
		matches += " AND " + hasOdd(column, text) // so that it is in the index of these
	}
	return matches
}

// covered holds for pages by date or by price of books of some authors, dates and
// prices: an index has them all.
func (postgres) covered(p *model.Page) bool {
	authors := false
	var of func(c *model.Condition) bool
	of = func(c *model.Condition) bool {
		switch {
		case c.Op == model.And || c.Op == model.Or || c.Op == model.Not:
			return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !of(part) })
		case c.Op == model.ContainsFolded || c.Op == model.EndsWithFolded:
			authors = authors || c.Field == "author"
			return c.Field == "author"
		}
		return c.Op != model.Related && (c.Field == "id" || c.Field == "price" || c.Field == "publishedAt")
	}
	return len(p.Order.Keys) == 1 && (p.Order.Keys[0].Field == "PUBLISHED_AT" || p.Order.Keys[0].Field == "PRICE") &&
		p.Where != nil && of(p.Where) && authors
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// exclude asks for goose's own lock again and again: a statement that waits for
// it inside the server would itself be waited for by CREATE INDEX CONCURRENTLY.
func (postgres) exclude(ctx context.Context, p *pool) (release func(), err error) {
	const interval = 50 * time.Millisecond
	conn, err := p.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for {
		var ours bool
		err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(lock.DefaultLockID)).Scan(&ours)
		if err != nil {
			conn.Close()
			return nil, err
		}
		if ours {
			return func() {
				_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(lock.DefaultLockID))
				conn.Close()
			}, nil
		}
		select {
		case <-ctx.Done():
			conn.Close()
			return nil, ctx.Err()
		case <-time.After(interval):
		}
	}
}

// classify follows PostgreSQL's manual, appendix A: error codes.
func (postgres) classify(err error) fault {
	e, ok := errors.AsType[*pq.Error](err)
	if !ok {
		return unknown
	}
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
