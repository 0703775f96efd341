package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"library-catalogue/db/search"
	"library-catalogue/graph/model/collate"
)

// checkSearch compares the folded texts and the words that are kept of each row with
// those that the service makes of its texts.
func (e *exam) checkSearch(ctx context.Context) error {
	for _, table := range []string{"categories", "genres", "books"} {
		columns := search.Columns(table)
		kept := e.kept(columns)
		var wrong []int64
		rows, err := e.QueryContext(ctx, fmt.Sprintf(`SELECT r.id, %s, %s FROM %s r LEFT JOIN %[3]s_search s ON s.%s = r.id ORDER BY r.id`,
			presentTexts("r.", columns), strings.Join(kept, ", "), table, e.searchID))
		if err != nil {
			return err
		}
		defer rows.Close()
		var row int64
		given, found := make([]string, len(columns)), make([]sql.NullString, len(kept))
		targets := []any{&row}
		for i := range given {
			targets = append(targets, &given[i])
		}
		for i := range found {
			targets = append(targets, &found[i])
		}
		for rows.Next() {
			if err := rows.Scan(targets...); err != nil {
				return err
			}
			if !slices.EqualFunc(found, e.engine.made(columns, given), func(a sql.NullString, b string) bool { return a.Valid && a.String == b }) {
				wrong = append(wrong, row)
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
		if len(wrong) > 0 {
			e.found(ctx, fmt.Sprintf("What is kept for search and order is not what the texts say of these %s: %s.", table, list(wrong)),
				"catalogue doctor --fix", func() error { return e.remakeSearch(ctx, table, columns, wrong) })
		}
		var stray int
		notThere := fmt.Sprintf(`FROM %[1]s_search WHERE %[2]s NOT IN (SELECT id FROM %[1]s)`, table, e.searchID)
		if err := e.GetContext(ctx, &stray, `SELECT count(*) `+notThere); err != nil {
			return err
		}
		if stray > 0 {
			e.found(ctx, fmt.Sprintf("The search finds %s that are not there: %d.", table, stray), `DELETE `+notThere, e.exec(ctx, `DELETE `+notThere))
		}
		if err := e.checkVocabulary(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

// keptInSQLite returns what SQLite keeps of a row r and of its search s, and
// madeForSQLite what that should be.
func keptInSQLite(columns []string) (kept []string) {
	folded := columns[:len(columns)-1] // all but the description
	for _, column := range folded {
		kept = append(kept, "r."+column+"_fold")
	}
	kept = append(kept, "r.name_words")
	for _, column := range columns {
		kept = append(kept, "s."+column)
	}
	return kept
}

func madeForSQLite(_, texts []string) (made []string) {
	for _, text := range texts[:len(texts)-1] {
		made = append(made, collate.Fold(text))
	}
	made = append(made, search.Words(texts[0]))
	for _, text := range texts {
		made = append(made, search.Words(text))
	}
	return made
}

// keptInPostgres and madeForPostgres are the same of PostgreSQL, whose words begin with
// the letter of their column.
func keptInPostgres(columns []string) (kept []string) {
	for _, column := range columns {
		kept = append(kept, "coalesce(r."+column+"_fold, '')")
	}
	if slices.Contains(columns, "author") {
		kept = append(kept, "coalesce(r.author_short, '')")
	}
	return append(kept, "s.name", "array_to_string(ARRAY(SELECT w FROM unnest(tsvector_to_array(s.words)) AS w ORDER BY w COLLATE \"C\"), ' ')")
}

// maxWord is how many characters of a word are kept, with the letter before it.
const maxWord = 250

func madeForPostgres(columns, texts []string) (made []string) {
	var words []string
	for i, text := range texts {
		made = append(made, collate.Fold(text))
		letter := columns[i][:1]
		found := collate.Words(text)
		for _, word := range found {
			word = letter + word
			if utf8.RuneCountInString(word) > maxWord {
				word = string([]rune(word)[:maxWord])
			}
			words = append(words, word)
		}
		for _, initials := range collate.Initials(found) {
			words = append(words, strings.ToUpper(letter)+initials)
		}
	}
	if author := slices.Index(columns, "author"); author >= 0 {
		short := made[author]
		if utf8.RuneCountInString(short) > 100 {
			short = ""
		}
		made = append(made, short)
	}
	slices.Sort(words)
	return append(made, strings.Join(collate.Words(texts[0]), " "), strings.Join(slices.Compact(words), " "))
}

// remakeSearch makes what is kept of rows anew. Their versions and times stay.
func (e *exam) remakeSearch(ctx context.Context, table string, columns []string, ids []int64) error {
	for _, id := range ids {
		if err := e.remake(e, ctx, table, columns, id); err != nil {
			return err
		}
	}
	return e.moveRevision(ctx)
}

func (e *exam) remakeInPostgres(ctx context.Context, table string, columns []string, id int64) error {
	var set, words []string
	for _, column := range columns {
		set = append(set, column+" = "+column) // the folded columns follow
		words = append(words, "words("+column+"_fold)")
	}
	if len(words) == 2 {
		words = slices.Insert(words, 1, "NULL") // no author
	}
	return e.exec(ctx,
		fmt.Sprintf(`ALTER TABLE %s DISABLE TRIGGER USER`, table),
		fmt.Sprintf(`UPDATE %s SET %s WHERE id = %d`, table, strings.Join(set, ", "), id),
		fmt.Sprintf(`ALTER TABLE %s ENABLE TRIGGER USER`, table),
		fmt.Sprintf(`DELETE FROM %s_search WHERE id = %d`, table, id),
		fmt.Sprintf(`INSERT INTO %[1]s_search (id, name, words) SELECT id, words(name_fold), searchable(%[2]s) FROM %[1]s WHERE id = %[3]d`, table, strings.Join(words, ", "), id),
	)()
}

func (e *exam) remakeInSQLite(ctx context.Context, table string, columns []string, id int64) error {
	given, targets := make([]string, len(columns)), []any{}
	for i := range given {
		targets = append(targets, &given[i])
	}
	if err := e.QueryRowContext(ctx, fmt.Sprintf(`SELECT %s FROM %s WHERE id = ?`, presentTexts("", columns), table), id).Scan(targets...); err != nil {
		return err
	}
	kept, made := keptInSQLite(columns), madeForSQLite(columns, given)
	n := len(kept) - len(columns) // those of the row itself; the rest is for the search
	row, words := []any{}, []any{id}
	var set []string
	for i, text := range made {
		if i < n {
			set, row = append(set, strings.TrimPrefix(kept[i], "r.")+" = ?"), append(row, text)
		} else {
			words = append(words, text)
		}
	}
	if _, err := e.ExecContext(ctx, fmt.Sprintf(`UPDATE %s SET %s WHERE id = ?`, table, strings.Join(set, ", ")), append(row, id)...); err != nil {
		return err
	}
	if _, err := e.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s_search WHERE rowid = ?`, table), id); err != nil {
		return err
	}
	_, err := e.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s_search (rowid, %s) VALUES (?%s)`, table, strings.Join(columns, ", "), strings.Repeat(", ?", len(columns))), words...)
	return err
}

// presentTexts returns the texts of a row in SQL, empty in place of NULL.
func presentTexts(row string, columns []string) string {
	var present []string
	for _, column := range columns {
		present = append(present, "coalesce("+row+column+", '')")
	}
	return strings.Join(present, ", ")
}

// checkVocabulary wants each word that a mistyped one may stand for to be known in
// PostgreSQL. SQLite's index is its own vocabulary.
func (e *exam) checkVocabulary(ctx context.Context, table string) error {
	if e.missingWords == "" {
		return nil
	}
	missing := fmt.Sprintf(e.missingWords, table)
	var n int
	if err := e.GetContext(ctx, &n, `SELECT count(*) FROM (`+missing+`) AS m`); err != nil || n == 0 {
		return err
	}
	mend := `INSERT INTO vocabulary ` + missing
	e.found(ctx, fmt.Sprintf("Mistyped words are not corrected to some words of the %s: %d.", table, n), mend, e.exec(ctx, mend))
	return nil
}
