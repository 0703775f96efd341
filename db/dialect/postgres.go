package dialect

import (
	"database/sql"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"library-catalogue/graph/model"
)

// Postgres is the SQL of PostgreSQL 13 and later.
var Postgres = &Dialect{
	Name:   "postgres",
	System: "postgresql",
	Goose:  "postgres",

	HasLateral:       true,
	HasRowCompare:    true,
	HasArrays:        true,
	HasAdvisoryLocks: true,
	HasManyServers:   true,
	HasTrigrams:      true,
	HasSequences:     true,
	HasHashGroups:    true,
	EstimatesRows:    true,
	DerivesTexts:     true,
	NeedsCursors:     true,
	DeferredJoin:     true,
	LimitsIndexRows:  true,
	TellsUnanswered:  true,

	BindType: sqlx.DOLLAR,
	Disks:    "The disk of the database",
	// Two open connections share a process only behind a pooler. Servers may use the same pid, but
	// they started at different times.
	Session: `SELECT current_setting('transaction_read_only') = 'on' AS read_only,
pg_backend_pid() || ' ' || pg_postmaster_start_time() AS process`,
	// The role owns the tables, or may create them in the schema, and the server is a primary.
	MayMigrate: `SELECT current_setting('transaction_read_only') = 'off' AND coalesce(
	(SELECT pg_has_role(relowner, 'USAGE') FROM pg_class
WHERE oid = to_regclass('books')), has_schema_privilege(current_schema(), 'CREATE'), false)`,
	SchemaNames: `SELECT table_name || '.' || column_name FROM information_schema.columns
WHERE table_schema = current_schema()
UNION ALL SELECT table_name || '.' || column_name || ' NOT NULL' FROM information_schema.columns
WHERE table_schema = current_schema() AND is_nullable = 'NO'
UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL SELECT tgname || ' ' || encode(tgargs, 'escape') FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace`,
	LogReset: `INSERT INTO changes (row_id, version, type, operation)
VALUES (0, 0, 'c', 'r'), (0, 0, 'g', 'r'), (0, 0, 'b', 'r')`,
	// A plan that was made while the tables were small must not read them whole when they are large.
	PlanOnce:     `SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off`,
	SetActor:     `SELECT set_config('catalogue.actor', $1, true), set_config('catalogue.change_set', $2, true)`,
	BeginRestore: `LOCK TABLE categories, genres, books IN EXCLUSIVE MODE`,

	Now:         "now()",
	ForUpdate:   " FOR UPDATE",
	ForKeyShare: " FOR KEY SHARE",
	ByteOrder:   ` COLLATE "C"`,
	Snapshot:    &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
	Committed:   &sql.TxOptions{Isolation: sql.LevelReadCommitted},

	in: "%s = ANY(%s)",
	// LATERAL looks up one id after another. For = ANY, PostgreSQL may keep a plan that reads the
	// whole table, made when the table was small.
	byIDs: "unnest((SELECT $1::bigint[])) AS k (id) " +
		"CROSS JOIN LATERAL (SELECT * FROM %s r WHERE r.id = k.id OFFSET 0) r",
	// A cast is cheaper than substr, which counts the characters of short texts too.
	sortKey: "CAST(%s AS varchar(100))",
	date:    "(%s - date '1970-01-01')",
	// The binary form is cheaper for PostgreSQL and the driver than a text.
	timestamp: "timestamptz_send(%s)",
	year:      "CAST(date_part('year', %s) AS integer)",
	hoursAgo:  "now() - interval '%d hours'",
	inSeconds: "now() + CAST(%s || ' seconds' AS interval)",
	// The transaction fails if a lock takes longer.
	lockTimeout: "set_config('lock_timeout', '%d', true)",
	member:      "CAST(%s ->> '%s' AS %s)",
	tableExists: "SELECT to_regclass('%s') IS NOT NULL",

	array: func(values any) any {
		if texts, ok := values.([]string); ok {
			return pq.StringArray(texts)
		}
		return pq.Int64Array(values.([]int64))
	},
	match: func(op model.Op, text, operand string, arg func(any) string) string {
		pattern := likeEscape.Replace(operand)
		if op != model.StartsWithFolded {
			pattern = "%" + pattern
		}
		if op != model.EndsWithFolded {
			pattern += "%"
		}
		return text + " LIKE " + arg(pattern)
	},
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Keys returns the ids of an array as rows in FROM. The subquery hides their number from the
// planner. Otherwise PostgreSQL would plan each statement with few ids again, which takes longer
// than running it.
func Keys(placeholder string) string { return "unnest((SELECT " + placeholder + "::bigint[]))" }
