package schema

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"
	"golang.org/x/text/unicode/norm"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// notNormal is a row with texts that are not in NFC.
type notNormal struct {
	id      int64
	updated string
	texts   []any // in NFC, nil for null
}

// Normalize puts the texts of the rows of a table with ids after one and up to another in NFC (Unicode Standard Annex
// #15), as a pass. Each row gets its next version and an update without an actor in the log; its time of
// the last update stays. A text that would exceed its bound stays too.
func Normalize(ctx context.Context, d *dialect.Dialect, tx *sqlx.Tx, table string, after, last int64) error {
	columns, rows, err := findNotNormal(ctx, tx, table, after, last, locked(d))
	if err != nil || len(rows) == 0 {
		return err
	}
	update := fmt.Sprintf(`UPDATE %s SET %s WHERE id = ?`, table, strings.Join(columns, " = ?, ")+" = ?")
	for _, row := range rows {
		if _, err := tx.ExecContext(ctx, tx.Rebind(update), append(row.texts, row.id)...); err != nil {
			return err
		}
	}
	begin, end := unstamped(d, table)
	if err := execAll(ctx, tx, begin...); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := tx.ExecContext(ctx, tx.Rebind(fmt.Sprintf(`UPDATE %s SET updated_at = ? WHERE id = ?`, table)),
			row.updated, row.id); err != nil {
			return err
		}
	}
	return execAll(ctx, tx, end...)
}

// CountNotNormal returns the number of rows of a table that Normalize would change.
func CountNotNormal(ctx context.Context, tx *sqlx.Tx, table string) (int, error) {
	_, rows, err := findNotNormal(ctx, tx, table, 0, math.MaxInt64, "")
	return len(rows), err
}

// unstamped returns the statements around an UPDATE that the triggers neither stamp nor log. The first also remove the
// actor from the changes that the transaction has logged: for PostgreSQL it is the role.
func unstamped(d *dialect.Dialect, table string) (begin, end []string) {
	if d.DerivesTexts {
		return []string{`UPDATE changes SET actor = NULL WHERE xid = pg_current_xact_id()`, derivingOn},
			[]string{derivingOff}
	}
	for _, t := range triggers(d) {
		if t.name == table+"_stamp" {
			return []string{`DROP TRIGGER ` + t.name}, []string{t.text}
		}
	}
	return nil, nil
}

// findNotNormal returns the text columns of a table, and the rows with ids after one and up to another that are
// not in NFC. locks is the end of its SELECT.
func findNotNormal(
	ctx context.Context, tx *sqlx.Tx, table string, after, last int64, locks string,
) (columns []string, found []notNormal, err error) {
	var bounds []int64
	for _, f := range fieldsOf(table) {
		if f.Kind == model.KindText && f.Writable {
			columns, bounds = append(columns, f.Column), append(bounds, f.Max)
		}
	}
	text := fmt.Sprintf(`SELECT id, CAST(updated_at AS text), %s FROM %s r WHERE id > %d AND id <= %d ORDER BY id%s`,
		strings.Join(columns, ", "), table, after, last, locks)
	rows, err := tx.QueryxContext(ctx, text)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.SliceScan()
		if err != nil {
			return nil, nil, err
		}
		row := notNormal{texts: values[2:]}
		row.id, _ = values[0].(int64)
		row.updated = textOf(values[1])
		differs := false
		for i, value := range row.texts {
			if value == nil {
				continue
			}
			text := textOf(value)
			row.texts[i] = text
			if normal := norm.NFC.String(text); normal != text && int64(utf8.RuneCountInString(normal)) <= bounds[i] {
				row.texts[i], differs = normal, true
			}
		}
		if differs {
			found = append(found, row)
		}
	}
	return columns, found, rows.Err()
}

// textOf returns a text as a driver scans it.
func textOf(value any) string {
	if bytes, ok := value.([]byte); ok {
		return string(bytes)
	}
	return value.(string)
}

// fieldsOf returns the fields of a table.
func fieldsOf(table string) []model.FieldInfo {
	for _, t := range tables {
		if t.name == table {
			return model.Entities[t.entity].Fields
		}
	}
	return nil
}

func execAll(ctx context.Context, tx *sqlx.Tx, statements ...string) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
