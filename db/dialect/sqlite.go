package dialect

import (
	"database/sql"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"library-catalogue/graph/model"
)

// SQLite is the SQL of SQLite, with the function fold that package sqlite registers.
var SQLite = &Dialect{
	Name:     "sqlite",
	Now:      "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')",
	Snapshot: &sql.TxOptions{ReadOnly: true}, // a writer is alone, so that no row needs a lock

	in:        "%s IN (SELECT value FROM json_each(%s))",
	byIDs:     "%s r WHERE r.id IN (SELECT value FROM json_each($1))",
	sortKey:   "substr(%s, 1, 100)",
	date:      "%s",
	timestamp: "%s",
	year:      "CAST(substr(%s, 1, 4) AS integer)",
	hoursAgo:  "strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now', '-%d hours')",
	unfolded:  "description", // long texts, which triggers would fold slowly

	array: func(values any) any {
		text, _ := json.Marshal(values) // numbers and texts always have a JSON text
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
