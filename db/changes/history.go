package changes

import (
	"fmt"

	"library-catalogue/db/dialect"
)

// logKeys returns the FROM item k with the columns n, id, tick and seq of the Arrays $1, $2 and $3.
func logKeys(d *dialect.Dialect) string {
	if d.HasArrays {
		return `unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS k (id, tick, seq, n)`
	}
	return `(SELECT i.key + 1 AS n, i.value AS id, t.value AS tick, c.value AS seq FROM json_each($1) i JOIN json_each($2) t ON t.key = i.key JOIN json_each($3) c ON c.key = i.key) k`
}

// NextSQL returns a SELECT of each key of logKeys with the first change of its row after its
// moment, and whether the log still has the moment.
func NextSQL(d *dialect.Dialect, code string) string {
	if !d.HasTicks {
		return `SELECT k.n, k.seq >= (SELECT start FROM feed) AS kept, coalesce(c.operation, '') AS operation, coalesce(c.version, 0) AS version, c.old
FROM ` + logKeys(d) + ` LEFT JOIN changes c ON c.seq = (SELECT min(n.seq) FROM changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND n.seq > k.seq)`
	}
	// A change of the tick of the moment may have a lower seq than one of an earlier tick.
	return `SELECT k.n, t.id IS NOT NULL AS kept, coalesce(CAST(c.operation AS text), '') AS operation, coalesce(c.version, 0) AS version, CAST(c.old AS text) AS old
FROM ` + logKeys(d) + ` LEFT JOIN ticks t ON t.id = k.tick LEFT JOIN LATERAL (
  SELECT operation, version, old FROM changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND (NOT pg_visible_in_snapshot(n.xid, t.snapshot) OR n.seq > k.seq
    AND NOT coalesce(pg_visible_in_snapshot(n.xid, (SELECT p.snapshot FROM ticks p WHERE p.id < t.id ORDER BY p.id DESC LIMIT 1)), false))
  ORDER BY n.seq LIMIT 1) c ON true`
}

// KeptSQL returns the condition that the changes of the tick $1 are in the log.
func KeptSQL(d *dialect.Dialect) string {
	if d.HasTicks {
		return `EXISTS (SELECT 1 FROM ticks WHERE id = $1 AND id > (SELECT min(id) FROM ticks))`
	}
	return `EXISTS (SELECT 1 FROM changes WHERE seq = $1)`
}

// HistorySQL returns the SELECT of the newest changes of each row of $1, those before the seq $2,
// and the one before them in the answer, which has the row after the first of them.
func HistorySQL(d *dialect.Dialect, code string) string {
	newest := `changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND n.seq <= coalesce(
  (SELECT min(m.seq) FROM changes m WHERE m.row_id IN (k.id, 0) AND m.type = '` + code + `' AND m.seq >= $2), $2) ORDER BY n.seq DESC LIMIT $3`
	columns := `SELECT k.id, c.seq, CAST(c.operation AS text), c.version, coalesce(c.actor, ''), CAST(c.old AS text), `
	if !d.HasTicks {
		return columns + `CASE WHEN c.untimed = 1 THEN 0 ELSE c.seq END, c.at FROM (SELECT value AS id FROM json_each($1)) k JOIN changes c ON c.seq IN (SELECT n.seq FROM ` + newest + `) ORDER BY k.id, c.seq DESC`
	}
	return columns + `coalesce(t.id, 0), ` + d.Timestamp("coalesce(t.at, now())") + ` FROM unnest($1::bigint[]) AS k (id) CROSS JOIN LATERAL (SELECT n.* FROM ` + newest + `) c
LEFT JOIN LATERAL (SELECT t.id, t.at FROM ticks t WHERE pg_snapshot_xmax(t.snapshot) > c.xid AND pg_visible_in_snapshot(c.xid, t.snapshot)
  ORDER BY pg_snapshot_xmax(t.snapshot), t.id LIMIT 1) t ON true ORDER BY k.id, c.seq DESC`
}

// MomentSQL returns the search for the newest moment at or before the time $1, and the columns to select FROM s: its
// key, whether $1 is in the future or before the log, and whether further changes may get a time until $1. Without
// ticks $2 is now, and $3 is Log.OpenSince.
func MomentSQL(d *dialect.Dialect) (search, columns string) {
	// The times of ticks, and of changes without ticks, have the order of their keys, so a binary
	// search needs no index on them.
	table, key, first, last, begin := "ticks", "id", "(SELECT min(id) FROM ticks)", "(SELECT max(id) FROM ticks)", "(SELECT min(at) FROM ticks)"
	now, untimed := "now()", isUntimedSQL // now is before the snapshot of the statement
	if !d.HasTicks {
		table, key, first, last, begin = "changes", "seq", "(SELECT start FROM feed)", lastTimedSQL, "(SELECT at FROM feed)"
		now, untimed = "$2", "($1 >= $3 OR EXISTS (SELECT 1 FROM changes WHERE untimed = 1 AND at <= $1))"
	}
	search = fmt.Sprintf(`WITH RECURSIVE s (low, high) AS (
SELECT %[3]s, %[4]s
UNION ALL
SELECT CASE WHEN c.at <= $1 THEN c.%[2]s ELSE s.low END, CASE WHEN c.at <= $1 THEN s.high ELSE s.low + (s.high - s.low + 1) / 2 - 1 END
FROM s JOIN %[1]s c ON c.%[2]s = (SELECT min(n.%[2]s) FROM %[1]s n WHERE n.%[2]s >= s.low + (s.high - s.low + 1) / 2) WHERE s.low < s.high)
`, table, key, first, last)
	return search, `max(low), $1 > ` + now + `, $1 < ` + begin + `, max(low) = ` + last + ` AND ` + untimed
}
