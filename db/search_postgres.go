package db

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// vocabularyIndex finds the words that are like a mistyped one.
const vocabularyIndex = `CREATE INDEX IF NOT EXISTS vocabulary_trigrams ON vocabulary USING gin (word gin_trgm_ops)` + waiting

// createTrigramIndexes makes the indexes of trigrams. They need the extension pg_trgm, which
// not every user may install and not every server has: without it, everything
// works but the correction of mistyped words.
func (s *Store) createTrigramIndexes(ctx context.Context) error {
	if !s.dialect.Postgres {
		return nil
	}
	p := s.writer
	var installed, foreseen, filled bool
	err := p.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid)),
EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('books_description_trigrams') AND attstattarget = `+partTexts+`), EXISTS (SELECT FROM books)`).Scan(&installed, &foreseen, &filled)
	if err != nil {
		return err
	}
	statements := append([]string{vocabularyIndex}, partIndexes...)
	if !installed {
		statements = append([]string{`CREATE EXTENSION IF NOT EXISTS pg_trgm`}, statements...)
	}
	if !foreseen {
		statements = append(statements, partStatistics...)
	}
	if !foreseen && filled { // nothing is foreseen by texts that were not looked at yet
		statements = append(statements, `ANALYZE books`)
	}
	for _, statement := range statements {
		_, err := p.ExecContext(ctx, statement)
		if _, refused := errors.AsType[*pq.Error](err); refused && classify(err) == otherFault && !installed {
			s.options.Logger.WarnContext(ctx, "searches do not find mistyped words, because the extension pg_trgm cannot be installed in this database: have an administrator run CREATE EXTENSION pg_trgm in it, then start again", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// searchSQL is the SQL of searches of an engine.
type searchSQL interface {
	// matches writes the SELECT of the ids that a search finds, and ranked that of
	// the ids with their ranks. best writes the SELECT of those of a page by rank,
	// of a search that finds many, without a look at all of them; empty where the
	// engine has no quick way. upTo counts the rows of a SELECT up to a number.
	matches(w *statement, q *search) string
	ranked(w *statement, q *search) string
	best(w *statement, q *search, p *model.Page, descending []bool) string
	upTo(rows string, most int) string
	// vocabulary writes the SELECT of the words of a table, of a length, that fit a
	// pattern at least, and perhaps of others. living writes the SELECT of those of
	// the words that the table still has.
	vocabulary(w *statement, table string, shortest, longest int, patterns []string) string
	living(w *statement, table string, words []string) string
}

func searchSQLOf(d *dialect.Dialect) searchSQL {
	if d.Postgres {
		return postgres{}
	}
	return sqliteSearch{}
}

type postgres struct{}

// matches writes the SELECT of the ids that a search finds.
func (d postgres) matches(w *statement, q *search) string {
	levels := q.levels()
	return `SELECT m.id FROM ` + q.table + `_search m WHERE m.words @@ ` + w.arg(d.query(q, levels[len(levels)-1])) + `::tsquery`
}

// ranked writes the SELECT of the ids that a search finds, with their ranks. The
// rows that match at the last level alone may be many, and are told apart first.
func (d postgres) ranked(w *statement, q *search) string {
	at := func(l level) string { return `m.words @@ ` + w.arg(d.query(q, l)) + `::tsquery` }
	begins := func(column, then string) string {
		return `starts_with(m.` + column + `, ` + w.arg(q.beginning(then)) + `)`
	}
	levels, columns := q.levels(), searched[q.table]
	last := len(levels) - 1
	rank := `CASE WHEN NOT ` + at(levels[last-1]) + ` THEN ` + strconv.Itoa(firstLevel+last) +
		` WHEN m.name = ` + w.arg(q.beginning("")) + ` THEN 1 WHEN ` + begins("name", ":") + ` OR ` + begins("name", " (") + ` THEN 2`
	for _, column := range columns[:len(columns)-1] {
		rank += ` WHEN ` + begins(column, "") + ` THEN 3`
	}
	for i, level := range levels[:last-1] {
		rank += ` WHEN ` + at(level) + ` THEN ` + strconv.Itoa(firstLevel+i)
	}
	return `SELECT m.id, ` + rank + ` ELSE ` + strconv.Itoa(firstLevel+last-1) + ` END AS rank FROM ` + q.table + `_search m WHERE ` + at(levels[last])
}

// best goes through the ranks in their order, and looks at no row of another once
// there are enough.
func (d postgres) best(w *statement, q *search, p *model.Page, descending []bool) string {
	backward := func(i int) bool { return descending[i] != p.Backward }
	order := ""
	if backward(1) {
		order = " DESC"
	}
	var ranks []int
	for rank := range firstLevel + len(q.levels()) - 1 {
		ranks = append(ranks, rank+1)
	}
	if backward(0) {
		slices.Reverse(ranks)
	}
	enough := strconv.Itoa(p.Offset + p.Limit)
	var with, rows, before []string
	for _, rank := range ranks {
		condition, any := d.within(w, rank, p, descending)
		if !any {
			continue
		}
		name := "rank" + strconv.Itoa(rank)
		text := `SELECT m.id FROM ` + q.table + `_search m` + d.ofRank(w, q, rank) + condition + ` ORDER BY m.id` + order + ` LIMIT ` + enough
		if len(before) > 0 { // asked outside, so that no worker is started for nothing
			text = `SELECT id FROM (` + text + `) t WHERE ` + strings.Join(before, " + ") + ` < ` + enough
		}
		with = append(with, name+` AS MATERIALIZED (`+text+`)`)
		rows = append(rows, `SELECT id, `+strconv.Itoa(rank)+` AS rank FROM `+name)
		before = append(before, `(SELECT count(*) FROM `+name+`)`)
	}
	if len(with) == 0 {
		return `SELECT id, 0 AS rank FROM ` + q.table + ` WHERE 1 = 0`
	}
	return `WITH ` + strings.Join(with, ", ") + ` ` + strings.Join(rows, " UNION ALL ")
}

// within writes what a page asks of the ids of a rank; any is false where it has
// none of them.
func (d postgres) within(w *statement, rank int, p *model.Page, descending []bool) (condition string, any bool) {
	var there []bound // at the rank itself
	for _, b := range boundsOf(p) {
		switch at, _ := b.position.Keys[0].(int64); {
		case int64(rank) == at:
			there = append(there, b)
		case (int64(rank) > at) == (descending[0] != b.before):
			return "", false
		}
	}
	for _, b := range there {
		operator := " > "
		if descending[1] != b.before {
			operator = " < "
		}
		if b.inclusive {
			operator = strings.TrimRight(operator, " ") + "= "
		}
		condition += " AND m.id" + operator + w.arg(b.position.ID)
	}
	return condition, true
}

// ofRank writes which rows m of the search table, of those that are wanted, have
// a rank, in conditions that have indexes: a join, and WHERE.
func (d postgres) ofRank(w *statement, q *search, rank int) string {
	levels, columns := q.levels(), searched[q.table]
	at := func(i int) string { return `m.words @@ ` + w.arg(d.query(q, levels[i])) + `::tsquery` }
	last := len(levels) - 1
	join, filter := ` JOIN `+q.table+` r ON r.id = m.id`, ""
	if w.wanted.Where != nil {
		filter = ` AND ` + w.condition(w.wanted.Where, q.table, "r")
	}
	if rank >= firstLevel && filter == "" {
		join = ""
	}
	if rank == firstLevel+last {
		return join + ` WHERE ` + at(last) + ` AND NOT ` + at(last-1) + filter
	}
	if rank >= firstLevel {
		where := join + ` WHERE ` + at(rank-firstLevel) + filter
		for _, column := range columns[:len(columns)-1] {
			where += ` AND NOT starts_with(m.` + column + `, ` + w.arg(q.beginning("")) + `)`
		}
		for i := range rank - firstLevel {
			where += ` AND NOT ` + at(i)
		}
		return where
	}
	begins := func(column, then string) string {
		key, first := dialect.Postgres.SortKey("r."+column+"_fold"), q.beginning(then)
		text := key + ` >= ` + w.arg(first)
		if next := following(first); next != "" {
			text += ` AND ` + key + ` < ` + w.arg(next)
		}
		return `(` + text + `)`
	}
	is := dialect.Postgres.SortKey("r.name_fold") + ` = ` + w.arg(q.beginning(""))
	where := is
	switch rank {
	case 2:
		where = `(` + begins("name", ":") + ` OR ` + begins("name", " (") + `) AND NOT ` + is
	case 3:
		var beginning []string
		for _, column := range columns[:len(columns)-1] {
			beginning = append(beginning, begins(column, ""))
		}
		where = `(` + strings.Join(beginning, " OR ") + `) AND NOT ` + is + ` AND NOT ` + begins("name", ":") + ` AND NOT ` + begins("name", " (")
	}
	return join + ` WHERE ` + at(last-1) + filter + ` AND ` + where
}

// upTo materialises the rows, since PostgreSQL would look for a few by reading
// the table.
func (postgres) upTo(rows string, most int) string {
	return `WITH m AS MATERIALIZED (` + rows + `) SELECT count(*) FROM (SELECT FROM m LIMIT ` + strconv.Itoa(most) + `) m`
}

// query writes a tsquery: the words of an index entry have the first letter of
// their column before them.
func (d postgres) query(q *search, l level) string {
	columns := searched[q.table][:l.columns]
	anywhere := func(word, end string) string {
		places := make([]string, len(columns))
		for i, column := range columns {
			places[i] = "'" + column[:1] + word + "'" + end
		}
		return "(" + strings.Join(places, "|") + ")"
	}
	terms := make([]string, len(q.terms))
	for i, t := range q.terms {
		end := ""
		if l.begin {
			end = ":*"
		}
		alternatives := []string{anywhere(t.word, end)}
		for _, words := range t.others {
			all := make([]string, len(words))
			for j, word := range words {
				all[j] = anywhere(word, "")
			}
			alternatives = append(alternatives, "("+strings.Join(all, "&")+")")
		}
		terms[i] = "(" + strings.Join(alternatives, "|") + ")"
	}
	return strings.Join(terms, "&")
}

// vocabulary writes the SELECT of the words of a length that fit a pattern.
// Without the index there are none: see trigrams.
func (postgres) vocabulary(w *statement, _ string, shortest, longest int, patterns []string) string {
	return `SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) + ` AND word LIKE ANY (` + w.arg(pq.StringArray(patterns)) + `)`
}

// living writes the SELECT of those of the words that a table has.
func (postgres) living(w *statement, table string, words []string) string {
	places := make([]string, len(searched[table]))
	for i, column := range searched[table] {
		places[i] = `'''` + column[:1] + `' || word || ''''`
	}
	return `SELECT word FROM unnest(` + w.arg(pq.StringArray(words)) + `::text[]) AS word WHERE EXISTS (SELECT FROM ` + table + `_search m
WHERE m.words @@ (` + strings.Join(places, ` || '|' || `) + `)::tsquery)`
}
