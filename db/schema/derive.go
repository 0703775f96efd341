package schema

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"library-catalogue/db/dialect"
	"library-catalogue/db/search"
)

func init() { // as with fold, only statements of this program may use it
	sqlite.MustRegisterDeterministicScalarFunction("words", -1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			texts := make([]string, len(args))
			for i := range args {
				texts[i], _ = args[i].(string)
			}
			return search.Words(texts...), nil
		})
}

// Derivation describes how the folded forms and the search entries of a table follow from its texts. The fields in
// lower case are lists in SQL about a row r.
type Derivation struct {
	Table string
	ID    string // column of a search entry with the row's id

	row, rowValues     string   // columns of the row, and their values
	entry, entryValues string   // columns of its search entry, and their values
	update             string   // SET clause that derives the columns of the row
	begin, end         []string // statements around UPDATE, so that triggers neither stamp nor log it
}

// derivingOn and derivingOff stand around an UPDATE in PostgreSQL that triggers neither stamp nor log.
const (
	derivingOn  = `SELECT set_config('catalogue.deriving', 'on', true)`
	derivingOff = `SELECT set_config('catalogue.deriving', '', true)`
)

// DerivationOf returns the derivation of a table.
func DerivationOf(d *dialect.Dialect, table string) Derivation {
	t := triggered{dialect: d, table: table, fields: fieldsOf(table)}
	texts, plain, natural := search.Columns(table), t.plain(), t.natural()
	further := each(plain, ", %s_fold", "") + each(natural, ", %s_key", "")
	furtherValues := each(plain, ", coalesce(fold(r.%s), '')", "") +
		each(natural, ", natural_key(coalesce(fold(r.%s), ''))", "")
	if !d.DerivesTexts {
		folded := texts[:len(texts)-1] // a description is folded when it is compared
		row := strings.Join(folded, "_fold, ") + "_fold, name_words" + further
		values := "fold(r." + strings.Join(folded, "), fold(r.") + "), words(r.name)" + furtherValues
		entry := make([]string, len(texts))
		for i, column := range texts {
			entry[i] = "words(r." + strings.Join(search.Sources(table, column), ", r.") + ")"
		}
		return Derivation{
			Table: table, ID: "rowid", row: row, rowValues: values, update: "(" + row + ") = (" + values + ")",
			entry: strings.Join(texts, ", "), entryValues: strings.Join(entry, ", "),
		}
	}
	derived := Derivation{
		Table: table, ID: "id", entry: "name, words",
		row:       strings.Join(texts, "_fold, ") + "_fold" + further,
		rowValues: "fold(r." + strings.Join(texts, "), fold(r.") + ")" + furtherValues,
		// updates the generated columns too, and runs the trigger of further ones
		update: "(" + strings.Join(texts, ", ") + further + ") = (r." + strings.Join(texts, ", r.") + furtherValues +
			")",
		begin: []string{derivingOn}, end: []string{derivingOff},
	}
	author, sources := "NULL", ""
	if slices.Contains(texts, "author") {
		author = "words(r.author_fold) || joined(r.author_fold)"
		sources = " || further_words(r.subtitle_fold, r.series_fold)"
		derived.row += ", author_short"
		derived.rowValues += ", CASE WHEN char_length(r.author_fold) <= 100 THEN r.author_fold END"
	}
	derived.entryValues = "words(r.name_fold), searchable(words(r.name_fold) || joined(r.name_fold), " + author +
		", words(r.description_fold) || joined(r.description_fold))" + sources
	return derived
}

// WrongSQL returns the SELECT of the ids of rows with derived columns or search entries that do not follow from their
// texts, in order. where is a condition on a row r.
func (d Derivation) WrongSQL(where string) string {
	return fmt.Sprintf(`SELECT r.id FROM %[1]s r LEFT JOIN %[1]s_search s ON s.%[2]s = r.id
WHERE %[3]s AND (r.%[4]s, s.%[5]s) IS DISTINCT FROM (%[6]s, %[7]s) ORDER BY r.id`,
		d.Table, d.ID, where, strings.ReplaceAll(d.row, ", ", ", r."), strings.ReplaceAll(d.entry, ", ", ", s."),
		d.rowValues, d.entryValues)
}

// DeriveSQL returns statements that derive the columns and the search entries of rows again, and advance the revision.
// Versions and times of the rows stay the same, and the log has no change.
func (d Derivation) DeriveSQL(ids []int64) (statements []string) {
	for part := range slices.Chunk(ids, batchRows) {
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(part), " ", ", "), "[]")
		statements = append(statements,
			fmt.Sprintf(`UPDATE %s AS r SET %s WHERE id IN (%s) AND (r.%s) IS DISTINCT FROM (%s)`, d.Table, d.update,
				list, strings.ReplaceAll(d.row, ", ", ", r."), d.rowValues),
			fmt.Sprintf(`DELETE FROM %s_search WHERE %s IN (%s)`, d.Table, d.ID, list),
			fmt.Sprintf(`INSERT INTO %[1]s_search (%[2]s, %[3]s) SELECT id, %[4]s FROM %[1]s r WHERE id IN (%[5]s)`,
				d.Table, d.ID, d.entry, d.entryValues, list))
	}
	statements = slices.Concat(d.begin, statements, d.end)
	return append(statements,
		fmt.Sprintf(
			`UPDATE revision SET n = n + %[1]d, reference = reference + %[1]d
WHERE slot = (SELECT min(slot) FROM revision)`, Step()))
}

// Step returns a random increase of the revision, as in the triggers.
func Step() int64 { return 1 + rand.Int64N(1<<24) }

// derive is the pass that derives the wrong derived columns and entries again.
func derive(ctx context.Context, d *dialect.Dialect, tx *sqlx.Tx, table string, after, last int64) error {
	derived := DerivationOf(d, table)
	var ids []int64
	err := tx.SelectContext(ctx, &ids, derived.WrongSQL(fmt.Sprintf(`r.id > %d AND r.id <= %d`, after, last))+locked(d))
	if err != nil || len(ids) == 0 {
		return err
	}
	return execAll(ctx, tx, derived.DeriveSQL(ids)...)
}
