package dialect

import (
	"database/sql"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// SQLite is the SQL of SQLite, with the function fold of package sqlite.
var SQLite = &Dialect{
	Name:   "sqlite",
	System: "sqlite",
	Goose:  "sqlite3",

	CompilesTriggers: true,

	BindType:   sqlx.QUESTION,                             // the driver would look up each $1 by name
	Disks:      "The disk of the database, or of TMPDIR,", // SQLite does not report which
	Session:    `SELECT false AS read_only, '' AS process`,
	MayMigrate: `SELECT true`,
	SchemaNames: `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c
WHERE t.type = 'table'
UNION ALL SELECT t.name || '.' || c.name || ' NOT NULL' FROM sqlite_schema t, pragma_table_xinfo(t.name) c
WHERE t.type = 'table' AND c."notnull"
UNION ALL SELECT name FROM sqlite_schema WHERE type = 'index'
UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'trigger'`,
	// SQLite has one writer, so no lock is needed. With the default cache, pages of indexes are
	// written before they are full, which takes more CPU time.
	BeginRestore: `PRAGMA cache_size = -32768`,
	LogReset: `INSERT INTO changes (seq, at, row_id, version, type, operation, untimed)
SELECT max(f.start, coalesce(n.seq, 0)) + k.n + (random() & 16777215),
max(strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), coalesce(n.at, f.at)), 0, 0, k.type, 'r', 1
FROM feed f LEFT JOIN changes n ON n.seq = (SELECT max(seq) FROM changes)
CROSS JOIN (SELECT 1 AS n, 'c' AS type UNION ALL SELECT 16777217, 'g' UNION ALL SELECT 33554433, 'b') k`,
	SetActor:   `UPDATE feed SET actor = nullif($1, ''), change_set = $2`,
	ClearActor: `UPDATE feed SET actor = NULL, change_set = NULL`,

	Now:       "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')",
	Snapshot:  &sql.TxOptions{ReadOnly: true}, // one writer: rows need no locks
	Committed: &sql.TxOptions{},

	in:          "%s IN (SELECT value FROM json_each(%s))",
	byIDs:       "%s r WHERE r.id IN (SELECT value FROM json_each($1))",
	sortKey:     "substr(%s, 1, 100)",
	date:        "%s",
	timestamp:   "%s",
	year:        "CAST(%s AS integer)",
	hoursAgo:    "strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now', '-%d hours')",
	inSeconds:   "strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now', %s || ' seconds')",
	member:      "(%s ->> '%s')%.0s",
	tableExists: "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '%s')",
	unfolded:    "description", // long texts, which triggers would fold slowly

	array: func(values any) any {
		text, _ := json.Marshal(values) // marshaling numbers and texts cannot fail
		return string(text)
	},
	match: func(op model.Op, text, operand string, arg func(any) string) string {
		length := strconv.Itoa(utf8.RuneCountInString(operand))
		switch op {
		case model.StartsWithFolded:
			return "substr(" + text + ", 1, " + length + ") = " + arg(operand)
		case model.EndsWithFolded:
			return "substr(" + text + ", max(1, length(" + text + ") - " + length + " + 1)) = " + arg(operand)
		}
		return "instr(" + text + ", " + arg(operand) + ") > 0"
	},
}
